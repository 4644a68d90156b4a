"""Where a judge and labels differ, in lines for a terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, set_cell_size

from metareview.benchmark.disagreements import Disagreement
from metareview.model.words import format_score, plural
from metareview.report.names import printable

_VERDICTS = {True: "the same", False: "different"}


def worst_first(top: int) -> str:
    """Which of many are listed, as the end of a sentence."""
    return "; the worst one" if top == 1 else f"; the {top:,} worst first"


def disagreement_lines(
    found: Sequence[Disagreement], judge: str, labels: int, *, top: int, width: int
) -> Iterator[str]:
    """How many there are, and of the first few the verdicts, both notes on a line each, the reason and the group."""
    some = worst_first(top) if 0 < top < len(found) else ""
    yield f"{judge} and the labels differ on {len(found):,} of {plural(labels, 'pair')}{some}"
    for number, each in enumerate(found[:top], 1):
        pair = each.pair
        said = "undecided" if pair.match is None else _VERDICTS[pair.match]
        score = "" if pair.score is None else f" ({format_score(pair.score)})"
        head = f"{number:>3}. labelled {_VERDICTS[pair.label]}, {judge}: {said}{score}"
        yield _cut(head, width)
        for name, text in (
            ("reference", pair.reference),
            ("comment", pair.candidate),
            ("reason", pair.reason),
            ("group", pair.group or ""),
        ):
            if text:
                yield _cut(f"     {name:<9}  {' '.join(text[: 4 * width].split())}", width)


def _cut(text: str, width: int) -> str:
    """As much of it as one line of the terminal holds."""
    line = printable(text)
    return line if cell_len(line) <= width else set_cell_size(line, max(1, width - 1)).rstrip() + "…"
