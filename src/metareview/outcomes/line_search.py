"""Search for a run of lines among others, in bounded time however many lines are equal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence


def occurrences(texts: Sequence[str | None], wanted: Sequence[str]) -> Iterator[int]:
    """Where the wanted lines stand in a text, in order; a line that is None may be any.

    Bit by bit, one number holds how much of the wanted lines ends at a line (the shift-and search).

    >>> list(occurrences(["a", "b", "a", None, "b"], ["a", "b"]))
    [0, 2]
    """
    places: dict[str | None, int] = {}
    for place, line in enumerate(wanted):
        places[line] = places.get(line, 0) | 1 << place
    places[None] = (1 << len(wanted)) - 1
    last = len(wanted) - 1
    state = 0
    for end, text in enumerate(texts):
        state = (state << 1 | 1) & places.get(text, 0)
        if state >> last:
            yield end - last
