"""What labels came from: pairs of one pull request are judged well or badly together, so they count together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import sha256

import numpy as np
from numpy.typing import NDArray

from metareview.model.address import pull_request_key
from metareview.stats import Mask

PULL_REQUEST, GROUP = "pull_request", "group"
MOST_FOLDS = 10


@dataclass(frozen=True)
class Units:
    """The unit that each of some labels belongs to."""

    kind: str
    """PULL_REQUEST where every label names one, else GROUP."""
    names: Sequence[str]
    of: NDArray[np.int64]
    """For each label, the position of its unit in `names`."""
    lone: int = 0
    """Labels that name neither a pull request nor a group: nobody knows which of them belong together, so that they
    all count as one unit."""

    def part(self, chosen: Mask) -> Units:
        """The units of some of the labels alone."""
        which, of = np.unique(self.of[chosen], return_inverse=True)
        return Units(self.kind, [self.names[at] for at in which], of)

    def folds(self) -> NDArray[np.int64]:
        """For each label a fold, at most MOST_FOLDS of them, in which its whole unit is.

        Units are dealt out in the order of a hash of their names, so that neither the order of the labels nor chance
        has a say.
        """
        order = sorted(
            range(len(self.names)), key=lambda at: sha256(self.names[at].encode("utf-8", "replace")).digest()
        )
        fold = np.empty(len(order), np.int64)
        fold[order] = np.arange(len(order)) % MOST_FOLDS
        return fold[self.of]


def units_of(prs: Sequence[str | None], groups: Sequence[str | None]) -> Units:
    """By pull request, however its address is written, where a label names one; else by group."""
    names = [
        f"{PULL_REQUEST} {pull_request_key(pr)}" if pr else GROUP if group is None else f"{GROUP} {group}"
        for pr, group in zip(prs, groups, strict=True)
    ]
    known = {name: at for at, name in enumerate(dict.fromkeys(names))}
    kind = PULL_REQUEST if all(prs) and names else GROUP
    return Units(kind, list(known), np.array([known[name] for name in names], np.int64), names.count(GROUP))
