"""Which people labelled the same things, so that their verdicts can be compared two by two."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import combinations
from typing import Generic, TypeVar

from metareview.model.label import OutcomeLabel, PairLabel

NOBODY = "without a name"
MOST_PEOPLE = 30
"""People who are compared with each other: those with most labels. The pairs of all would grow with their square."""
AnyLabel = TypeVar("AnyLabel", PairLabel, OutcomeLabel)


@dataclass(frozen=True)
class SharedLabels(Generic[AnyLabel]):
    """The labels of two people on the same things, thing by thing."""

    a: str
    b: str
    both: list[tuple[AnyLabel, AnyLabel]]


def compare_people(
    labels: Iterable[AnyLabel], verdict: Callable[[AnyLabel], object]
) -> tuple[list[SharedLabels[AnyLabel]], int]:
    """Every two of at most MOST_PEOPLE people who labelled some of the same things, and how many more people labelled.

    All who gave no name count as one person.
    """
    in_force: dict[str, dict[object, AnyLabel]] = {}
    for label in labels:
        of_one = in_force.setdefault(label.name or NOBODY, {})
        of_one.pop(label.key, None)
        if verdict(label) is not None:
            of_one[label.key] = label
    named = [name for name, of_one in in_force.items() if of_one]
    chosen = set(sorted(named, key=lambda name: -len(in_force[name]))[:MOST_PEOPLE])
    found = []
    for a, b in combinations([name for name in named if name in chosen], 2):
        both = [(of_a, in_force[b][key]) for key, of_a in in_force[a].items() if key in in_force[b]]
        if both:
            found.append(SharedLabels(a, b, both))
    return found, len(named) - len(chosen)
