"""Which judges there are, and how one is made from its name."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from metareview.errors import UsageError
from metareview.judges.protocol import Judge

if TYPE_CHECKING:
    from metareview.judges.remote.llm import LlmJudge

DEFAULT_JUDGE = "offline"


@dataclass(frozen=True, slots=True)
class JudgeOptions:
    """What a judge can be told. A judge that calls no model has no use for any but the threshold."""

    threshold: float | None = None
    concurrency: int = 16
    cache: Path | None = None
    """The verdict cache's file; None for the user's own."""
    max_llm_calls: int | None = None
    one_to_one: bool = True
    """Whether comments and references will be paired off, which tells a cascade what can matter."""
    progress: Callable[[int, int], None] | None = None


@dataclass(frozen=True, slots=True)
class JudgeEntry:
    """A judge by name: what it does, whether it scores (and so takes a threshold), how it is made."""

    name: str
    summary: str
    scores: bool
    make: Callable[[JudgeOptions], Judge]


def _none(_: JudgeOptions) -> Judge:
    from metareview.judges.lexical import NoJudge

    return NoJudge()


def _exact(_: JudgeOptions) -> Judge:
    from metareview.judges.lexical import ExactJudge

    return ExactJudge()


def _rouge(options: JudgeOptions) -> Judge:
    from metareview.judges.lexical import RougeJudge

    return RougeJudge(options.threshold)


def _llm(options: JudgeOptions) -> LlmJudge:
    from metareview.judges.remote.cache import VerdictCache
    from metareview.judges.remote.llm import LlmJudge

    return LlmJudge(
        threshold=options.threshold,
        concurrency=options.concurrency,
        cache=VerdictCache(options.cache),
        max_calls=options.max_llm_calls,
        progress=options.progress,
    )


def _offline(options: JudgeOptions) -> Judge:
    from metareview.judges.offline.judge import OfflineJudge

    return OfflineJudge(options.threshold)


def _cascade(options: JudgeOptions) -> Judge:
    from metareview.judges.cascade import CascadeJudge
    from metareview.judges.offline.judge import OfflineJudge

    return CascadeJudge(OfflineJudge(), _llm(options), one_to_one=options.one_to_one)


def _embedding(options: JudgeOptions) -> Judge:
    from metareview.judges.remote.cache import VerdictCache
    from metareview.judges.remote.embedding import EmbeddingJudge

    return EmbeddingJudge(
        threshold=options.threshold,
        concurrency=options.concurrency,
        cache=VerdictCache(options.cache),
        max_calls=options.max_llm_calls,
        progress=options.progress,
    )


JUDGES = {
    entry.name: entry
    for entry in (
        JudgeEntry("none", "location only: what may match by place, matches", False, _none),
        JudgeEntry("exact", "notes equal after trimming and collapsing white space", False, _exact),
        JudgeEntry("rouge", "ROUGE-L recall of the reference's note above 0.7", True, _rouge),
        JudgeEntry(
            "offline", "a small model that ships with the package: no key, no network", True, _offline
        ),
        JudgeEntry(
            "embedding", "the cosine of embeddings from an OpenAI-compatible server", True, _embedding
        ),
        JudgeEntry("llm", "a model behind an OpenAI-compatible server decides", True, _llm),
        JudgeEntry("cascade", "offline where it is sure, the model where its answer matters", True, _cascade),
    )
}


def make_judge(name: str, threshold: float | None = None, options: JudgeOptions | None = None) -> Judge:
    """The judge of this name; UsageError where there is none, or where a threshold means nothing to it."""
    if name not in JUDGES:
        raise UsageError(f"Unknown judge {name!r}. The judges are {', '.join(JUDGES)}.")
    entry = JUDGES[name]
    if threshold is not None:
        if not entry.scores:
            raise UsageError(
                f"The judge {name} does not score, so --threshold means nothing to it. Leave it out."
            )
        if not 0 <= threshold <= 1:
            raise UsageError(f"--threshold must be from 0 to 1, found {threshold}.")
    return entry.make(replace(options or JudgeOptions(), threshold=threshold))


def release(judge: Judge) -> None:
    """Lets go of the connections and the cache file that a judge made by name holds open; it may be used again."""
    model = getattr(judge, "model", judge)  # a cascade's are its model's
    for part in (model, getattr(model, "cache", None)):
        close = getattr(part, "close", None)
        if close is not None:
            close()


@contextmanager
def open_judge(spec: str | Judge, options: JudgeOptions | None = None) -> Iterator[Judge]:
    options = options or JudgeOptions()
    if not isinstance(spec, str):
        yield spec
        return
    judge = make_judge(spec, options.threshold, options)
    try:
        yield judge
    finally:
        release(judge)
