"""The verdict of a comparison in plain sentences."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from metareview.comparison.compared_runs import difference_label
from metareview.comparison.judge_parameters import MIXED
from metareview.model.words import counted, plural

if TYPE_CHECKING:
    from metareview.comparison.verdict import Comparison, MetricDifference, Samples


def sentences(result: Comparison) -> Iterator[str]:
    """The verdict: who is better on what, what cannot be known, and what that depends on."""
    groups: dict[str, list[str]] = {}
    for metric in result.metrics.values():
        winner = metric.winner(result.alpha)
        group = winner or _no_winner(metric)
        lower = " (lower)" if winner and metric.measure.lower_is_better else ""
        groups.setdefault(group, []).append(metric.measure.label + lower)
    lists = {name: " and ".join(filter(None, (", ".join(of[:-1]), of[-1]))) for name, of in groups.items()}
    sides = {"a": result.a, "b": result.b}
    parts = [f"{side.label} is better on {lists[name]}" for name, side in sides.items() if name in lists]
    if "unknown" in lists:
        parts.append(f"{'on' if parts else 'On'} {lists['unknown']} the data cannot tell")
    if "too few" in lists:
        what = "matches" if result.samples is None else "comments"
        parts.append(f"{'on' if parts else 'On'} {lists['too few']} there are too few {what} to test")
    if "equal" in lists:
        parts.append(f"the figures are equal on {lists['equal']}" if parts else "The figures are equal")
    if "undefined" in lists:
        why = "one side has no figure" if result.samples is None else "the data of one side or both do not tell"
        parts.append(f"{lists['undefined']} cannot be compared, {why}")
    yield "; ".join(parts) + "."
    if result.samples is not None:
        yield _sampled(result, result.samples)
    yield from _held_back(result)
    if result.runs:
        yield f"T{difference_label(result.runs_by_label)[1:]}."
    yield from _margin_sentences(result)
    main = result.metrics[result.main]
    if main.test.differing and not main.enough_differing_units and result.samples is None:
        differing = f"{main.measure.label} differs on {main.test.differing} of {result.units}"
        yield f"{differing}: so few cannot show any difference."
    elif "unknown" in lists and main.minimum_detectable is not None and main.minimum_detectable >= 1:
        yield f"Over {result.units}, no true difference in {main.measure.label} would be found four times in five."
    elif "unknown" in lists and main.minimum_detectable is not None:
        yield (
            f"With these {result.units}, a true difference in {main.measure.label} has to be about"
            f" {main.minimum_detectable:.2f} to be found four times in five."
        )
    if result.labelled is not None:
        blocks, comments = (sorted({plural(number, of) for number in result.labelled}) for of in ("block", "comment"))
        if result.samples is None:
            yield f"Precision, recall and F1 are corrected by people's labels of {' and '.join(blocks)}."
        else:
            yield f"What was addressed is corrected by people's labels of {' and '.join(comments)}."
    if result.mixed_examples:
        yield MIXED
    yield from _family_sentences(result)
    yield from _plan_sentences(result)
    if any(result.undecided.values()):
        of_each = ", ".join(f"{counted(result.undecided[name])} of {side.label}" for name, side in sides.items())
        if result.samples is None:
            yield f"Undecided pairs count as no match: {of_each}."
        else:
            yield f"Comments that the judge left undecided are not in addressed: {of_each}."


def _held_back(result: Comparison) -> Iterator[str]:
    """Metrics that a test tells apart and an interval does not: neither side is called better on these."""
    found = [metric for metric in result.metrics.values() if metric.diff and metric.is_significant(result.alpha)]
    groups = {
        "the interval of the difference holds 0": [each for each in found if each.interval and each.interval_holds_0],
        "there is no interval of the difference": [each for each in found if each.interval is None],
    }
    for why, metrics in groups.items():
        if metrics:
            labels = [metric.measure.label for metric in metrics]
            listed = " and ".join(filter(None, (", ".join(labels[:-1]), labels[-1])))
            yield f"On {listed} p alone would tell them apart, but {why}, so neither is called better."


def _margin_sentences(result: Comparison) -> Iterator[str]:
    """What came of each margin that B was held to."""
    for gate in result.gates:
        if gate.margin is None:
            continue
        label, margin = gate.metric.measure.label, f"{gate.margin:g}"
        if gate.passed:
            yield f"On {label}, {result.b.label} is no worse than {result.a.label} by more than {margin}."
        elif gate.passed is None:
            yield f"Whether {result.b.label} loses more than {margin} on {label} depends on what is undecided."
        else:
            yield (
                f"That {result.b.label} loses more than {margin} on {label} cannot be ruled out: {_reach(gate.metric)}."
            )


def _reach(metric: MetricDifference) -> str:
    """How far the interval of the difference reaches to the worse side."""
    if metric.interval is None:
        return "there is no interval of the difference"
    return f"the interval of the difference reaches {metric.interval[metric.measure.lower_is_better]:+.3f}"


def _sampled(result: Comparison, samples: Samples) -> str:
    """What the tests rest on, and what else may be behind a difference."""
    in_blocks = result.weeks is not None
    if samples.paired:
        over = f", over {result.units}" if in_blocks else ""
        return f"Paired, on the {plural(samples.shared, 'pull request')} that both have, and on no others{over}."
    of_a, of_b, pairs = samples.units
    both = f"{plural(samples.shared, 'is', 'are') if samples.shared else 'none is'} in both"
    head = f"Two samples of pull requests, {samples.a} of {result.a.label} and {samples.b} of {result.b.label}; {both}"
    taken = "the test takes it as a pair" if pairs == 1 else "the test takes these in pairs"
    if in_blocks:
        over = f", tested over {result.units}"
        over += f"; {plural(pairs, 'block has', 'blocks have')} both, and {taken}" if pairs else ""
    else:
        over = f", and {taken}" if pairs else ""
    differ = any(metric.diff for metric in result.metrics.values())
    if not differ or samples.shared == samples.a == samples.b:
        return f"{head}{over}."
    if in_blocks:
        weeks = "in the same weeks" if pairs == of_a == of_b else "in other weeks"
    else:
        weeks = "and may be from other weeks"
    these = "The others" if samples.shared else "They"
    return f"{head}{over}. {these} are other pull requests {weeks}, which may be why the figures differ."


def _no_winner(metric: MetricDifference) -> str:
    if metric.too_few_matches:
        return "too few"
    return "undefined" if metric.p_holm is None else "unknown" if metric.diff else "equal"


def _family_sentences(result: Comparison) -> Iterator[str]:
    """How this and the leaderboard go together: that tests one metric alone, over all its pairs."""
    family, main = result.family, result.metrics[result.main]
    here = bool(main.winner(result.alpha))
    if family is None or family.p is None or (family.competitors == 2 and family.separated == here):
        return
    if family.separated:
        told = "tells them apart too" if here else "tells them apart; here, several metrics share the level"
    else:
        told = "cannot tell them apart" + ("; there, all pairs share the level of 0.05" if here else " either")
    where = "" if family.prs == result.prs else f", on the {plural(family.prs, 'pull request')} that all of them have"
    word = "reviewers" if result.kind == "comments" else "routers"
    yield (
        f"The leaderboard of these {family.competitors} {word} tests {main.measure.label} alone, over all their pairs"
        f"{where}, and {told} (p {'< 0.001' if family.p < 0.001 else f'= {family.p:.3f}'})."
    )


def _plan_sentences(result: Comparison) -> Iterator[str]:
    if result.plan is None:
        return
    label, units = result.metrics[result.main].measure.label, result.plan.units[result.main]
    difference = f"{result.plan.difference:g}"
    if units is None and result.metrics[result.main].test.error is not None:
        yield (
            f"However many there were like these {result.units}, a true difference of {difference} in {label} would not"
            " be found four times in five: runs differ too much for so few of them."
        )
        return
    if units is None:
        yield f"What a difference of {difference} in {label} would take is not known: these {result.units} do not vary."
        return
    of_each = " of each" if result.samples is not None and not result.samples.paired else ""
    yield (
        f"To find a true difference of {difference} in {label} four times in five would take about"
        f" {result.units_in_words(units)}{of_each} like these."
    )
