"""Warnings about what was corrected while a file was read: the first of each kind with their lines, then a count."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

_LOCATED = 10
_MORE = " more like this: "


@dataclass(slots=True)
class ReadWarnings:
    """The warnings of one file or part of a file; those of later parts are added in order."""

    counts: Counter[str] = field(default_factory=Counter)
    """By kind."""
    located: list[tuple[str, str]] = field(default_factory=list)
    """The kind, and a sentence with its place."""

    def add(self, kind: str, sentence: Callable[[], str]) -> None:
        """Past ten of a kind only their number is kept."""
        self.counts[kind] += 1
        if self.counts[kind] <= _LOCATED:
            self.located.append((kind, sentence()))

    def add_sentence(self, sentence: str) -> None:
        """Add a warning about the file as a whole."""
        self.located.append((sentence, sentence))

    def __iadd__(self, other: ReadWarnings) -> ReadWarnings:
        shown = Counter(kind for kind, _ in self.located)
        for kind, sentence in other.located:
            shown[kind] += 1
            if shown[kind] <= _LOCATED:
                self.located.append((kind, sentence))
        self.counts.update(other.counts)
        return self

    def lines(self, name: str) -> list[str]:
        """The lines to show for the file of this name."""
        more = [(kind, count - _LOCATED) for kind, count in self.counts.items() if count > _LOCATED]
        sentences = [sentence for _, sentence in self.located]
        return sentences + [f"{name}: {count}{_MORE}{kind}" for kind, count in more]


def stands_for(line: str) -> int:
    """How many warnings a line of `ReadWarnings.lines` stands for.

    >>> stands_for("a.json: 15 more like this: a field that cannot be read"), stands_for("a.json:3: no text")
    (15, 1)
    """
    number = line.partition(_MORE)[0].rpartition(" ")[2] if _MORE in line else ""
    return int(number) if number.isdecimal() else 1
