"""What a comparison sees of a run: one table a reviewer or router, a row for each pull request.

A kind of run says who competes in it, which counts each pull request gives, which metrics these counts add up to, and
which settings must be equal for two figures to mean the same. Everything else about comparing is one code for all.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metareview.comments.measures import LOWER_IS_BETTER, SHORT_NAMES, f_beta, measured, number, table
from metareview.errors import InputError, UsageError
from metareview.model.address import pull_request_key
from metareview.runs.folder import StoredRun
from metareview.stats import Array, Metric

Record = dict[str, Any]

# Where and how fast the work was done, never what a figure means.
_EXECUTION = ("engine", "workers", "spark_master", "concurrency", "cache", "no_cache", "max_llm_calls")


@dataclass(frozen=True, slots=True)
class Unit:
    """One contender on one pull request."""

    pr: str
    """The pull request as the run writes it."""
    counts: tuple[float, ...]
    benchmark: str
    """A hash of what the contender was held against; where two differ, so do the benchmarks."""
    negatives: str | None
    """The same of the rejected comments; None where there are none to be held against."""
    undecided: int
    record: Record | None
    """The run's whole record, where it was asked for."""


@dataclass(frozen=True)
class Contender:
    """A reviewer or router of a run, with its pull requests that were scored, in order of their keys."""

    name: str
    run: StoredRun
    kind: Kind
    units: Mapping[str, Unit]

    def counts(self, prs: Iterable[str] | None = None) -> Array:
        """The table of these pull requests, or of all."""
        rows = [self.units[key].counts for key in (self.units if prs is None else prs)]
        return np.array(rows, np.float64).reshape(len(rows), -1)

    @property
    def metrics(self) -> dict[str, Metric]:
        return self.kind.metrics(self.run)


@dataclass(frozen=True)
class Kind:
    """How runs of one kind are read; see COMMENTS and ROUTING."""

    word: str
    """What its contenders are called."""
    block: str
    """Where the summary lists them."""
    main: str
    """The metric that says most in one figure."""
    read: Callable[[StoredRun, Record], Iterator[tuple[str, str, Unit]]]
    """Of one record: (contender, key of the pull request, unit), each with its record."""
    metrics: Callable[[StoredRun], dict[str, Metric]]
    choices: frozenset[str]
    """Settings that say which pull requests are scored or how inputs are read, not what a figure means. Any other
    that differs, known here or not, makes two runs incomparable."""

    def names(self, run: StoredRun) -> list[str]:
        return list(run.summary[self.block])

    def settings(self, run: StoredRun) -> dict[str, Any]:
        """What must be equal."""
        config = {name: value for name, value in run.manifest["config"].items() if name not in self.choices}
        filters = config.pop("filters", None)
        if filters:
            # Filters of pull requests show in which pull requests there are; those of comments do not.
            config |= {name: filters.get(name) for name in ("comment_categories", "comment_contexts")}
        return config


def kind_of(run: StoredRun) -> Kind:
    if run.kind not in KINDS:
        raise InputError(
            f"a run of a kind that cannot be compared ({run.kind})",
            file=run.path,
            fix=f"Name runs of {' or '.join(KINDS)}.",
        )
    return KINDS[run.kind]


def read_contenders(
    run: StoredRun, names: Collection[str] | None = None, *, records: bool = False
) -> list[Contender]:
    """These contenders of a run, or all, in the run's order; with their records only where asked."""
    kind = kind_of(run)
    wanted = [name for name in kind.names(run) if names is None or name in names]
    units: dict[str, dict[str, Unit]] = {name: {} for name in wanted}
    try:
        for record in run.records():
            for name, key, unit in kind.read(run, record):
                if name in units:
                    units[name][key] = unit if records else _light(unit)
    except (KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"a record that this version cannot read ({type(error).__name__}: {error})",
            file=run.path,
            fix="Run the evaluation again with --overwrite.",
        ) from None
    return [Contender(name, run, kind, dict(sorted(units[name].items()))) for name in wanted]


def figure(metric: Metric, sums: Array) -> float | None:
    """The metric of summed counts; null where it is undefined."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return number(metric(sums))


def _light(unit: Unit) -> Unit:
    return replace(unit, record=None)


def with_beta(metrics: Mapping[str, Metric], beta: float | None) -> dict[str, Metric]:
    """The metrics, and `f_beta` beside f1 where a beta is given."""
    if beta is None:
        return dict(metrics)
    if not (0 < beta < float("inf")):
        raise UsageError(f"--beta must be a positive number, found {beta:g}.")
    if "f1" not in metrics:
        raise UsageError("--beta is for runs of comments: routers have no precision and recall.")
    return {**metrics, "f_beta": f_beta(beta)}


def check_settings(contenders: Sequence[Contender]) -> None:
    """UsageError where two figures would not mean the same: another kind of run, judge, distance, cutoff."""
    first = contenders[0]
    for other in contenders[1:]:
        if other.kind is not first.kind:
            raise UsageError(
                f"{first.run.path} is a run of {first.run.kind} and {other.run.path} one of {other.run.kind}."
                " Compare runs of one kind."
            )
        ours, theirs = first.kind.settings(first.run), other.kind.settings(other.run)
        differing = [
            f"{name.replace('_', ' ')} {_shown(ours.get(name))} and {_shown(theirs.get(name))}"
            for name in sorted({*ours, *theirs})
            if ours.get(name) != theirs.get(name)
        ]
        if differing:
            raise UsageError(
                f"{first.run.path} and {other.run.path} cannot be compared, their settings differ: "
                f"{'; '.join(differing)}. Evaluate both with the same options."
            )


def different_benchmarks(a: Contender, b: Contender) -> list[str]:
    """The keys of pull requests that both have, but not with the same references, negatives or truth.

    A run without negatives has no false positive rate, and no other figure depends on them.
    """
    both = ((key, unit, b.units[key]) for key, unit in a.units.items() if key in b.units)
    return [
        key
        for key, ours, theirs in both
        if ours.benchmark != theirs.benchmark
        or (None not in (ours.negatives, theirs.negatives) and ours.negatives != theirs.negatives)
    ]


def _shown(value: object) -> str:
    return "none" if value in (None, [], ()) else json.dumps(value, ensure_ascii=False)


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, sort_keys=True).encode()).hexdigest()


def _read_comments(run: StoredRun, record: Record) -> Iterator[tuple[str, str, Unit]]:
    if record["skipped"]:
        return
    counts = tuple(table([record])[0].tolist())
    outcome = {"kept", "covered", "line_covered"}
    references = [
        {name: value for name, value in comment.items() if name not in outcome}
        for comment in record["reference_comments"]
    ]
    negatives = record["negative_comments"] if run.manifest["config"]["negatives"] else None
    unit = Unit(
        record["github_pr_url"],
        counts,
        _digest(references),
        None if negatives is None else _digest(negatives),
        record["judge_error_nums"] or 0,
        record,
    )
    yield record["reviewer"], pull_request_key(record["github_pr_url"]), unit


def _comment_metrics(run: StoredRun) -> dict[str, Metric]:
    config = run.manifest["config"]
    return dict(measured(config["place"], config["negatives"]))


def _read_routing(run: StoredRun, record: Record) -> Iterator[tuple[str, str, Unit]]:
    key = f"{record['repo']}#{record['pr']}"
    benchmark = _digest([record["cutoff"], record["truth"]])
    for name, answer in record["routers"].items():
        rank = answer["rank"] or 0
        hits = [float(0 < rank <= k) for k in run.manifest["config"]["k"]]
        yield name, key, Unit(key, (1.0, *hits, 1 / rank if rank else 0.0), benchmark, None, 0, record)


def _routing_metrics(run: StoredRun) -> dict[str, Metric]:
    names = [*(f"hit@{k}" for k in run.manifest["config"]["k"]), "mrr"]
    return {name: _mean(column) for column, name in enumerate(names, 1)}


def _mean(column: int) -> Metric:
    """The mean over pull requests of a column; column 0 counts them."""
    return lambda sums: sums[..., column] / sums[..., 0]


COMMENTS = Kind(
    word="reviewer",
    block="reviewers",
    main="f1",
    read=_read_comments,
    metrics=_comment_metrics,
    choices=frozenset(
        [
            *("name", "format", "reference_format", "all_prs", "limit", "seed", *_EXECUTION),
            # Said by `place` and by the metrics that there are.
            *("ignore_location", "negatives"),
        ]
    ),
)
ROUTING = Kind(
    word="router",
    block="routers",
    main="mrr",
    read=_read_routing,
    metrics=_routing_metrics,
    choices=frozenset(
        [
            *("routers", "predictions", "codeowners", "format", "seed"),
            *("since", "until", "repos", "prs", "limit"),
            *("merged_within", "ttfc", *_EXECUTION),
        ]
    ),
)
KINDS: Mapping[str, Kind] = {"comments": COMMENTS, "routing": ROUTING}

LOWER: frozenset[str] = frozenset(LOWER_IS_BETTER)
WORDS = {**SHORT_NAMES, "f_beta": "F-beta", "mrr": "MRR"}


def word_for(metric: str) -> str:
    return WORDS.get(metric, metric)
