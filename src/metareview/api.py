"""What the package offers in Python: evaluate, load, compare; and a run that can report on itself."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

from metareview.comparison import paired
from metareview.comparison.competitors import Source
from metareview.comparison.corrected import corrected_figures, corrected_to_dict, correction_of
from metareview.comparison.outcome_corrected import outcome_correction_of, outcome_correction_to_dict
from metareview.comparison.paired import CompareKeywords
from metareview.comparison.verdict import Comparison as PlainComparison
from metareview.engines.spark import Frame as SparkFrame
from metareview.engines.spark import is_frame, records_of
from metareview.errors import UsageError, did_you_mean
from metareview.formats.reader import Given, Paths, Records
from metareview.pipelines import comments, outcomes, routing
from metareview.pipelines.comments.keep import Progress
from metareview.pipelines.comments.options import CommentsKeywords, CommentsOptions
from metareview.pipelines.outcomes.options import OutcomesKeywords, OutcomesOptions
from metareview.pipelines.routing.options import RoutingKeywords, RoutingOptions
from metareview.routing.answers import is_figure
from metareview.runs import run as runs
from metareview.runs.comments_json import pair_to_json, record_to_json
from metareview.runs.outcomes_json import comment_rows
from metareview.runs.sound import broken_runs_told

if TYPE_CHECKING:
    from pandas import DataFrame


def _whole(cell: object) -> object:
    """A text with halves of surrogate pairs written out."""
    return cell.encode("utf-8", "backslashreplace").decode() if isinstance(cell, str) else cell


Rows = Iterator[dict[str, Any]]
_NESTED = {
    "match_details",
    "matched_reference_comments",
    "llm_comparisons",
    "reference_comments",
    "negative_comments",
    "reference_slices",
    "undecided_bounds",
}
"""Fields of a comment run's record that are tables of their own."""


class Run(runs.Run[Any, Any]):
    """A finished evaluation, in memory or in its folder. `summary` is what --json prints."""

    @classmethod
    def of(cls, run: runs.AnyRun) -> Run:
        return cls(**{field.name: getattr(run, field.name) for field in fields(run)})

    def __repr__(self) -> str:
        main = "f1" if runs.is_comments(self) else "lines_changed" if runs.is_outcomes(self) else "mrr"
        figures = ", ".join(f"{name} {main}={metrics[main]}" for name, metrics in self.metrics.items())
        return f"<Run of {self.kind.name}: {figures}>"

    def _repr_html_(self) -> str:
        from metareview.report.notebook import run_table

        with broken_runs_told(self.folder):
            return run_table(self)

    @property
    def records(self) -> list[dict[str, Any]]:
        """What results.jsonl holds: one record per pull request and reviewer, and per run where it is repeated; or per
        pull request for routing."""
        with broken_runs_told(self.folder):
            return [self.kind.record_to_json(record) for record in self.read_run_records()]

    @property
    def corrected(self) -> dict[str, Any] | None:
        """What people's labels in its folder make of each reviewer's figures, as `calibrate --run --json` has it:
        `frame` says how far the labelling is, `corrected` has the figures. None where nothing was drawn to be labelled.
        """
        with broken_runs_told(self.folder):
            if runs.is_outcomes(self):
                found = outcome_correction_of(self)
                return None if found is None else outcome_correction_to_dict(found)
            correction = correction_of(self) if runs.is_comments(self) else None
            return None if correction is None else corrected_to_dict(correction, corrected_figures(self, correction))

    def report(self, path: str | Path) -> Path:
        """Write a report: .html, .md, .csv, .json or .xml (JUnit), by suffix."""
        from metareview.report import write_report

        with broken_runs_told(self.folder):
            return write_report(self, path)

    def to_frame(self, what: Literal["prs", "pairs", "references", "comments"] = "prs") -> DataFrame:
        """A pandas data frame with one row per pull request and reviewer (or router), per judged pair, per reference
        and reviewer, or per comment. Of repeated runs, pull requests have a row per run, and references say in how many
        of `runs` they were `found_in`."""
        try:
            from pandas import DataFrame
        except ImportError:
            raise UsageError('to_frame needs pandas: pip install "metareview[frame]"') from None
        with broken_runs_told(self.folder):
            try:
                return DataFrame(list(self._rows(what)))
            except UnicodeEncodeError:  # half a surrogate pair, which Arrow, behind pandas, cannot hold
                return DataFrame([{name: _whole(cell) for name, cell in row.items()} for row in self._rows(what)])

    def _rows(self, what: str) -> Rows:
        known = ("prs", "pairs", "references", "comments")
        if what not in known:
            raise UsageError(
                f"to_frame: {what!r} is not known.{did_you_mean(what, known)} Give one of {', '.join(known)}."
            )
        if what == "prs":
            return _pull_request_rows(self)
        if runs.is_outcomes(self) and what == "comments":
            return (row for record in self.read_records() for row in comment_rows(record))
        if not runs.is_comments(self):
            others = "prs or comments" if runs.is_outcomes(self) else "prs"
            raise UsageError(f"to_frame: a run of {self.kind.name} has no {what}. Give {others}.")
        if what == "pairs":
            return map(pair_to_json, self.read_pairs())
        return _nested_rows(self, "reference_comments" if what == "references" else "match_details")


def _nested_rows(run: runs.CommentsRun, field: str) -> Rows:
    for record in map(record_to_json, run.read_records()):
        for row in record[field] or ():
            yield {"pr": record["github_pr_url"], "reviewer": record["reviewer"], **row}


def _pull_request_rows(run: runs.AnyRun) -> Rows:
    for record in map(run.kind.record_to_json, run.read_run_records()):
        if runs.is_comments(run):
            yield {key: value for key, value in record.items() if key not in _NESTED}
            continue
        if runs.is_outcomes(run):
            yield record | {"comments": len(record["comments"])}
            continue
        facts = {key: record[key] for key in ("repo", "pr", "author", "created_at", "cutoff", "ttfr_seconds")}
        for name, answer in record["routers"].items():
            yield {
                **facts,
                "truth": record["truth"]["state"],
                "router": name,
                "rank": answer["rank"],
                **{key: value for key, value in answer.items() if is_figure(key)},
                "risk": answer["risk"],
            }


def evaluate_comments(
    generated: Given | SparkFrame,
    *,
    reference: Paths | Records | SparkFrame,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    **options: Unpack[CommentsKeywords],
) -> Run:
    """Score the review comments in `generated` against the references; with `out`, keep the run in that folder.

    Both are paths, or lists of records with the fields of `jsonl`, or data frames of Spark's with these columns: then
    the frames' cluster does the work.

    >>> run = evaluate_comments("comments/", reference="positive_samples.json")   # doctest: +SKIP
    >>> run.metrics["comments"]["f1"]                                             # doctest: +SKIP
    """
    given = [generated, reference, options.get("negatives", ())]
    if any(map(is_frame, given)):
        generated, reference, options["negatives"] = (records_of(each) if is_frame(each) else each for each in given)
        options["engine"] = "spark"
    chosen = CommentsOptions(generated, reference, **options)
    folder = None if out is None else Path(out)
    return Run.of(comments.evaluate(chosen, out=folder, overwrite=overwrite, progress=progress))


def evaluate_routing(
    history: Paths | SparkFrame,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    **options: Unpack[RoutingKeywords],
) -> Run:
    """Replay a history and score routers on it; with `out`, keep the run in that folder.

    The history is a file, a folder, a list of them, or a data frame of Spark's with an event's columns, which is then
    replayed where it is.

    >>> run = evaluate_routing("events.jsonl", routers=["popularity"], truth_window="1d")   # doctest: +SKIP
    >>> run.metrics["popularity"]["mrr"]                                                    # doctest: +SKIP
    """
    frame = history if is_frame(history) else None
    chosen = RoutingOptions(() if frame is not None else history, **options)
    folder = None if out is None else Path(out)
    watch = routing.of_rankings(progress)
    return Run.of(routing.evaluate(chosen, out=folder, overwrite=overwrite, watch=watch, frame=frame))


def evaluate_outcomes(
    files: Paths | Records,
    *,
    out: str | Path | None = None,
    overwrite: bool = False,
    progress: Progress | None = None,
    **options: Unpack[OutcomesKeywords],
) -> Run:
    """What became of the comments in `files`; with `out`, keep the run in that folder.

    Files, or a list of records with the fields of `jsonl`: comments with their threads, and the pull request's commits.

    >>> run = evaluate_outcomes("comments.jsonl", reviewer="*[bot]")   # doctest: +SKIP
    >>> run.metrics["sharpeye[bot]"]["lines_changed"]                  # doctest: +SKIP
    """
    chosen = OutcomesOptions(files, **options)
    folder = None if out is None else Path(out)
    return Run.of(outcomes.evaluate(chosen, out=folder, overwrite=overwrite, progress=progress))


def load_run(folder: str | Path) -> Run:
    """The finished run in this folder: what `evaluate_comments`, `evaluate_routing` or `evaluate_outcomes` gave.

    Its files are read through once: InputError where one is not what the run wrote.
    """
    return Run.of(runs.load_run(folder))


class Comparison(PlainComparison):
    """B against A. It prints as its verdict; `to_dict()` is what `metareview compare --json` prints."""

    @classmethod
    def of(cls, result: PlainComparison) -> Comparison:
        return cls(**{field.name: getattr(result, field.name) for field in fields(result)})

    def __str__(self) -> str:
        return self.verdict

    def __repr__(self) -> str:
        return f"<Comparison of {self.a.label} and {self.b.label}: {self.verdict}>"

    def _repr_html_(self) -> str:
        from metareview.report.notebook import comparison_html

        return comparison_html(self)


def compare(a: Source, b: Source | None = None, **options: Unpack[CompareKeywords]) -> Comparison:
    """Compare two runs, or two reviewers (or routers) of one; a run is what `evaluate_comments` gave, or a folder.

    `reviewers`: one name for both runs, or A's and B's; needed where a run holds several. `common` restricts both to
    the pull requests that they share with the same references. Runs whose figures would not mean the same are refused.
    `plan`: say how many pull requests a true difference of this size would take. `mixed_examples`: go on, with a
    warning, where the two judges learned from different examples.

    >>> print(compare("runs/before", "runs/after"))   # doctest: +SKIP
    """
    with broken_runs_told(*map(_folder_of, (a, b))):
        return Comparison.of(paired.compare(a, b, **options))


def _folder_of(source: Source | None) -> Path | None:
    return source.folder if isinstance(source, runs.Run) else None if source is None else Path(source)
