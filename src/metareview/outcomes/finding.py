"""What the data tell of a comment: yes, no, or why they cannot tell."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Finding:
    """An answer; None where the data cannot tell, with the reason."""

    value: bool | None
    reason: str | None = None
