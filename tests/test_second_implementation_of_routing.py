"""What metareview reports of random routers and outcomes, held against a second implementation of the definitions.

Two samples of outcomes depart from it on purpose (docs/statistics.md): their interval joins those of the two sides,
blocks are made shorter until each side has ten, and nothing is tested with fewer than 4 units on a side or fewer than 5
comments without the outcome. Runs in which that matters are compared in nothing else.
"""

from __future__ import annotations

import math
import random
from collections import defaultdict
from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

import metareview as mr
import second_implementation as second
from random_runs import RandomHistory, RandomOutcomes, random_history, random_outcomes
from second_checks import (
    Tally,
    check_difference,
    check_holm,
    check_ties,
    equal_runs,
    json_of,
    seeds,
    value_of,
    write_lines,
)


def units_of(made: RandomHistory) -> tuple[str, int | None, list[list[tuple[str, int]]]]:
    """The kind of unit, the weeks of a block, and the pull requests of each unit that has any."""
    keys = list(made.opened)
    blocks = second.blocks_of_weeks([made.opened[key] for key in keys])
    groups: dict[object, list[tuple[str, int]]] = defaultdict(list)
    repositories = {repo for repo, _ in keys}
    for at, key in enumerate(keys):
        groups[blocks[1][at] if blocks else key[0] if len(repositories) >= 10 else key].append(key)
    kind = "blocks of weeks" if blocks else "repositories" if len(repositories) >= 10 else "pull requests"
    return kind, blocks and blocks[0], list(groups.values())


def hits(rank: int | None, metric: str) -> Fraction:
    if metric == "mrr":
        return Fraction(1, rank) if rank else Fraction(0)
    return Fraction(rank is not None and rank <= int(metric.removeprefix("hit@")))


def routing_rows(made: RandomHistory, router: str) -> dict[str, list[second.Row]]:
    units = units_of(made)[2]
    ranks = made.ranks[router]
    return {
        metric: [(sum(hits(ranks[key], metric) for key in unit), len(unit)) for unit in units]
        for metric in ("hit@1", "hit@3", "hit@5", "mrr")
    }


def test_routers(tmp_path: Path) -> None:
    with Tally() as tally:
        for seed in seeds(0.5):
            where = f"seed {3000 + seed}"
            made = random_history(3000 + seed, ["one", "two"])
            history = write_lines(tmp_path / "events.jsonl", made.events)
            predictions = write_lines(tmp_path / "predictions.jsonl", made.predictions)
            run = mr.evaluate_routing(history, routers=[], predictions=[predictions])
            rows = [routing_rows(made, router) for router in ("one", "two")]
            for router, of in zip(("one", "two"), rows, strict=True):
                for metric, ends in run.summary["routers"][router]["intervals"].items():
                    at = f"{where} {router} {metric}"
                    tally.number(
                        "figure of a router", at, run.summary["routers"][router][metric], value_of(metric, of[metric])
                    )
                    tally.interval("interval of a router", at, ends, second.interval(of[metric]))
                check_queue(tally, made, router, run.summary["routers"][router]["queue"], where)
            ours = mr.compare(run, reviewers=["one", "two"]).to_dict()
            kind, length, units = units_of(made)
            expected = {"kind": kind, "n": len(units), "weeks_per_block": length}
            tally.same("units of routers", where, ours["units"], expected)
            check_difference(tally, ours, rows, where)


def test_leaderboards_of_routers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with Tally() as tally:
        for seed in seeds(0.1):
            where, routers = f"seed {7000 + seed}", ["one", "two", "three", "four"]
            made = random_history(7000 + seed, routers)
            history = write_lines(tmp_path / "events.jsonl", made.events)
            predictions = write_lines(tmp_path / "predictions.jsonl", made.predictions)
            mr.evaluate_routing(history, routers=[], predictions=[predictions], out=tmp_path / str(seed))
            _, ours = json_of(capsys, "leaderboard", tmp_path / str(seed))
            rows = {router: routing_rows(made, router) for router in routers}
            tally.same("ranked", where, {row["name"] for row in ours["rows"]}, set(routers))
            check_ties(tally, ours, {router: rows[router]["mrr"] for router in routers}, equal_runs(rows), 1, where)


def check_queue(tally: Tally, made: RandomHistory, router: str, queue: Any, where: str) -> None:
    for risk, ours in queue.items():
        keys = [key for key, own in made.risks[router].items() if own == risk]
        waits = [wait for key in keys if (wait := made.waits[key]) is not None]
        censored = [
            math.floor((made.end - made.opened[key]).total_seconds()) for key in keys if made.waits[key] is None
        ]
        median = second.kaplan_meier_median(waits, censored)
        tally.number("Kaplan-Meier median", f"{where} {router} {risk}", ours["ttfr_seconds_km_median"], median)


def two_samples(seed: int) -> tuple[RandomOutcomes, RandomOutcomes]:
    """Two versions of a bot on their own pull requests, on some of the other's too, or on all the same ones; in one
    week, or both in the course of 90."""
    rng = random.Random(seed)
    sizes = [rng.choice([4, 6, 9, 30]) for _ in range(2)]
    days = [0, 1] if seed % 3 else range(90 * 7)
    first = 1 + rng.choice([sizes[0], sizes[0], sizes[0] // 2, 0])
    if seed % 3 == 0:
        sizes, first = [150, 150], 151
    elif first == 1:
        sizes[1] = sizes[0]
    a, b = range(1, sizes[0] + 1), range(first, first + sizes[1])
    return random_outcomes(rng, a, days), random_outcomes(rng, b, days)


Units = tuple[list[tuple[second.Row, second.Row]], list[second.Row], list[second.Row]]


def sample_units(a: RandomOutcomes, b: RandomOutcomes) -> tuple[str, Units]:
    """Units that both sides have, those of A alone and of B alone: blocks of weeks where each side has 10 or more,
    else pull requests."""
    moments = [*a.first_comment.values(), *b.first_comment.values()]
    blocks = second.blocks_of_weeks(moments)
    if blocks:
        found = blocks[1][: len(a.rows)], blocks[1][len(a.rows) :]
        if min(len(set(each)) for each in found) >= 10:
            return "blocks of weeks", _apart(_summed(found[0], a), _summed(found[1], b))
    return "pull requests", _apart(a.rows, b.rows)


def _summed(blocks: Sequence[int], side: RandomOutcomes) -> dict[int, second.Row]:
    found: dict[int, list[second.Row]] = defaultdict(list)
    for block, row in zip(blocks, side.rows.values(), strict=True):
        found[block].append(row)
    return {block: second.sums(rows) for block, rows in found.items()}


def _apart(a: Mapping[int, second.Row], b: Mapping[int, second.Row]) -> Units:
    shared = [(a[key], b[key]) for key in a if key in b]
    return shared, [a[key] for key in a if key not in b], [b[key] for key in b if key not in a]


def test_outcomes() -> None:
    with Tally() as tally:
        for seed in seeds(0.3):
            where = f"seed {6000 + seed}"
            sides = two_samples(6000 + seed)
            runs = [mr.evaluate_outcomes(side.records) for side in sides]
            rows = [list(side.rows.values()) for side in sides]
            for run, own, name in zip(runs, rows, "ab", strict=True):
                bot = run.summary["reviewers"]["bot"]
                tally.number(
                    "figure of outcomes", f"{where} {name}", bot["metrics"]["lines_changed"], value_of("", own)
                )
                tally.interval(
                    "interval of outcomes", f"{where} {name}", bot["intervals"]["lines_changed"], second.interval(own)
                )
            ours = mr.compare(*runs).to_dict()
            kind, (shared, only_a, only_b) = sample_units(*sides)
            counted = {"kind": kind, "n": len(shared) + len(only_a) + len(only_b), "shared": len(shared)}
            tally.same("units of outcomes", where, {key: ours["units"][key] for key in counted}, counted)
            found = ours["metrics"]["lines_changed"]
            if second.too_few_matches(*rows):
                tally.same("not tested", where, found["p"], None)
            elif second.too_few_matches(*([(x - y, x) for y, x in own] for own in rows)):
                continue  # See test_few_comments_without_the_outcome.
            elif only_a or only_b:
                p, exact = second.two_samples_p(shared, only_a, only_b)
                tally.drawn(
                    "p of two samples (all arrangements)" if exact else "p of two samples (drawn)", where, found["p"], p
                )
            else:
                p, exact = second.exchange_p([a for a, _ in shared], [b for _, b in shared])
                tally.drawn("p of two samples (all shared)", where, found["p"], p)
            check_holm(tally, ours, where)
