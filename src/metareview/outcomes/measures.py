"""The rates of outcomes: each is a share of the comments of which the data can tell."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np

from metareview.model.addressed import FULLY, NOT
from metareview.model.measure import Measure, Sums, ratio
from metareview.outcomes.records import FINDINGS, CommentOutcome

ADDRESSED, FULLY_ADDRESSED = "addressed", "addressed_fully"


def _share(column: int, name: str, definition: str, *, lower_is_better: bool = False, needs: str = "") -> Measure:
    """Column `2 * column` counts the comments of which it is true, the next one those of which the data can tell."""

    def parts(sums: Sums) -> tuple[Sums, Sums]:
        return sums[..., 2 * column], sums[..., 2 * column + 1]

    return Measure(
        name,
        name,
        name.replace("_", " "),
        definition,
        lambda sums: ratio(*parts(sums)),
        parts,
        lower_is_better=lower_is_better,
        needs=needs,
    )


_DEFINITIONS = {
    "lines_changed": "Of the comments on lines, the share of which a line was changed or removed, or lines were added"
    " between them, by a later commit of the pull request.",
    "suggestion_taken": "Of the comments with a suggestion, the share whose suggested text is in the final state.",
    "resolved": "Of the comments that begin a thread, the share whose thread was resolved.",
    "answered": "Of the comments that begin a thread, the share that somebody else replied to.",
    "liked": "Of the comments whose reactions are known, the share with a thumbs up, a heart, a rocket or a hooray.",
    "disliked": "Of the comments whose reactions are known, the share with a thumbs down or a confused face.",
    "repeated": "Of the comments, the share that say again what this reviewer said before on the pull request.",
    ADDRESSED: "Of the comments that the judge could decide, the share that a later change addresses, fully or partly.",
    FULLY_ADDRESSED: "Of the comments that the judge could decide, the share that a later change addresses fully.",
}
_LOWER_IS_BETTER = ("disliked", "repeated")
MEASURES: Sequence[Measure] = tuple(
    _share(
        column,
        name,
        definition,
        lower_is_better=name in _LOWER_IS_BETTER,
        needs=ADDRESSED if name in (ADDRESSED, FULLY_ADDRESSED) else "",
    )
    for column, (name, definition) in enumerate(_DEFINITIONS.items())
)
COLUMNS = 2 * len(MEASURES)


def measured(*, addressed: bool) -> tuple[Measure, ...]:
    """The measures that mean something in a run."""
    return tuple(measure for measure in MEASURES if addressed or not measure.needs)


def counts_of(comments: Iterable[CommentOutcome]) -> Sums:
    """One row: for each measure of how many comments it is true, and of how many the data can tell."""
    row = np.zeros(COLUMNS)
    for comment in comments:
        values = [getattr(comment, name).value for name in FINDINGS]
        told = comment.addressed
        values += [None, None] if told is None else [told != NOT, told == FULLY]
        for column, value in enumerate(values):
            if value is not None:
                row[2 * column] += value
                row[2 * column + 1] += 1
    return row
