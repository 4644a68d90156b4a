"""How far a judge agrees with labels: the figures with their intervals, what its threshold is worth, what scores mean,
and the kinds of issue that it gets right or wrong."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from metareview.benchmark.calibrate import FIGURES, UNKNOWN, Agreement
from metareview.benchmark.chance import FEWEST_UNITS
from metareview.benchmark.units import PULL_REQUEST
from metareview.model.severity import severity_rank
from metareview.model.words import format_score, plural
from metareview.report.numbers import count, interval, rate, signed, signed_interval
from metareview.report.tables import INTERVAL, Column, Table

MOST_KINDS = 40
"""Values of one kind that are listed, those with most labels where there are more."""
_LABELS = {"auc": "AUC"}
_BAR, _WIDE = 20, 80
"""Bars are drawn from this width on."""


def units_in_words(agreement: Agreement) -> str:
    """`12 pull requests`."""
    unit = "pull request" if agreement.interval_unit == PULL_REQUEST else "group"
    return plural(agreement.interval_units, unit)


def agreement_lines(judge: str, agreement: Agreement, lone: int = 0) -> Iterator[str]:
    """The figures, their intervals, and what the threshold is worth. `lone`: labels that name neither a pull request
    nor a group."""
    listed = ", ".join(f"{label} {rate(getattr(agreement, name))}" for name, label in _names())
    yield f"{judge} on {plural(agreement.n, 'label')}: {listed}"
    yield _intervals(agreement, lone)
    yield from threshold_lines(agreement)


def _names() -> Iterator[tuple[str, str]]:
    return ((measure.name, _LABELS.get(measure.name, measure.name)) for measure in FIGURES)


def _intervals(agreement: Agreement, lone: int) -> str:
    if agreement.interval_unit is None:
        if lone:
            return "No intervals: the labels do not say which of them are of one pull request. Give them pr, or group."
        return "No intervals: they take labels of two pull requests or more."
    ends = ", ".join(f"{label} {interval(agreement.intervals[name])}" for name, label in _names())
    together = f" ({plural(lone, 'label')} without a pull request and a group count as one)" if lone else ""
    return f"95 % intervals over {units_in_words(agreement)}{together}: {ends}"


def threshold_lines(agreement: Agreement) -> Iterator[str]:
    """The threshold that would be best on these labels, and whether it is worth anything beyond them."""
    own = "its own verdict" if agreement.threshold is None else f"threshold {rate(agreement.threshold)}"
    best, fitted, gain = agreement.best_threshold, agreement.cross_fitted_kappa, agreement.cross_fitted_gain
    if best is None:
        return
    in_sample = f"{own}; the best threshold on these labels is {rate(best)}, with kappa {rate(agreement.best_kappa)}"
    yield f"{in_sample}, in sample: these labels chose it."
    unit = "pull requests" if agreement.interval_unit == PULL_REQUEST else "groups"
    if fitted is None:
        yield (
            f"Whether it is better elsewhere these labels cannot tell: that takes labels of {FEWEST_UNITS} {unit} or"
            " more, with matches and mismatches."
        )
        return
    ends = agreement.intervals["cross_fitted_kappa"]
    cross = f"With thresholds that other {unit} chose: kappa {rate(fitted)}" + (f" ({interval(ends)})" if ends else "")
    instead = "the judge's own verdict" if agreement.threshold is None else rate(agreement.threshold)
    reach = agreement.intervals["cross_fitted_gain"]
    if gain is None or gain <= 0:
        yield f"{cross}, no better than {instead}. Keep that."
    elif reach is None or reach[0] <= 0:
        by = f" ({signed_interval(reach)})" if reach else ""
        yield f"{cross}, which may be no better than {instead}: the difference is {signed(gain)}{by}."
    else:
        yield f"{cross}, better than {instead} by {gain:.3f} ({signed_interval(reach)})."


def reliability_table(agreement: Agreement, width: int) -> Table:
    """How often pairs of each score match: what a score means."""
    parts = agreement.reliability
    table = [
        Column("scores", [f"{part.low:.1f}–{part.high:.1f}" for part in parts], text=True),
        Column("labels", [count(part.n) for part in parts]),
        Column("mean score", [format_score(part.mean_score) for part in parts], optional=2),
        Column("matches", [rate(part.match_rate) for part in parts]),
        Column(f"{INTERVAL}, per pair", [interval(part.interval) for part in parts], optional=1),
    ]
    bars = Column("", ["█" * round(_BAR * part.match_rate) for part in parts], text=True)
    return [*table, bars] if width >= _WIDE else table


def kinds_table(kind: str, parts: Mapping[str, Agreement]) -> Table:
    """The agreement for each value of one kind: severities from the worst, others with most labels first."""
    most = sorted(parts, key=lambda value: (-parts[value].n, value))[:MOST_KINDS]
    if kind == "severity":
        most.sort(key=lambda value: (severity_rank(value), value == UNKNOWN, value.casefold()))
    else:
        most.sort(key=lambda value: value == UNKNOWN)
    rows = [parts[value] for value in most]
    table = [Column(kind, most, text=True), Column("labels", [count(each.n) for each in rows])]
    for optional, (name, label) in zip((0, 4, 3, 2, 5), _names(), strict=True):
        table.append(Column(label, [rate(getattr(each, name)) for each in rows], optional=optional))
        if name == "kappa":
            table.append(Column(INTERVAL, [interval(each.intervals[name]) for each in rows], optional=1))
            table.append(Column("over", [_over(each) for each in rows], optional=6))
    return table


def _over(agreement: Agreement) -> str:
    return units_in_words(agreement) if agreement.interval_unit else "too few"
