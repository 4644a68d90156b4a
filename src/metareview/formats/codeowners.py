"""CODEOWNERS by GitHub's rules: one file for all, or a folder `owner/name/BASE_SHA/CODEOWNERS`.

The last pattern that matches a path decides, and with no owners behind it the path has none. A line that GitHub calls
invalid (`!`, `[ ]`, an owner that is neither @name nor an address) is skipped and counted.
"""

from __future__ import annotations

import re
from functools import lru_cache
from pathlib import Path

from metareview.errors import InputError
from metareview.formats.input_file import InputFile

_LIMIT = 3 << 20  # GitHub does not load a larger file.
_FIELD = re.compile(r"(?:\\.|[^\s\\])+")
_OWNER = re.compile(r"@[A-Za-z0-9][\w-]*(?:/[\w.-]+)?|[^\s@]+@[^\s@][^\s@.]*\.[^\s@]+", re.ASCII)
_INVALID = re.compile(r"\A!|\A\\#|(?<!\\)[\[\]]|\*{3}")
_SHA = re.compile(r"[0-9a-fA-F]{4,64}")
_NAME = re.compile(r"(?!\.{1,2}\Z)[\w.-]+", re.ASCII)


class CodeOwners:
    """The rules of one CODEOWNERS file.

    >>> CodeOwners("*.py @ada\\n/docs/ @org/writers").owners("docs/a/conf.py")
    ('org/writers',)
    """

    def __init__(self, text: str) -> None:
        self.invalid: list[int] = []
        """The numbers of the lines that GitHub would skip."""
        self._rules: list[tuple[re.Pattern[str], tuple[str, ...]]] = []
        self._known: dict[str, tuple[str, ...]] = {}
        for number, line in enumerate(text.splitlines(), 1):
            fields = _FIELD.findall(line)
            comment = next((at for at, field in enumerate(fields) if field.startswith("#")), len(fields))
            pattern, owners = fields[:1], fields[1:comment]
            if not comment:
                continue
            if _INVALID.search(pattern[0]) or not all(map(_OWNER.fullmatch, owners)):
                self.invalid.append(number)
            else:
                self._rules.append((_compile(pattern[0]), tuple(owner.removeprefix("@") for owner in owners)))

    def owners(self, path: str) -> tuple[str, ...]:
        """The owners of a path in the order of its rule: logins, `org/team` and addresses."""
        if path not in self._known:
            bare = path.lstrip("/")
            self._known[path] = next((owners for rule, owners in reversed(self._rules) if rule.match(bare)), ())
        return self._known[path]


@lru_cache(maxsize=4096)
def _compile(pattern: str) -> re.Pattern[str]:
    """A gitignore-like pattern as a regular expression for the beginning of a path.

    A pattern without a slash but at its end matches in any folder; any other from the root. A match of a folder is a
    match of everything in it, but for a last segment `*`, which matches files of that folder only. `**` is any number
    of folders. The earliest match of what is between two `**` is as good as any, and so it is between two `*` of a
    segment: none need be taken back, so that no pattern blows up.
    """
    segments = pattern.split("/")
    if len(segments) == 1 or (len(segments) == 2 and segments[0] and not segments[1]):
        segments = ["**", *segments]
    elif not segments[0]:
        del segments[0]
    end = {"": "/", "*": r"\Z"}.get(segments[-1], r"(?:/|\Z)")
    if not segments[-1]:
        segments.pop()
    runs: list[list[str]] = [[]]
    for segment in segments:
        if segment == "**":
            runs.append([])
        else:
            runs[-1].append(_glob(segment))
    pieces = ["".join(f"{segment}/" for segment in run) for run in runs]
    if runs[-1]:
        pieces[-1] = pieces[-1].removesuffix("/") + end
    elif len(runs) == 1:
        pieces = ["(?!)"]  # The pattern `/` matches nothing.
    return re.compile(pieces[0] + "".join(f"(?>(?:[^/]*/)*?{piece})" for piece in pieces[1:]))


def _glob(segment: str) -> str:
    """`*` any characters, `?` one, a backslash takes the next as it is."""
    pieces: list[list[str]] = [[]]
    for atom in re.findall(r"\\.?|\*+|[^\\*]", segment):
        if atom[0] == "*":
            pieces.append([])
        else:
            pieces[-1].append("[^/]" if atom == "?" else re.escape(atom.removeprefix("\\")))
    first, *middle = map("".join, pieces)
    last = f"[^/]*{middle.pop()}" if middle else ""
    return first + "".join(f"(?>[^/]*?{piece})" for piece in middle) + last


class OwnersByCommit:
    """Where a pull request's rules are: one file for all, or one for each repository and base commit."""

    def __init__(self, path: str | Path, read: list[InputFile] | None = None) -> None:
        """Adds a file that is no folder to `read`."""
        self._path = Path(path)
        self._single = None
        if not self._path.is_dir():
            file = InputFile(path)
            self._single = _read(file)
            if read is not None:
                read.append(file)
        self._by_commit: dict[tuple[str, str], CodeOwners | None] = {}

    def find(self, repo: str, base_sha: str | None) -> CodeOwners | None:
        """The rules that held for the pull request; None where the folder has none."""
        if self._single is not None:
            return self._single
        names = repo.split("/")
        # A history is not to be trusted with a path.
        if base_sha is None or not _SHA.fullmatch(base_sha) or not all(map(_NAME.fullmatch, names)):
            return None
        key = (repo, base_sha)
        if key not in self._by_commit:
            file = self._path.joinpath(*names, base_sha, "CODEOWNERS")
            self._by_commit[key] = _read(InputFile(file)) if file.is_file() else None
        return self._by_commit[key]


def _read(file: InputFile) -> CodeOwners:
    if len(file.data) >= _LIMIT:
        raise InputError("GitHub does not load a file of 3 MB or more", file=file.name, fix="Make it smaller.")
    return CodeOwners(file.text)
