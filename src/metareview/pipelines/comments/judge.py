"""Who judges: a judge by name, stored verdicts in its place, people's labels before it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass

from metareview.comments.case import FREE_REACH
from metareview.errors import UsageError
from metareview.formats.input_file import InputFile
from metareview.formats.labels import read_label_set
from metareview.formats.verdicts import read_verdicts
from metareview.judges.labelled import with_labels
from metareview.judges.protocol import Judge, ModelJudge
from metareview.judges.registry import is_built_in, open_judge
from metareview.judges.stored import StoredJudge
from metareview.pipelines.comments.examples import ReadExamples
from metareview.pipelines.comments.options import CommentsOptions


@dataclass(frozen=True)
class ChosenJudge:
    """An open judge, and the files that decide its answers."""

    judge: Judge
    reach: int
    """Pairs up to this many lines apart are judged, though those too far apart count for nothing."""
    hashes: Mapping[str, str]
    warnings: tuple[str, ...]
    may_be_sent: bool = False
    """Whether other processes can do its work: it is one of ours, and asks no model."""


@contextmanager
def open_chosen(options: CommentsOptions, examples: ReadExamples | None = None) -> Iterator[ChosenJudge]:
    """The judge that the options ask for, with what is known already; one that the caller made stays open."""
    file = None if options.labels is None else InputFile(options.labels)
    found = None if file is None else read_label_set(file)
    with _opened(options, examples) as chosen:
        if file is None or found is None:
            yield chosen
            return
        if chosen.judge.name == "none":
            raise UsageError("The judge none goes by location: --labels have nothing to override. Choose another.")
        yield ChosenJudge(
            with_labels(chosen.judge, found.labels),
            chosen.reach,
            {**chosen.hashes, f"labels/{file.path.name}": file.sha256},
            (*chosen.warnings, *found.warnings),
            chosen.may_be_sent,
        )


@contextmanager
def _opened(options: CommentsOptions, examples: ReadExamples | None) -> Iterator[ChosenJudge]:
    if options.verdicts is not None:
        stored = read_verdicts(options.verdicts)
        hashes = {f"verdicts/{name}": value for name, value in stored.hashes.items()}
        reach = FREE_REACH if stored.beyond else 0
        yield ChosenJudge(StoredJudge(stored), reach, hashes, tuple(stored.warnings), may_be_sent=True)
        return
    with open_judge(options.judge, options.judge_options(examples.known if examples else None)) as judge:
        reach = 0 if isinstance(judge, ModelJudge) else FREE_REACH
        yield ChosenJudge(
            judge,
            reach,
            examples.hashes if examples else {},
            examples.warnings if examples else (),
            may_be_sent=is_built_in(options.judge) and not isinstance(judge, ModelJudge),
        )
