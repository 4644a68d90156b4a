"""Routing until its own pipeline is there."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from metareview.errors import UsageError
from metareview.formats.comments import Paths, several
from metareview.formats.history import read_history
from metareview.formats.predictions import read_predictions
from metareview.formats.source import content_hash
from metareview.routing.score import Spec, score_history
from metareview.runs.folder import RESULTS, RunFolder, read_lines, read_run

if TYPE_CHECKING:
    from pandas import DataFrame


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


def _report(kind: str, run: RoutingRun, path: str | Path) -> Path:
    from metareview.report import write_report
    from metareview.report.source import MemoryRun

    if run.folder is not None:
        return write_report(read_run(run.folder), path)
    return write_report(MemoryRun(kind, run.summary, run.records), path)
