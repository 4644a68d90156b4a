"""The alignment of each pull request against scipy's assignment over the whole matrix of its pairs.

The most pairs and the highest sum of scores are the same; which of several best alignments it is, only ours decides.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from scipy.optimize import linear_sum_assignment

from bench.measure import Result, Row, compared
from metareview.comments.align import Graph, align
from metareview.model.comment import Comment

SHAPES = {
    "300 pull requests of 10 x 5": (300, 10, 5, 0.15),
    "20 pull requests of 200 x 200": (20, 200, 200, 0.02),
    "one pull request of 1,000 x 1,000": (1, 1_000, 1_000, 0.004),
}
"""How many, of how many comments and references, and the share of pairs that match."""


@dataclass(frozen=True)
class Pull:
    graph: Graph
    generated: list[Comment]
    reference: list[Comment]

    @classmethod
    def made(cls, rng: np.random.Generator, comments: int, references: int, share: float) -> Pull:
        edges = np.argwhere(rng.random((comments, references)) < share)
        graph = Graph(edges[:, 0], edges[:, 1], rng.uniform(0.5, 1.0, len(edges)))
        sides = (comments, "comment"), (references, "reference")
        notes = ([Comment(note=f"{what} {number}", path="a.py") for number in range(size)] for size, what in sides)
        return cls(graph, *notes)

    def ours(self) -> list[tuple[int, int]]:
        return list(align("optimal", self.graph, self.generated, self.reference).pairs)

    def theirs(self) -> list[tuple[int, int]]:
        """A pair is worth its score and, on top, more than all scores together, so that the most pairs come first."""
        worth = np.zeros((len(self.generated), len(self.reference)))
        worth[self.graph.generated, self.graph.reference] = self.graph.score + min(worth.shape)
        rows, columns = linear_sum_assignment(worth, maximize=True)
        return [pair for pair in zip(rows.tolist(), columns.tolist(), strict=True) if worth[pair]]

    def worth(self, pairs: list[tuple[int, int]]) -> tuple[int, float]:
        edges = zip(self.graph.generated.tolist(), self.graph.reference.tolist(), strict=True)
        scores = dict(zip(edges, self.graph.score.tolist(), strict=True))
        return len(pairs), sum(scores[pair] for pair in pairs)


def ratios() -> Result:
    rows = []
    for what, (number, *shape) in SHAPES.items():
        rng = np.random.default_rng(0)
        pulls = [Pull.made(rng, *shape) for _ in range(number)]
        for pull in pulls:
            (found, score), (wanted, best) = pull.worth(pull.ours()), pull.worth(pull.theirs())
            assert (found, round(score, 6)) == (wanted, round(best, 6)), what

        def ours(pulls: list[Pull] = pulls) -> None:
            for pull in pulls:
                pull.ours()

        def theirs(pulls: list[Pull] = pulls) -> None:
            for pull in pulls:
                pull.theirs()

        rows.append(Row.ratio(what, compared(ours, theirs).ratio, peer="linear_sum_assignment"))
    return Result("Alignment, the best one of each pull request", rows)


def run() -> Result:
    return ratios()
