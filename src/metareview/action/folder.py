"""The folder `out`: the Action writes into files and folders that it made itself, whatever a pull request put there.

A checkout may hold a finished run with figures of its choice, or a link that leads out of the workspace, under any name
that the Action writes. So each of these names is removed first, no link is followed, and nothing else is touched.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path

from metareview.errors import UsageError

RUN, BASELINE, COMPARISON = "current", "baseline", "comparison.json"
"""Where reviewers have the same names, sentences tell them apart by those of the folders."""
REPORT, REPORT_TEXT, COMMENT, PULLED = "report.html", "report.md", "comment.md", "comments.jsonl"
NAMES = (RUN, BASELINE, COMPARISON, REPORT, REPORT_TEXT, COMMENT, PULLED, f"{PULLED}.partial")
_FIX = "Set out to another folder."


def make_out(out: Path, used: Iterable[str], written: Collection[str], environ: Mapping[str, str]) -> None:
    """Make the folder, and remove what stands there under our names.

    `used` are the inputs that may name files: one that stands under a name of ours stays where this use of the Action
    does not write that name; UsageError where it does, or where a link is on the way.
    """
    _make_folders(out, environ)
    inputs = [(text, _lexical(text)) for text in used]
    for name in NAMES:
        path = out / name
        place = _lexical(path)
        overlaps = [text for text, file in inputs if file.is_relative_to(place) or place.is_relative_to(file)]
        if not os.path.lexists(path):
            continue
        if not overlaps:
            _remove(path)
        elif name in written:
            raise UsageError(f"{path} is written anew, and the input {overlaps[0]} is part of it. {_FIX}")


def _make_folders(out: Path, environ: Mapping[str, str]) -> None:
    """Folders above the workspace may be links: those are not the pull request's."""
    place = _lexical(out)
    for root in (Path.cwd(), _lexical(environ.get("GITHUB_WORKSPACE") or ".")):
        if place.is_relative_to(root):
            inner = place.relative_to(root).parts
            for depth in range(1, len(inner) + 1):
                folder = root.joinpath(*inner[:depth])
                if folder.is_symlink():
                    shown = Path(*inner[:depth])
                    raise UsageError(f"{shown} is a link, and the Action writes through none. Delete it. Or: {_FIX}")
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise UsageError(f"Cannot write to {out}: {error.strerror}. {_FIX}") from None


def _lexical(path: str | Path) -> Path:
    """The absolute path, with no link followed."""
    return Path(os.path.abspath(path))  # noqa: PTH100


def _remove(path: Path) -> None:
    try:
        if path.is_dir() and not path.is_symlink():
            shutil.rmtree(path)
        else:
            path.unlink(missing_ok=True)
    except OSError as error:
        raise UsageError(f"{path} cannot be removed: {error.strerror}. {_FIX}") from None
