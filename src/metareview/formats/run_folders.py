"""Folders of repeated runs: REVIEWER/run-1/…, REVIEWER/run-2/…"""

from __future__ import annotations

import re
from pathlib import Path

_RUN = re.compile(r"run-\d{1,9}", re.IGNORECASE)


def is_run_folder(name: str) -> bool:
    return _RUN.fullmatch(name) is not None


def names_its_pull_request(name: Path) -> bool:
    """Whether all of it is OWNER/REPO/NUMBER.ext."""
    return name.stem.partition(".")[0].isdecimal() and len(name.parts) == 3


def without_run(name: Path, *, repeat: bool) -> tuple[Path, str | None]:
    """A file's name within what was given, without the folder of its run, and that run.

    It stands below the reviewer's folder; with `repeat`, also where the reviewer's folder is what was given.

    >>> without_run(Path("claude/run-2/octo_shop_7.txt"), repeat=False)[1]
    'run-2'
    """
    folders = name.parts[:-1]
    if not repeat and names_its_pull_request(name):
        return name, None
    for at in (0, 1) if repeat else (1,):
        if len(folders) > at and is_run_folder(folders[at]):
            return Path(*name.parts[:at], *name.parts[at + 1 :]), folders[at].lower()
    return name, None
