"""Wrong labels: how far they may move a corrected figure, judged by how often two people disagree.

Where matches are rare, most wrong labels say "match" of what is none, and the estimate comes out too high. If each of
two people is wrong about a block with probability e, they disagree with probability d = 2 e (1 - e). In a stratum of
which a share q is labelled a match, the true share is then (q - e) / (1 - 2 e), cut to 0 and 1.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from metareview.comments.blocks import RecordKey
from metareview.comparison.frame import LabelledFrame
from metareview.model.label import Labels
from metareview.stats import Array

FEWEST_SHARED = 20
"""Blocks that two people must have labelled before anything is made of how often they disagree."""


@dataclass(frozen=True, slots=True)
class Disagreement:
    """On how many drawn blocks two people differ in the number of matches."""

    blocks: int
    """Drawn blocks that two people labelled; of more people, the two with most blocks."""
    differ: int

    @property
    def rate(self) -> float:
        return self.differ / self.blocks

    @property
    def error_rate(self) -> float | None:
        """How often each is wrong if both are equally often; None where they disagree as often as coins would."""
        return None if self.rate >= 0.5 else (1 - (1 - 2 * self.rate) ** 0.5) / 2


def disagreement_of(labelled: LabelledFrame, labels: Labels) -> Disagreement | None:
    """None where fewer than FEWEST_SHARED drawn blocks have the labels of two people."""
    people = [LabelledFrame(labelled.frame, labels.of(name).pair_verdicts()) for name in labels.people()]
    if len(people) < 2:
        return None
    # Everybody without a name counts as one person. Those with most blocks first; of equals, who came first.
    people.sort(key=lambda one: -one.done)
    by_block = zip(*(one.settled for one in people), strict=True)
    numbers = ([each.number for each in block if each.number is not None][:2] for block in by_block)
    shared = [two for two in numbers if len(two) == 2]
    if len(shared) < FEWEST_SHARED:
        return None
    return Disagreement(len(shared), sum(one != other for one, other in shared))


def excess_matches(labelled: LabelledFrame, error_rate: float, keys: Sequence[RecordKey]) -> Mapping[str, float]:
    """By what the blocks of a stratum count: how many matches too many these records have if labels are wrong at this
    rate; below 0 where too few."""
    frame = labelled.frame
    strata, values = labelled.known()
    positive = np.bincount(strata, np.minimum(values, 1.0), len(frame.strata)) / np.maximum(labelled.sample.labelled, 1)
    true = np.clip((positive - error_rate) / (1 - 2 * error_rate), 0.0, 1.0)
    own: Array = np.zeros(len(frame.strata))
    for key in keys:
        if key in frame.members:
            own += np.array(frame.members[key]) / frame.runs.get(key, 1)
    excess: dict[str, float] = {}
    for stratum, number in zip(frame.strata, (own * (positive - true)).tolist(), strict=True):
        excess[stratum.counted] = excess.get(stratum.counted, 0.0) + number
    return excess
