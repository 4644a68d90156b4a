"""The two pipelines, end to end. Comments: read, find pairs by place, judge, align, count, keep. Routing: replay."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metareview.comments.case import Case
from metareview.comments.filters import FilterConfig
from metareview.comments.summary import summarise
from metareview.errors import UsageError
from metareview.formats.predictions import read_predictions
from metareview.formats.registry import Paths, read_history, several
from metareview.formats.source import content_hash
from metareview.judges.protocol import Answer, Judge
from metareview.judges.registry import DEFAULT_JUDGE, JudgeOptions, release
from metareview.pipelines.comments.plan import Plan, plan_comments
from metareview.routing.score import Spec, score_history
from metareview.runs.folder import RESULTS, RunFolder, read_lines, read_run

if TYPE_CHECKING:
    from pandas import DataFrame

Progress = Callable[[int, int], None]
Pairs = Callable[[], Iterator[dict[str, Any]]]

# The parts of a record that hold notes; everything else is figures.
_NOTES = (
    "match_details",
    "matched_reference_comments",
    "llm_comparisons",
    "reference_comments",
    "negative_comments",
)
# How many pairs are judged in one go: enough to keep a model busy, few enough to fit in memory.
_BATCH_PAIRS = 1_000_000


@dataclass
class CommentRun:
    """A finished evaluation. `summary` is what --json prints."""

    summary: dict[str, Any] = field(repr=False)
    folder: Path | None = None
    _records: list[dict[str, Any]] = field(default_factory=list, repr=False)
    _pairs: list[Pairs] = field(default_factory=list, repr=False)
    """For a run without a folder: what gives each record's pairs, worked out only if somebody asks."""

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} f1={metrics['f1']}" for name, metrics in self.metrics.items())
        return f"<CommentRun {shown}>"

    @property
    def metrics(self) -> dict[str, dict[str, float | None]]:
        """Each reviewer's metrics."""
        return {name: block["metrics"] for name, block in self.summary["reviewers"].items()}

    @property
    def records(self) -> list[dict[str, Any]]:
        """One record a pull request and reviewer, as in results.jsonl."""
        if self.folder is not None and not self._records:
            self._records = list(read_lines(self.folder / RESULTS))
        return self._records

    def report(self, path: str | Path) -> Path:
        """Write a report: .html, .md, .csv, .json or .xml (JUnit), by suffix."""
        return _report("comments", self, path, self._pairs)

    def to_frame(self) -> DataFrame:
        """The records' figures as a pandas data frame, a row a pull request and reviewer."""
        inner = {*_NOTES, "reference_slices", "counts_if_undecided_match"}
        return _frame([{k: v for k, v in record.items() if k not in inner} for record in self.records])


def evaluate_comments(
    generated: str | Path,
    *,
    reference: Paths,
    negatives: Paths = (),
    judge: str | Judge = DEFAULT_JUDGE,
    threshold: float | None = None,
    line_distance: int = 1,
    alignment: str = "optimal",
    ignore_location: bool = False,
    format: str | None = None,
    reference_format: str | None = None,
    filters: FilterConfig | None = None,
    all_prs: bool = False,
    name: str | None = None,
    limit: int | None = None,
    seed: int = 0,
    concurrency: int = 16,
    cache: str | Path | None = None,
    max_llm_calls: int | None = None,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
) -> CommentRun:
    """Score the review comments in `generated` against the references; with `out`, keep the run in that folder.

    >>> run = evaluate_comments("comments/", reference="positive_samples.json")   # doctest: +SKIP
    >>> run.metrics["comments"]["f1"]                                             # doctest: +SKIP
    """
    plan = plan_comments(
        generated,
        reference=reference,
        negatives=negatives,
        judge=judge,
        threshold=threshold,
        line_distance=line_distance,
        alignment=alignment,
        ignore_location=ignore_location,
        format=format,
        reference_format=reference_format,
        filters=filters,
        all_prs=all_prs,
        name=name,
        limit=limit,
        seed=seed,
        judge_options=JudgeOptions(
            concurrency=concurrency, cache=Path(cache) if cache else None, max_llm_calls=max_llm_calls
        ),
    )
    try:
        return carry_out(plan, out=out, overwrite=overwrite, progress=progress)
    finally:
        if isinstance(judge, str):
            release(plan.judge)


def carry_out(
    plan: Plan, *, out: str | Path | None = None, overwrite: bool = False, progress: Progress | None = None
) -> CommentRun:
    """Judge, align and count what was planned. A run that was killed in this folder before is continued."""
    folder = Path(out) if out is not None else None
    opened = (
        RunFolder(folder, "comments", plan.config, plan.inputs, overwrite=overwrite, is_complete=_is_complete)
        if folder
        else nullcontext()
    )
    with opened as run:
        if run is not None and run.summary is not None:
            return CommentRun(run.summary, folder)
        done = run.done if run is not None else {}
        left = [case for case in plan.cases if case.key not in done]
        light = {key: _light(record) for key, record in done.items()}
        kept: list[dict[str, Any]] = []
        if not plan.judge.free and hasattr(plan.judge, "progress"):
            # A model is asked about all pull requests at once: what moves is the number of its answers.
            plan.judge.progress, progress = progress, None
        kept_pairs: list[Pairs] = []
        if progress:
            progress(len(plan.cases) - len(left), len(plan.cases))
        for case, record, answer, negative in judge_cases(left, plan.judge):
            if run is not None:
                rows = case.pair_rows(record, answer, negative) if answer and negative else ()
                run.append(record, rows)
            else:
                kept.append(record)
                if answer and negative:
                    kept_pairs.append(partial(case.pair_rows, record, answer, negative))
            light[case.key] = _light(record)
            if progress:
                progress(len(light), len(plan.cases))
        order = [case.key for case in plan.cases]
        summary = _summary(plan, [light[key] for key in order], folder)
        if run is not None:
            summary["judge"]["cached"] += run.answered
        if run is not None:
            run.finish(summary, order)
        return CommentRun(summary, folder, kept, kept_pairs)


def judge_cases(
    cases: Iterable[Case], judge: Judge
) -> Iterator[tuple[Case, dict[str, Any], Answer | None, Answer | None]]:
    """Each case with its record, judged in large batches, in order."""
    for batch in _batches(cases):
        asked = [case for case in batch if not case.skipped]
        answers = judge.judge([case.question() for case in asked])
        questions = [case.negative_question(answer) for case, answer in zip(asked, answers, strict=True)]
        negatives = judge.judge(questions)
        verdicts = {
            id(case): (answer, negative)
            for case, answer, negative in zip(asked, answers, negatives, strict=True)
        }
        for case in batch:
            if case.skipped:
                yield case, case.skip_record(), None, None
            else:
                answer, negative = verdicts[id(case)]
                yield case, case.record(answer, negative), answer, negative


def _batches(cases: Iterable[Case]) -> Iterator[list[Case]]:
    batch: list[Case] = []
    pairs = 0
    for case in cases:
        batch.append(case)
        pairs += len(case.candidates) + len(case.negative_candidates)
        if pairs >= _BATCH_PAIRS:
            yield batch
            batch, pairs = [], 0
    if batch:
        yield batch


def _summary(plan: Plan, records: Sequence[dict[str, Any]], folder: Path | None) -> dict[str, Any]:
    reviewers: dict[str, list[dict[str, Any]]] = {}
    for record in records:
        reviewers.setdefault(record["reviewer"], []).append(record)
    usage = plan.judge.usage
    rules = plan.rules
    return {
        "schema": "metareview.comments/1",
        "run": None if folder is None else str(folder),
        "config": plan.config,
        "reviewers": {
            name: summarise(block, place=rules.place, negatives=rules.negatives, seed=plan.config["seed"])
            for name, block in reviewers.items()
        },
        "judge": {
            "name": plan.judge.name,
            "pairs": sum(record.get("judged_pairs", 0) for record in records),
            "llm_calls": usage.llm_calls,
            "cached": usage.cached,
            "errors": sum(record.get("judge_error_nums") or 0 for record in records),
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
        },
        "warnings": [*plan.warnings, *getattr(plan.judge, "warnings", [])],
        "skipped": [{"file": item.file, "reason": item.reason} for item in plan.skipped],
    }


def _is_complete(record: Mapping[str, Any]) -> bool:
    """An undecided pair is retried by the next run."""
    return not record.get("judge_error_nums")


def _light(record: Mapping[str, Any]) -> dict[str, Any]:
    """A record without its pairing: what the figures need, whatever the number of comments."""
    return {key: value for key, value in record.items() if key not in _NOTES}


@dataclass
class RoutingRun:
    """A finished routing evaluation. `summary` is what --json prints."""

    summary: dict[str, Any] = field(repr=False)
    folder: Path | None = None
    _records: list[dict[str, Any]] = field(default_factory=list, repr=False)

    def __repr__(self) -> str:
        shown = ", ".join(f"{name} mrr={metrics['mrr']}" for name, metrics in self.metrics.items())
        return f"<RoutingRun {shown}>"

    @property
    def metrics(self) -> dict[str, dict[str, float | None]]:
        """Each router's hit@k and MRR."""
        ranked = [f"hit@{k}" for k in self.summary["config"]["k"]] + ["mrr"]
        return {
            name: {metric: block[metric] for metric in ranked}
            for name, block in self.summary["routers"].items()
        }

    @property
    def records(self) -> list[dict[str, Any]]:
        """One record a pull request, as in results.jsonl."""
        if self.folder is not None and not self._records:
            self._records = list(read_lines(self.folder / RESULTS))
        return self._records

    def report(self, path: str | Path) -> Path:
        """Write a report: .html, .md, .csv, .json or .xml (JUnit), by suffix."""
        return _report("routing", self, path)

    def to_frame(self) -> DataFrame:
        """A row a pull request and router: rank, reciprocal rank, risk, beside what is known of the pull request."""
        rows = [
            {
                **{
                    key: record[key]
                    for key in ("repo", "pr", "author", "created_at", "cutoff", "ttfr_seconds")
                },
                "truth": record["truth"]["state"],
                "router": name,
                "rank": answer["rank"],
                "reciprocal_rank": 1 / answer["rank"] if answer["rank"] else 0.0,
                "risk": answer["risk"],
            }
            for record in self.records
            for name, answer in record["routers"].items()
        ]
        return _frame(rows)


def evaluate_routing(
    history: str | Path,
    *,
    routers: Sequence[Spec] | None = None,
    predictions: Paths = (),
    codeowners: str | Path | None = None,
    seed: int = 0,
    out: str | Path | None = None,
    overwrite: bool = False,
    **options: Any,
) -> RoutingRun:
    """Replay a history and score routers on it; with `out`, keep the run in that folder.

    `options` are those of `metareview routing`: cutoff, truth, truth_window, k, merged_within, ttfc,
    reviews_visible_at, include_bots, include_author, since, until, repos, prs, limit.

    >>> run = evaluate_routing("events.jsonl", routers=["popularity"], truth_window="1d")   # doctest: +SKIP
    >>> run.metrics["popularity"]["mrr"]                                                    # doctest: +SKIP
    """
    known = read_history(history)
    said = [each for path in several(predictions) for each in read_predictions(path)]
    result = score_history(known, routers, predictions=said, codeowners=codeowners, seed=seed, **options)
    records = [record.as_json() for record in result.records]
    folder = Path(out) if out is not None else None
    summary = {
        "schema": result.summary["schema"],
        "run": None if folder is None else str(folder),
    } | result.summary
    if folder is None:
        return RoutingRun(summary, None, records)
    inputs = {"history": content_hash(Path(history))}
    inputs |= {f"predictions/{Path(path).name}": content_hash(Path(path)) for path in several(predictions)}
    if codeowners is not None:
        inputs["codeowners"] = content_hash(Path(codeowners))
    config = summary["config"] | {"seed": seed, "codeowners": codeowners is not None}

    def key(record: Mapping[str, Any]) -> tuple[str, str]:
        return (record["repo"], str(record["pr"]))

    # The figures are worked out before the folder is opened: a replay costs seconds, and a router of the user's may
    # have changed since the run that is there.
    with RunFolder(folder, "routing", config, inputs, overwrite=overwrite, key=key) as run:
        kept = run.done if run.summary is None else {key(old): old for old in read_lines(folder / RESULTS)}
        if any(kept.get(key(record), record) != record for record in records):
            raise UsageError(
                f"{folder} holds a run of the same inputs with other results: a router has changed since. "
                "Choose another --out, or pass --overwrite."
            )
        if run.summary is None:
            for record in records:
                if key(record) not in run.done:
                    run.append(record)
            run.finish(summary, [key(record) for record in records])
    return RoutingRun(summary, folder)


def _frame(rows: Sequence[Mapping[str, Any]]) -> DataFrame:
    try:
        from pandas import DataFrame
    except ImportError:
        raise UsageError('to_frame needs pandas: pip install "metareview[frame]"') from None
    return DataFrame(rows)


def _report(kind: str, run: CommentRun | RoutingRun, path: str | Path, pairs: Sequence[Pairs] = ()) -> Path:
    from metareview.report import write_report
    from metareview.report.source import MemoryRun

    if run.folder is not None:
        return write_report(read_run(run.folder), path)
    return write_report(MemoryRun(kind, run.summary, run.records, pairs), path)
