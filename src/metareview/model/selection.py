"""Names chosen by patterns, as `--reviewer` and `--reference-reviewer` choose them."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache

from metareview.errors import UsageError, did_you_mean


@dataclass(frozen=True, slots=True)
class Selection:
    """Names that a pattern matches; without a choosing pattern, all. A pattern that begins with `!` excludes.

    `*` is any text, `?` any one character, everything else is itself; case does not matter.

    >>> bots = Selection(["*[bot]", "!renovate[bot]"])
    >>> [name in bots for name in ("Coderabbit[bot]", "renovate[bot]", "octocat")]
    [True, False, False]
    """

    patterns: Sequence[str] = ()
    option: str = "--reviewer"
    """Its name in messages."""

    def __post_init__(self) -> None:
        given = (self.patterns,) if isinstance(self.patterns, str) else tuple(self.patterns)
        object.__setattr__(self, "patterns", given)
        if empty := [pattern for pattern in given if not pattern.removeprefix("!").strip()]:
            raise UsageError(f"{self.option} {empty[0]!r} is empty. Give a name, or a pattern such as '*[bot]'.")

    def __contains__(self, name: str) -> bool:
        if not self.patterns:
            return True
        chosen = [pattern for pattern in self.patterns if not pattern.startswith("!")]
        excluded = [pattern[1:] for pattern in self.patterns if pattern.startswith("!")]
        return (not chosen or any(_matches(each, name) for each in chosen)) and not any(
            _matches(each, name) for each in excluded
        )

    def check(self, names: Collection[str]) -> None:
        """UsageError for a pattern that matches none of these names, and where none is left."""
        there = f"There are {', '.join(names)}."
        for pattern in self.patterns:
            if not pattern.startswith("!") and not any(_matches(pattern, name) for name in names):
                meant = did_you_mean(pattern, names)
                raise UsageError(f"{self.option} {pattern!r} matches no name.{meant} {there}")
        if names and not any(name in self for name in names):
            raise UsageError(f"{self.option} leaves no name. {there}")


ALL_NAMES = Selection()


@lru_cache(maxsize=1024)
def _compiled(pattern: str) -> re.Pattern[str]:
    """The earliest place of what stands between two `*` is as good as any, so that none is taken back."""
    first, *others = (
        "".join("." if each == "?" else re.escape(each) for each in piece) for piece in pattern.casefold().split("*")
    )
    last = f".*{others.pop()}" if others else ""
    return re.compile(first + "".join(f"(?>.*?{piece})" for piece in others) + last, re.DOTALL)


def _matches(pattern: str, name: str) -> bool:
    return bool(_compiled(pattern).fullmatch(name.casefold()))
