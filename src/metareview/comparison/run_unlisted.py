"""The figures of a run with what the references lack, from what its folder holds."""

from __future__ import annotations

from metareview.comparison.corrected import correction_of
from metareview.comparison.unlisted import known_unlisted, unlisted_of
from metareview.comparison.unlisted_figures import UnlistedFigures, unlisted_figures
from metareview.model.label import Labels
from metareview.model.unlisted import Unlisted
from metareview.runs.labels import LabelFile
from metareview.runs.run import CommentsRun


def figures_of(run: CommentsRun) -> UnlistedFigures:
    """With the labels so far; the issues are grouped and drawn where that was not done before."""
    return _figures(run, unlisted_of(run))


def known_figures(run: CommentsRun) -> UnlistedFigures | None:
    """The same, where the issues were grouped before; None otherwise: grouping takes a while."""
    stored = known_unlisted(run)
    return None if stored is None else _figures(run, stored)


def _figures(run: CommentsRun, unlisted: Unlisted) -> UnlistedFigures:
    """Matches are as labels correct them, where they do."""
    labels = Labels() if run.folder is None else LabelFile(run.folder).read()
    return unlisted_figures(run, unlisted, labels, correction_of(run))
