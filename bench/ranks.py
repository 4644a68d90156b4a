"""Measures of rankings against ir-measures, pytrec-eval-terrier and ranx: each from the form of data that it asks for.

Making that form is not timed. Of hit@k and MRR only the first right person counts, and whole arrays are compared; for
MAP, nDCG and recall every right person's place does, list by list.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bench.measure import Result, Row, compared, seconds
from metareview.routing.list_measures import MAP, Places, ndcg_at, recall_at
from metareview.routing.measures import MRR, first_ranks, hit_at

LISTS, LENGTH, PEOPLE, TARGETS = 10_000, 10, 30, 3
KS = (1, 3, 5)
Figures = Mapping[str, float]


@dataclass(frozen=True)
class Work:
    """Lists of people, and up to three right ones for each."""

    rankings: np.ndarray
    targets: np.ndarray
    """Padded with -1."""

    @classmethod
    def made(cls, lists: int = LISTS, seed: int = 0) -> Work:
        rng = np.random.default_rng(seed)
        people = rng.permuted(np.tile(np.arange(PEOPLE), (lists, 1)), axis=1)
        targets = rng.permuted(np.tile(np.arange(PEOPLE), (lists, 1)), axis=1)[:, :TARGETS]
        targets[rng.random(targets.shape) < 0.5] = -1
        targets[:, 0] = np.where((targets < 0).all(axis=1), 7, targets[:, 0])
        return cls(people[:, :LENGTH].copy(), targets)

    @cached_property
    def judged(self) -> dict[str, dict[str, int]]:
        return {
            str(at): {f"p{person}": 1 for person in row if person >= 0} for at, row in enumerate(self.targets.tolist())
        }

    @cached_property
    def scored(self) -> dict[str, dict[str, float]]:
        return {
            str(at): {f"p{person}": float(LENGTH - place) for place, person in enumerate(row)}
            for at, row in enumerate(self.rankings.tolist())
        }

    def of_first(self) -> Figures:
        ranks = first_ranks(self.rankings, self.targets)
        return {measure.name: measure.mean(ranks) or 0.0 for measure in (*map(hit_at, KS), MRR)}

    @cached_property
    def lists(self) -> list[tuple[list[int], set[int]]]:
        targets = ({person for person in row if person >= 0} for row in self.targets.tolist())
        return list(zip(self.rankings.tolist(), targets, strict=True))

    def of_all(self) -> Figures:
        measures = MAP, ndcg_at(LENGTH), recall_at(5)
        sums = [0.0] * len(measures)
        for listed, targets in self.lists:
            places = Places(tuple(at for at, person in enumerate(listed, 1) if person in targets), len(targets))
            for at, measure in enumerate(measures):
                sums[at] += measure.worth(places)
        return {measure.name: total / len(self.lists) for measure, total in zip(measures, sums, strict=True)}


Peer = Callable[[], Figures]
OF_FIRST, OF_ALL = "hit@1/3/5 and MRR", "MAP, nDCG@10 and recall@5"


def ir_measures(work: Work) -> dict[str, Peer]:
    import ir_measures
    from ir_measures import AP, RR, R, Success, nDCG

    def means(named: Mapping[object, str]) -> Peer:
        # Only the peer's own calculation is timed: the qrels are read once.
        evaluator = ir_measures.evaluator([*named], work.judged)
        return lambda: {named[measure]: value for measure, value in evaluator.calc_aggregate(work.scored).items()}

    return {
        OF_FIRST: means({**{Success @ k: f"hit@{k}" for k in KS}, RR: "mrr"}),
        OF_ALL: means({AP: "map", nDCG @ LENGTH: f"ndcg@{LENGTH}", R @ 5: "recall@5"}),
    }


def pytrec_eval(work: Work) -> dict[str, Peer]:
    import pytrec_eval

    def means(asked: set[str], named: Mapping[str, str]) -> Peer:
        evaluator = pytrec_eval.RelevanceEvaluator(work.judged, asked)

        def calculated() -> Figures:
            by_list = evaluator.evaluate(work.scored).values()
            return {ours: sum(each[name] for each in by_list) / len(by_list) for name, ours in named.items()}

        return calculated

    cuts = ",".join(map(str, KS))
    of_first = {**{f"success_{k}": f"hit@{k}" for k in KS}, "recip_rank": "mrr"}
    of_all = {"map": "map", f"ndcg_cut_{LENGTH}": f"ndcg@{LENGTH}", "recall_5": "recall@5"}
    return {
        OF_FIRST: means({f"success.{cuts}", "recip_rank"}, of_first),
        OF_ALL: means({"map", f"ndcg_cut.{LENGTH}", "recall.5"}, of_all),
    }


def ranx(work: Work) -> dict[str, Peer]:
    from ranx import Qrels, Run, evaluate

    judged, scored = Qrels(work.judged), Run(work.scored)

    def means(named: Mapping[str, str]) -> Peer:
        def calculated() -> Figures:
            # Its own figures are kept with the run, so that a second call would only look them up.
            found = evaluate(judged, scored, [*named], make_comparable=False, save_results_in_run=False)
            return {ours: float(found[name]) for name, ours in named.items()}

        return calculated

    return {
        OF_FIRST: means({**{f"hit_rate@{k}": f"hit@{k}" for k in KS}, "mrr": "mrr"}),
        OF_ALL: means({"map": "map", f"ndcg@{LENGTH}": f"ndcg@{LENGTH}", "recall@5": "recall@5"}),
    }


PEERS = {"ir-measures": ir_measures, "pytrec-eval-terrier": pytrec_eval, "ranx": ranx}


def ratios() -> Result:
    work = Work.made()
    ours: dict[str, Peer] = {OF_FIRST: work.of_first, OF_ALL: work.of_all}
    rows: list[Row] = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # numba's, about casts and threads
        for name, peer in PEERS.items():
            try:
                theirs = peer(work)
            except ImportError:
                rows.append(Row.missing(f"against {name}", name))
                continue
            rows += [_against(name, what, ours[what], calculate) for what, calculate in theirs.items()]
    return Result(f"Measures of {LISTS:,} rankings", rows)


def _against(name: str, what: str, ours: Peer, theirs: Peer) -> Row:
    mine, others = ours(), theirs()
    assert mine.keys() == others.keys(), (name, mine, others)
    assert all(abs(mine[key] - others[key]) < 1e-9 for key in mine), (name, mine, others)
    return Row.ratio(what, compared(ours, theirs).ratio, peer=name)


def run() -> Result:
    rng = np.random.default_rng(0)
    million = Work(
        rng.permuted(np.tile(np.arange(LENGTH), (1_000_000, 1)), axis=1), rng.integers(0, 14, (1_000_000, 1))
    )
    rows = [Row.below("hit@1/3/5 and MRR of 1,000,000 rankings", seconds(million.of_first), "s", 0.3)]
    found = ratios()
    return Result(found.title, [*rows, *found.rows])
