"""Links in the place of a run's folder or of a file in it: they may lead anywhere, and are never written through."""

from __future__ import annotations

from pathlib import Path

from metareview.runs.files import EXAMPLES, MANIFEST, PAIRS, PARTS, RESULTS, SUMMARY, VERDICT_FILES, is_a_link
from metareview.runs.labels import FRAME, LABELS, UNLISTED
from metareview.runs.parts import parts_of

_LINES = (RESULTS, PAIRS)
_OURS = (MANIFEST, *_LINES, SUMMARY, EXAMPLES, LABELS, FRAME, UNLISTED, PARTS, *VERDICT_FILES)


def refuse_links(folder: Path) -> None:
    """UsageError where the folder, or something in it that has a name of ours, is a link. Folders above it may be."""
    if folder.is_symlink():
        raise is_a_link(folder, "Name the folder that it leads to, or another one.")
    for name in (*_OURS, *(parts_of(Path(name)).name for name in _LINES)):
        if (folder / name).is_symlink():
            raise is_a_link(folder / name)
