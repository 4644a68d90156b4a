"""The versions of files as far as patches show them.

A version is a list of pieces: runs of lines that came into being together. The base branch's file is one endless piece
of lines that nobody has seen; a patch cuts it, takes lines out and puts its own in. A line keeps its identity through
all versions and branches, so what any patch shows of it is known wherever it stands, and two versions can be compared
without having either. A patch whose lines are not those that others show does not apply.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate, count

from metareview.model.comment import ChangedFile, normal_path
from metareview.outcomes.commits import NEVER, Commits
from metareview.outcomes.patches import UNCHANGED, Edit, Patch, parse_patch
from metareview.outcomes.reasons import DOES_NOT_APPLY, MALFORMED, NO_FILE, NO_FILES, NO_PATCH, TRUNCATED

ENDLESS = 1 << 32
"""More lines than a file has: how long a piece of unknown length is."""
_BLOCK = 1 << 33
_FEW_LINES = 1_000

Piece = tuple[int, int]
"""The identity of its first line, and how many there are; their identities follow one another."""


@dataclass(frozen=True)
class Version:
    pieces: tuple[Piece, ...] = ()
    exists: bool | None = None
    """None: nothing says so; the base branch may have such a file."""

    @cached_property
    def starts(self) -> list[int]:
        """At which line each piece begins, and after the last one how many lines there are."""
        return [0, *accumulate(size for _, size in self.pieces)]

    @cached_property
    def by_identity(self) -> list[tuple[int, int, int]]:
        """The pieces in the order of their identities, each with the line that it begins at."""
        return sorted((first, size, place) for (first, size), place in zip(self.pieces, self.starts, strict=False))

    @property
    def length(self) -> int | None:
        """The number of lines, where the whole file is known to have come from patches."""
        total = self.starts[-1]
        return total if total < ENDLESS // 2 else None

    def lines(self, start: int, end: int) -> list[int]:
        """The identities of the lines from `start` to before `end`."""
        found: list[int] = []
        for number in range(max(0, bisect_right(self.starts, start) - 1), len(self.pieces)):
            place, (first, size) = self.starts[number], self.pieces[number]
            if place >= end:
                break
            found += range(first + max(0, start - place), first + min(size, end - place))
        return found


ABSENT = Version(exists=False)


@dataclass(frozen=True, slots=True)
class Step:
    """What a commit did to a file: where it is then, and how its lines changed; `reason` where that is not known.

    With a reason, `patch` is the intact part. `path` is None where the file is gone.
    """

    path: str | None
    patch: Patch = UNCHANGED
    reason: str | None = None


class _Files:
    """What a commit did, by path."""

    __slots__ = ("by_path", "from_nowhere", "kind", "moved", "twice")

    def __init__(self, files: tuple[ChangedFile, ...]) -> None:
        self.by_path: dict[str, ChangedFile] = {}
        self.kind: dict[str, str] = {}
        self.moved: dict[str, str] = {}
        self.twice: set[str] = set()
        self.from_nowhere = False
        """Whether a file was renamed, and nothing says what it was called before."""
        for file in files:
            path = normal_path(file.path) or ""
            if path in self.by_path:
                self.twice.add(path)
            self.by_path[path] = file
            self.kind[path] = kind = kind_of(file)
            self.from_nowhere |= file.previous_path is None and _status(file) == "renamed"
            if kind == "renamed":
                self.moved[normal_path(file.previous_path) or ""] = path


_KINDS = {"a": "added", "d": "removed", "deleted": "removed", "r": "renamed", "c": "copied"}


def _status(file: ChangedFile) -> str:
    status = (file.status or "").strip().casefold()
    return _KINDS.get(status.rstrip("0123456789"), status)


def kind_of(file: ChangedFile) -> str:
    """What happened to a file: added, removed, renamed, copied, or anything else, which is a change in place."""
    status = _status(file)
    other = normal_path(file.previous_path)
    if other is None or other == normal_path(file.path):
        return "modified" if status in ("renamed", "copied") else status
    return status if status in ("copied", "added", "removed") else "renamed"


class Versions:
    """The files of a pull request's commits, read as they are asked for, each patch once."""

    def __init__(self, commits: Commits) -> None:
        self._commits = commits
        self._files: dict[int, _Files | None] = {}
        self._known: dict[tuple[int, str], Version] = {}
        self._bases: dict[tuple[str, str], Version] = {}
        self._patches: dict[tuple[int, str], Patch] = {}
        self._steps: dict[tuple[int, str], Step] = {}
        self._blocks = count(1)
        self._text: dict[int, str] = {}
        self._sorted: list[int] = []
        """The lines of which the text is known, by identity; made anew where there are more."""

    def text(self, line: int) -> str | None:
        """What a line says, where a patch shows it."""
        return self._text.get(line)

    def texts(self, version: Version, start: int, end: int) -> list[str | None]:
        return [self._text.get(line) for line in version.lines(start, end)]

    def shown(self, first: int, size: int) -> list[int]:
        """Those lines of a piece that patches show, in order."""
        if size < _FEW_LINES:
            return [line for line in range(first, first + size) if line in self._text]
        if len(self._sorted) < len(self._text):
            self._sorted = sorted(self._text)
        return self._sorted[bisect_left(self._sorted, first) : bisect_left(self._sorted, first + size)]

    def _changed(self, place: int) -> _Files | None:
        if place not in self._files:
            files = self._commits.commits[place].files
            self._files[place] = None if files is None else _Files(files)
        return self._files[place]

    def changes_file(self, place: int, path: str) -> bool:
        """Whether the commit changed a file of this name, as far as that is known to be ruled out."""
        files = self._changed(place)
        return files is None or path in files.by_path

    def added(self, place: int) -> list[str]:
        """The files that the commit put in."""
        files = self._changed(place)
        return [] if files is None else [path for path, kind in files.kind.items() if kind == "added"]

    def step(self, place: int, path: str) -> Step:
        """What the commit did to the file that was at `path` before it."""
        found = self._steps.get((place, path))
        if found is None:
            found = self._steps[place, path] = self._step(place, path)
        return found

    def _step(self, place: int, path: str) -> Step:
        files = self._changed(place)
        if files is None:
            return Step(path, reason=NO_FILES)
        target = files.moved.get(path)
        if target is None:
            file = files.by_path.get(path)
            if file is None:
                return Step(path, reason=NO_FILES if files.from_nowhere else None)
            if files.kind[path] in ("renamed", "copied", "added"):
                return Step(path, reason=DOES_NOT_APPLY)
            target = path
        self.version(place, target)
        patch = self._patches.get((place, target), UNCHANGED)
        if patch.reason is None and files.kind[target] == "removed":
            return Step(None, patch)
        return Step(target, patch, patch.reason)

    def step_back(self, place: int, path: str) -> Step:
        """What the commit did to the file that is at `path` after it; `Step.path` is where it was before."""
        files = self._changed(place)
        if files is None:
            return Step(path, reason=NO_FILES)
        file = files.by_path.get(path)
        if file is None:
            return Step(None, reason=NO_FILE) if path in files.moved else Step(path)
        self.version(place, path)
        patch = self._patches.get((place, path), UNCHANGED)
        kind = files.kind[path]
        if kind == "removed":
            return Step(None, reason=NO_FILE)
        before = normal_path(file.previous_path) if kind == "renamed" else None if kind in ("added", "copied") else path
        return Step(before, patch, patch.reason)

    def before(self, place: int, path: str) -> Version:
        """The file at `path` before the commit."""
        parent = self._commits.parent[place]
        return self._base(self._commits.root[place], path) if parent == NEVER else self.version(parent, path)

    def version(self, place: int, path: str) -> Version:
        """The file at `path` after the commit."""
        commits, waiting = self._commits, []
        while True:
            found = self._known.get((place, path))
            if found is not None:
                break
            waiting.append((place, path))
            files, parent = self._changed(place), commits.parent[place]
            if files is not None and files.kind.get(path) in ("renamed", "copied"):
                path = normal_path(files.by_path[path].previous_path) or ""
            if parent == NEVER:
                found = self._base(commits.root[place], path)
                break
            place = parent
        for place, path in reversed(waiting):
            found = self._known[place, path] = self._after(place, path, found)
        return found

    def _base(self, root: str, path: str) -> Version:
        if (root, path) not in self._bases:
            self._bases[root, path] = self._unseen(None)
        return self._bases[root, path]

    def _unseen(self, exists: bool | None) -> Version:
        return Version(((next(self._blocks) * _BLOCK, ENDLESS),), exists)

    def _after(self, place: int, path: str, before: Version) -> Version:
        """The version that the commit makes of the one before."""
        files = self._changed(place)
        if files is None:
            return self._unseen(None)
        file = files.by_path.get(path)
        if file is None:
            return ABSENT if path in files.moved else before
        kind = files.kind[path]
        if path in files.twice:
            patch = Patch(reason=MALFORMED)
        elif file.patch is None:
            patch = Patch(reason=None if kind == "unchanged" else NO_PATCH)
        else:
            patch = parse_patch(file.patch)
        after, patch = self._applied(kind, before, patch)
        self._patches[place, path] = patch
        return after

    def _applied(self, kind: str, before: Version, patch: Patch) -> tuple[Version, Patch]:
        """The next version, and the patch with whatever else is wrong with it."""
        contradicted = before.exists is (kind == "added")
        if kind == "added":
            contradicted |= any(hunk.before for hunk in patch.hunks)
            before = Version((), True)
        shown = None if contradicted else self._shown(before, patch)
        if shown is None:
            return self._unseen(True), Patch(reason=DOES_NOT_APPLY)
        self._text.update(shown)
        if kind == "removed" and patch.reason in (None, TRUNCATED, NO_PATCH):
            return ABSENT, Patch(patch.hunks)  # Its status says all, however little the patch shows.
        if patch.reason is not None:
            return self._unseen(True), patch
        return Version(self._spliced(before.pieces, patch), True), patch

    def _shown(self, before: Version, patch: Patch) -> dict[int, str] | None:
        """What the patch shows of the lines before; None where others show something else, or no such lines."""
        shown: dict[int, str] = {}
        known = self._text
        length = before.length
        for hunk in patch.hunks:
            if length is not None and hunk.old > length:
                return None
            lines = before.lines(hunk.old, hunk.old + len(hunk.before))
            if len(lines) < len(hunk.before):
                return None
            for line, text in zip(lines, hunk.before, strict=True):
                if known.get(line, text) != text:
                    return None
                shown[line] = text
        return shown

    def _spliced(self, pieces: tuple[Piece, ...], patch: Patch) -> tuple[Piece, ...]:
        block = next(self._blocks) * _BLOCK
        text = self._text
        # An edit may be a part of a hunk: its lines are found by their place after the patch.
        hunks = iter(patch.hunks)
        hunk = next(hunks, None)
        for edit in patch.edits:
            while hunk is not None and edit.new + edit.added > hunk.new + len(hunk.after):
                hunk = next(hunks, None)
            if hunk is not None:
                for line in range(edit.new, edit.new + edit.added):
                    text[block + line] = hunk.after[line - hunk.new]
        return splice(pieces, patch.edits, block)


def splice(pieces: tuple[Piece, ...], edits: tuple[Edit, ...], block: int) -> tuple[Piece, ...]:
    """The pieces after the edits; a line that they add is `block` plus its place then."""
    result: list[Piece] = []
    which, inside, place = 0, 0, 0
    for edit in edits:
        for end, kept in ((edit.old, True), (edit.old + edit.removed, False)):
            while place < end and which < len(pieces):
                first, size = pieces[which]
                taken = min(size - inside, end - place)
                if kept:
                    result.append((first + inside, taken))
                place, inside = place + taken, inside + taken
                if inside == size:
                    which, inside = which + 1, 0
        if edit.added:
            result.append((block + edit.new, edit.added))
    if which < len(pieces):
        first, size = pieces[which]
        result.append((first + inside, size - inside))
        result += pieces[which + 1 :]
    return tuple(result)
