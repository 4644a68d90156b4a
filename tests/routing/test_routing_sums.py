"""Sums of records add up in any order and any groups, and give the figures that the records themselves have."""

import json
from collections import Counter
from fractions import Fraction
from itertools import product
from statistics import fmean, median

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sums_samples import END, FACTS, PEOPLE, ROUTERS, config_of, outcomes, records

from metareview.model.event import fold
from metareview.model.time import SECOND
from metareview.routing.list_measures import SEVERAL
from metareview.routing.multiset import merged_multisets, multiset
from metareview.routing.queue import QueueTimes
from metareview.routing.sum_up import sum_up
from metareview.routing.summarise import summarise, summary_of
from metareview.routing.summary import MergedRates
from metareview.routing.sums import Outcomes, RoutingSums, merged
from metareview.routing.weeks import PULL_REQUESTS, by_unit, week_of
from metareview.runs.routing_json import summary_to_json
from metareview.runs.routing_sums_json import cells, from_cells
from metareview.stats import differences, intervals

truths = st.sampled_from(["first_response", SEVERAL])
few_or_many_weeks = st.sampled_from([1, 3, 30])


def figures(sums, config, **options):
    return json.dumps(summary_to_json(summary_of(sums, config, FACTS, **options)))


@settings(max_examples=60)
@given(st.data(), truths, few_or_many_weeks)
def test_any_groups_in_any_order_add_up_to_the_same_and_to_the_same_digits(data, truth, weeks):
    config = config_of(truth)
    made = data.draw(records(config, weeks))
    parts = data.draw(st.lists(outcomes, max_size=3))
    whole = sum_up(made, config, sum(parts, Outcomes()))
    groups = {}
    for record in data.draw(st.permutations(made)):
        groups.setdefault(data.draw(st.integers(0, 3)), []).append(record)
    pieces = [sum_up(group, config) for group in groups.values()] + [sum_up([], config, part) for part in parts]
    way = data.draw(st.sampled_from(["at once", "in twos", "as cells", "as added cells"]))
    pieces = data.draw(st.permutations(pieces))
    if way == "at once":
        total = merged(iter(pieces))
    elif way == "in twos":
        while len(pieces) > 1:
            at = data.draw(st.integers(0, len(pieces) - 2))
            pieces[at : at + 2] = [pieces[at] + pieces[at + 1]]
        total = sum(pieces, RoutingSums())
    else:
        held = [cell for piece in pieces for cell in cells(piece)]
        if way == "as added cells":  # what a cluster does: group by text, add the numbers
            grouped = Counter()
            for text, number in held:
                grouped[text] += number
            held = data.draw(st.permutations(sorted(grouped.items())))
        total = from_cells(held)
    if pieces:
        assert total == whole
        assert sorted(cells(total)) == sorted(cells(whole))
    assert figures(total, config) == figures(whole, config)
    missing = {"first": "nothing to go by"}
    assert figures(total, config, not_applicable=missing) == figures(whole, config, not_applicable=missing)


def places_of(made):
    """The week and the repository of each record."""
    return [(week_of(record.cutoff), record.repo) for record in made]


def mean(values):
    return float(Fraction(sum(map(Fraction, values)), len(values))) if values else None


def near(value):
    return None if value is None else pytest.approx(value, rel=1e-9, abs=1e-12)


def worth(measure, answer, targets):
    """Each measure as docs/routing.md has it, not as the code does."""
    rank, name = answer.rank, measure.name
    ranks = answer.ranks or ((rank,) if rank else ())
    k = int(name.partition("@")[2] or 0)
    found = [each for each in ranks if each <= k]
    if name.startswith("hit@"):
        return int(bool(found))
    if name == "mrr":
        return 1 / rank if rank else 0
    if name.startswith("recall@"):
        return len(found) / targets if targets else 0
    if name == "map":
        return sum(at / each for at, each in enumerate(ranks, 1)) / targets if targets else 0
    ideal = sum(1 / np.log2(place + 1) for place in range(1, min(k, targets) + 1))
    return sum(1 / np.log2(place + 1) for place in found) / ideal if targets else 0


some_records = st.tuples(truths.map(config_of), few_or_many_weeks).flatmap(
    lambda drawn: st.tuples(st.just(drawn[0]), records(*drawn))
)


@given(some_records)
def test_rank_measures_are_those_of_the_records(drawn):
    config, made = drawn
    summary = summarise(made, config, FACTS)
    states = [summary.truth.observed, summary.truth.no_response, summary.truth.unknown]
    assert states == [sum(r.truth.state == each for r in made) for each in ("observed", "no_response", "unknown")]
    assert summary.prs == len(made)
    for name, router in summary.routers.items():
        rows = [[worth(each, r.answers[name], len(r.truth.targets)) for each in config.measures] for r in made]
        table = np.array([[1.0, *row] for row in rows]).reshape(len(rows), 1 + len(config.measures))
        ends = intervals(by_unit(table, places_of(made)), config.measures)
        for at, measure in enumerate(config.measures):
            assert router.metrics[measure.name] == near(mean([row[at] for row in rows]))
            of_observed = [row[at] for row, r in zip(rows, made, strict=True) if r.truth.state == "observed"]
            assert router.observed_metrics[measure.name] == near(mean(of_observed))
            assert router.intervals[measure.name] == near(ends[measure.name])
        assert router.observed_prs == states[0]
        assert router.answered == sum(record.answers[name].listed > 0 for record in made)


def product_limit(waits):
    """The first time at which the share that still waits is below one half; the midpoint to the next where it is one
    half in between."""
    share, times = Fraction(1), sorted({ended for ended, over in waits if over})
    for place, at in enumerate(times):
        waiting = sum(ended >= at for ended, _ in waits)
        share *= 1 - Fraction(sum(ended == at and over for ended, over in waits), waiting)
        if share < Fraction(1, 2):
            return at
        if share == Fraction(1, 2):
            return fmean(times[place : place + 2])
    return None


@given(some_records)
def test_waits_are_those_of_the_records(drawn):
    config, made = drawn
    for name, router in summarise(made, config, FACTS).routers.items():
        for risk, times in router.queue.items():
            of_risk = [record for record in made if record.answers[name].risk == risk]
            reviewed = [r.ttfr_seconds for r in of_risk if r.ttfr_seconds is not None]
            commented = [r.ttfc_seconds for r in of_risk if r.ttfc_seconds is not None]
            watched = [(END - r.cutoff) / SECOND for r in of_risk if r.ttfr_seconds is None]
            waits = [*((each, True) for each in reviewed), *((each, False) for each in watched)]
            assert times == QueueTimes(
                len(of_risk),
                len(reviewed),
                len(watched),
                fmean(reviewed) if reviewed else None,
                median(reviewed) if reviewed else None,
                product_limit(waits),
                len(commented),
                fmean(commented) if commented else None,
                median(commented) if commented else None,
            )


def gini_by_pairs(loads):
    total = sum(loads)
    return sum(abs(a - b) for a, b in product(loads, loads)) / (2 * len(loads) * total) if total else None


@given(some_records)
def test_loads_are_those_of_the_records(drawn):
    config, made = drawn
    firsts = {
        name: Counter(fold(r.answers[name].candidates[0]) for r in made if r.answers[name].candidates)
        for name in ROUTERS
    }
    actual = Counter(fold(target) for record in made for target in record.truth.targets)
    population = {"ann", "eve", *firsts["first"], *firsts["second"]}
    for name, router in summarise(made, config, FACTS).routers.items():
        assert router.load.population == len(population)
        assert router.load.gini == near(gini_by_pairs([firsts[name][person] for person in population]))
        assert router.load.actual.gini == near(gini_by_pairs([actual[person] for person in population]))
        people = {fold(each.login): (each.recommended, each.actual) for each in router.load.people}
        assert people == {each: (firsts[name][each], actual[each]) for each in {*firsts[name], *actual}}


@given(some_records)
def test_expertise_is_that_of_the_records(drawn):
    config, made = drawn
    summary = summarise(made, config, FACTS)
    known = [record for record in made if record.files]
    told = [record.truth_expertise for record in made if record.truth_expertise is not None]
    if not known:
        assert summary.expertise is None
        assert all(router.expertise is None for router in summary.routers.values())
        return
    found = summary.expertise
    assert (found.prs, found.unknown, found.observed_prs) == (len(known), len(made) - len(known), len(told))
    assert found.expertise == mean(told)
    observed = [record for record in known if record.truth.state == "observed"]
    for name, router in summary.routers.items():
        assert (router.expertise.prs, router.expertise.observed_prs) == (len(known), len(observed))
        for figure, value in router.expertise.metrics.items():
            assert value == mean([record.answers[name].figures[figure] for record in known])
            of_observed = [record.answers[name].figures[figure] for record in observed]
            assert router.expertise.observed_metrics[figure] == mean(of_observed)


@given(some_records)
def test_declarations_are_those_of_the_records(drawn):
    config, made = drawn
    for declaration, rates in summarise(made, config, FACTS).declarations.items():
        groups = [[r for r in made if getattr(r.declarations, declaration) is present] for present in (False, True)]
        assert (rates.missing_n, rates.present_n) == tuple(map(len, groups))
        assert rates.merged == MergedRates(*(mean([record.merged for record in group]) for group in groups))
        assert rates.merged_within == MergedRates(*(mean([r.merged_within for r in group]) for group in groups))


@given(st.data(), truths)
def test_tables_of_units_are_what_routers_are_compared_over(data, truth):
    """Also where pull requests come in another order, as they do from a folder."""
    config = config_of(truth)
    made = data.draw(records(config, data.draw(few_or_many_weeks)))
    sums = sum_up(made, config)
    routers = summary_of(sums, config, FACTS).routers
    if sums.units.kind == PULL_REQUESTS:
        assert all(router.by_unit is None for router in routers.values())
        return
    tables = [np.array(routers[name].by_unit) for name in ROUTERS]
    assert len(tables[0]) == len(tables[1]) == sums.units.n
    made = data.draw(st.permutations(made))
    places = places_of(made)
    by_records = [
        by_unit(
            np.array(
                [(1.0, *(figure_of(measure, record.answers[name]) for measure in config.measures)) for record in made]
            ),
            places,
        )
        for name in ROUTERS
    ]
    assert [table.tolist() for table in tables] == [table.tolist() for table in by_records]
    assert differences(*tables, config.measures) == differences(*by_records, config.measures)


def figure_of(measure, answer):
    return answer.figures[{"mrr": "reciprocal_rank", "map": "average_precision"}.get(measure.name, measure.name)]


def test_sums_of_nothing_are_the_neutral_element():
    config = config_of()
    none = summary_of(RoutingSums(), config, FACTS)
    assert (none.prs, none.routers["first"].metrics["mrr"], none.expertise) == (0, None, None)
    assert none.responses.counts.requests == 0
    assert merged([]) == RoutingSums() == RoutingSums() + RoutingSums()


def test_requests_are_unknown_where_the_history_has_none():
    facts = type(FACTS)(end=END, active=frozenset(), names={})
    assert summarise([], config_of(), facts).responses is None


@given(st.lists(st.lists(st.integers(0, 5).map(lambda n: n / 7), max_size=8), min_size=1, max_size=4))
def test_multisets_by_lists(parts):
    found = merged_multisets([multiset(part, np.float64) for part in parts], np.float64)
    everything = [value for part in parts for value in part]
    assert list(found.items()) == sorted(Counter(everything).items())
    assert found.total == len(everything)
    assert found.mean() == (fmean(everything) if everything else None)
    assert found.median() == (median(everything) if everything else None)


def test_a_login_may_hold_half_a_surrogate_pair():
    sums = RoutingSums(targets=Counter({fold(PEOPLE[-1]): 2, 'q"\n': 1}))
    held = list(cells(sums))
    assert all(text.isascii() for text, _ in held)
    assert from_cells(held) == sums
