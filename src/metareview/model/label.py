"""What people or a strong model said of a pair of notes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Label:
    """`reference` and `candidate` raise the same issue, or not. Pairs of one group are rivals; None: no rivals."""

    reference: str
    candidate: str
    match: bool
    group: str | None = None
