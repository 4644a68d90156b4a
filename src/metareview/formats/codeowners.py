"""CODEOWNERS by GitHub's rules: one file for all, or a folder `owner/name/BASE_SHA/CODEOWNERS`.

The last pattern that matches a path decides, and with no owners behind it the path has none. A line that
GitHub calls invalid (`!`, `[ ]`, an owner that is neither @name nor an address) is skipped and counted.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import lru_cache
from pathlib import Path
from typing import Literal

from metareview.errors import InputError
from metareview.formats.source import Source

_LIMIT = 3 << 20  # GitHub does not load a larger file.
_FIELD = re.compile(r"(?:\\.|[^\s\\])+")
_OWNER = re.compile(r"@[A-Za-z0-9][\w-]*(?:/[\w.-]+)?|[^\s@]+@[^\s@]+\.[^\s@]+", re.ASCII)
_INVALID = re.compile(r"\A!|\A\\#|(?<!\\)[\[\]]|\*{3}")
_SHA = re.compile(r"[0-9a-fA-F]{4,64}")
_NAME = re.compile(r"[\w.-]+", re.ASCII)


class CodeOwners:
    """The rules of one CODEOWNERS file.

    >>> CodeOwners("*.py @ada\\n/docs/ @org/writers").owners("docs/a/conf.py")
    ('org/writers',)
    """

    def __init__(self, text: str) -> None:
        self.invalid: list[int] = []
        """The numbers of the lines that GitHub would skip."""
        self._rules: list[tuple[_Pattern, tuple[str, ...]]] = []
        for number, line in enumerate(text.splitlines(), 1):
            rule = self._rule(line)
            if rule is False:
                self.invalid.append(number)
            elif rule is not None:
                self._rules.append(rule)
        self._known: dict[str, tuple[str, ...]] = {}

    @staticmethod
    def _rule(line: str) -> tuple[_Pattern, tuple[str, ...]] | Literal[False] | None:
        """A rule; None for a blank line or a comment; False for an invalid line."""
        fields = [match[0] for match in _FIELD.finditer(line)]
        comment = next((at for at, field in enumerate(fields) if field.startswith("#")), len(fields))
        pattern, owners = fields[:1], fields[1:comment]
        if not comment:
            return None
        if _INVALID.search(pattern[0]) or not all(_OWNER.fullmatch(owner) for owner in owners):
            return False
        return _Pattern(pattern[0]), tuple(owner.removeprefix("@") for owner in owners)

    def owners(self, path: str) -> tuple[str, ...]:
        """The owners of a path in the order of its rule: logins, `org/team` and addresses."""
        if path not in self._known:
            parts = path.lstrip("/").split("/")
            matching = (owners for pattern, owners in reversed(self._rules) if pattern.matches(parts))
            self._known[path] = next(matching, ())
        return self._known[path]


class _Pattern:
    """A gitignore-like pattern as a list of segments, None standing for `**` (any number of folders).

    A pattern without a slash but at its end matches in any folder; any other from the root. A match of a
    folder is a match of everything in it, but for a last segment `*`, which matches files of that folder
    only.
    """

    def __init__(self, pattern: str) -> None:
        segments = pattern.split("/")
        if segments[0] == "" and len(segments) > 1:
            segments = segments[1:]
        elif len(segments) == 1 or (len(segments) == 2 and not segments[1]):
            segments = ["**", *segments]
        self._folder = segments[-1] == ""
        if self._folder:
            segments = segments[:-1]
        self._deep = not self._folder and bool(segments) and segments[-1] != "*"
        self._segments = [None if segment == "**" else _glob(segment) for segment in segments]

    def matches(self, parts: Sequence[str]) -> bool:
        segments = self._segments
        if not segments:
            return False
        if segments[-1] is None:  # `a/**` is what is in a, not a itself.
            return self._match(segments[:-1], parts, proper=True, deep=True) if segments[:-1] else True
        return self._match(segments, parts, proper=self._folder, deep=self._deep or self._folder)

    @staticmethod
    def _match(segments: Sequence[re.Pattern[str] | None], parts: Sequence[str], *, proper: bool, deep: bool) -> bool:
        """Whether the segments match the path (not if `proper`), or a folder above it (if `deep`).

        The set of positions that the segments so far can have reached: no backtracking, whatever the pattern.
        """
        reached = {0}
        for segment in segments:
            if segment is None:
                reached = set(range(min(reached), len(parts) + 1))
            else:
                reached = {at + 1 for at in reached if at < len(parts) and segment.fullmatch(parts[at])}
            if not reached:
                return False
        last = len(parts)
        return (last in reached and not proper) or (deep and any(at < last for at in reached))


@lru_cache(maxsize=4096)
def _glob(segment: str) -> re.Pattern[str]:
    """`*` any characters, `?` one, a backslash takes the next as it is."""
    pieces: list[str] = [""]
    escaped = False
    for character in segment:
        if escaped or character not in "\\*?":
            pieces[-1] += re.escape(character)
            escaped = False
        elif character == "\\":
            escaped = True
        elif character == "?":
            pieces[-1] += "."
        elif pieces[-1] or len(pieces) == 1:
            pieces.append("")
    first, *others = pieces
    if not others:
        return re.compile(first, re.DOTALL)
    # The earliest match of each piece is as good as any, so it need not be taken back: no blow-up.
    middle = "".join(f"(?>.*?{piece})" for piece in others[:-1])
    return re.compile(f"{first}{middle}.*{others[-1]}", re.DOTALL)


class OwnersByCommit:
    """Where a pull request's rules are: one file for all, or one for each repository and base commit."""

    def __init__(self, path: str | Path) -> None:
        self._path = Path(path)
        self._single = None if self._path.is_dir() else _read(self._path)
        self._by_commit: dict[tuple[str, str], CodeOwners | None] = {}

    def find(self, repo: str, base_sha: str | None) -> CodeOwners | None:
        """The rules that held for the pull request; None where the folder has none."""
        if self._single is not None:
            return self._single
        names = repo.split("/")
        # A history is not to be trusted with a path.
        if base_sha is None or not _SHA.fullmatch(base_sha) or not all(map(_is_name, names)):
            return None
        key = (repo, base_sha)
        if key not in self._by_commit:
            file = self._path.joinpath(*names, base_sha, "CODEOWNERS")
            self._by_commit[key] = _read(file) if file.is_file() else None
        return self._by_commit[key]


def _is_name(name: str) -> bool:
    return _NAME.fullmatch(name) is not None and name not in (".", "..")


def _read(path: Path) -> CodeOwners:
    source = Source(path)
    if len(source.data) >= _LIMIT:
        raise InputError("GitHub does not load a file of 3 MB or more", file=path, fix="Make it smaller.")
    return CodeOwners(source.text)
