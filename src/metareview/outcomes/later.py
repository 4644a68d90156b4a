"""The later change of a comment, as text: what the commits after it did, first to its own file and near its lines.

Which commits are later, whose count, which follow which, and which changed the comment's lines are the same questions
as for `lines_changed`, and have the same answers: lines that changed are never without the change.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import NamedTuple

from metareview.model.comment import ChangedFile, Comment, Commit, normal_path
from metareview.model.time import instant
from metareview.model.words import one_line, plural
from metareview.outcomes.commits import NEVER, Commits
from metareview.outcomes.versions import kind_of
from metareview.outcomes.watch import Watch

LENGTH = 8_000
"""About how many characters of a change are kept."""
_HEADER = re.compile(r"^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@", re.ASCII | re.MULTILINE)
_BEFORE = 12
"""Lines of a large hunk that are kept before those that a comment points at."""
_SHORTEST = 200
"""With less room than that a hunk is not begun."""
_LONGEST_LINE = 400
_LONG = re.compile(rf"([^\n]{{{_LONGEST_LINE}}})[^\n]+")
_EDITED = re.compile(r"^[+-].*", re.MULTILINE)
_BREAKS_OFF = "[… the patch breaks off here]"
_TAKEN_BACK = "(a force push took back earlier changes of these lines)"
Edits = tuple[str | None, int]


@dataclass(frozen=True, slots=True)
class Part:
    """One part of a patch."""

    old: int
    """Its first line before the change; where it only adds, the line that it adds behind."""
    old_lines: int
    new_lines: int
    broken: bool
    """Whether it has fewer lines than its header says: a patch that was cut."""
    text: str
    """Its header and what follows, very long lines cut, with a mark where it is broken."""

    @property
    def lines(self) -> list[str]:
        return self.text.removesuffix(f"\n{_BREAKS_OFF}").split("\n")

    @property
    def last(self) -> int:
        return self.old + max(0, self.old_lines - 1)

    def distance(self, span: tuple[int, int]) -> int:
        """How many lines lie between it and these."""
        return max(0, self.old - span[1], span[0] - self.last)


def parts_of(patch: str) -> list[Part]:
    """The parts of a patch; what stands before the first header is passed over."""
    headers = list(_HEADER.finditer(patch))
    ends = [*(header.start() for header in headers[1:]), len(patch)][: len(headers)]
    return [_part(header, patch[header.start() : end].rstrip("\n")) for header, end in zip(headers, ends, strict=True)]


def _part(header: re.Match[str], text: str) -> Part:
    old, old_lines, _, new_lines = (1 if part is None else int(part) for part in header.groups())
    added, removed = text.count("\n+"), text.count("\n-")
    kept = text.count("\n") - added - removed - text.count("\n\\")
    broken = kept + removed < old_lines or kept + added < new_lines
    text = _LONG.sub(lambda line: f"{line[1]} […]", text)
    return Part(old, old_lines, new_lines, broken, f"{text}\n{_BREAKS_OFF}" if broken else text)


class _Changed(NamedTuple):
    """What a commit did to a file, looked at once for all comments."""

    file: ChangedFile
    path: str | None
    old_path: str | None
    """What it was called before, where it was renamed."""
    parts: list[Part]
    edits: Edits
    """What tells one change of a file from another, wherever in the file it is."""

    @classmethod
    def of(cls, file: ChangedFile, *, compared: bool) -> _Changed:
        """`compared`: whether it must be told from other changes."""
        parts = parts_of(file.patch) if file.patch else []
        lines = (line for part in parts if compared for line in _EDITED.findall(part.text))
        path = normal_path(file.path)
        old_path = normal_path(file.previous_path) if kind_of(file) == "renamed" else None
        return cls(file, path, old_path, parts, (path, hash(tuple(lines))))


class _Piece(NamedTuple):
    """A part of a later commit's patch, or a sentence on a file that has none."""

    commit: str
    file: ChangedFile
    distance: float
    """From the lines of the comment, in its own file; infinite in another."""
    first: int | None
    """Where the comment's lines begin by then, in its own file."""
    part: Part | str


class _EditsMade:
    """Which commits made the same edits, to tell copies of a commit, as after a rebase."""

    def __init__(self, commits: Commits) -> None:
        self._commits = commits
        self._made: dict[Edits, dict[int, int]] = {}
        """By edits, the commits that make them, and how often those that each comes from made them before."""

    def add(self, place: int, edits: Edits) -> None:
        self._made.setdefault(edits, {})[place] = self._made_before(place, edits)

    def is_copy(self, place: int, edits: Edits) -> bool:
        """Whether commits that this one does not come from made the edits as often as it and those that it comes from;
        more often, it puts back what was taken out between."""
        made = self._made.get(edits)
        if not made:
            return False
        chain, before = set(self._commits.chain(place)), self._made_before(place, edits)
        return any(other not in chain and earlier >= before for other, earlier in made.items())

    def _made_before(self, place: int, edits: Edits) -> int:
        made = self._made.get(edits)
        return len(made.keys() & self._commits.chain(place)) - (place in made) if made else 0


class LaterChanges:
    """The commits of one pull request, looked at from one comment after the other."""

    def __init__(self, commits: Sequence[Commit] | None, *, until: str | None = None) -> None:
        """`until`: the merge or the close; what is dated after it is no answer to a comment."""
        self._given, self._until = commits, until
        self._commits: Commits | None = None
        self._straight = False
        """Whether each commit follows the one before it, so that none can be a copy of another."""
        self._changed: dict[int, list[_Changed]] = {}

    def text(
        self,
        comment: Comment,
        reviewer: str | None = None,
        *,
        pr_author: str | None = None,
        changed_by: Collection[str] = (),
        most: int = LENGTH,
    ) -> str | None:
        """What later commits changed, in about `most` characters: the comment's own file first, what is nearest to its
        lines before the rest, then other files. Empty where nothing was changed; None where the data cannot tell.

        Merges are no answer to a comment, nor is what its author did. A change that was there before the comment, and
        is there again under another hash, as after a rebase, is none, unless it changed the comment's lines:
        `changed_by` names the commits that did.
        """
        if self._given is None:
            return None
        if self._commits is None:
            self._commits = Commits(self._given, self._until)
            self._straight = all(parent == place - 1 for place, parent in enumerate(self._commits.parent))
        commits = self._commits
        anchor = commits.anchor(comment)
        if commits.circular:
            return None
        if isinstance(anchor, str):
            # Its commit is gone, as after a force push: then dates alone tell what came after it.
            if instant(comment.at) is None or None in commits.at:
                return None
            anchor = NEVER
        watch = Watch(commits, comment, reviewer, pr_author, anchor)
        pieces = self._pieces(comment, commits, watch, changed_by)
        return None if pieces is None else _fitted(sorted(pieces, key=lambda piece: piece.distance), most)

    def _pieces(
        self, comment: Comment, commits: Commits, watch: Watch, changed_by: Collection[str]
    ) -> list[_Piece] | None:
        """In the order of the commits; None where it is not known what one did, or what it did to the comment's own
        file."""
        path, (first, last) = normal_path(comment.path), comment.span
        anywhere = comment.from_line is None and comment.to_line is None
        places = range(len(commits.commits))
        is_later = [watch.is_later(place) for place in places]
        made = _EditsMade(commits)
        for place in () if self._straight else places:
            if not is_later[place] and not commits.is_merge(place):
                for each in self._changed_by(commits, place):
                    made.add(place, each.edits)
        pieces: list[_Piece] = []
        for place in places:
            if not is_later[place]:
                continue
            commit, counts = commits.commits[place], watch.counts(place)
            if commit.files is None:
                if counts:
                    return None
                continue
            shift = 0
            for each in self._changed_by(commits, place):
                file, parts = each.file, each.parts
                own = path is not None and path in (each.path, each.old_path)
                again = bool(parts) and commit.sha not in changed_by and made.is_copy(place, each.edits)
                if counts and not again:
                    if own and not parts and _says_nothing(file):
                        return None
                    begin = first if own and not anywhere else None
                    for part in parts or (_without_patch(file),):
                        near = 0 if anywhere or isinstance(part, str) else part.distance((first, last))
                        pieces.append(_Piece(commit.sha, file, near if own else float("inf"), begin, part))
                if counts and not self._straight:
                    made.add(place, each.edits)
                if own and not again:
                    path = each.path
                    shift += sum(part.new_lines - part.old_lines for part in parts if part.last < first)
            first, last = max(1, first + shift), max(1, last + shift)
        shown = {piece.commit for piece in pieces if piece.distance < float("inf")}
        named = ChangedFile(path or comment.path or "")
        return pieces + [_Piece(sha, named, 0, None, _TAKEN_BACK) for sha in changed_by if sha not in shown]

    def _changed_by(self, commits: Commits, place: int) -> list[_Changed]:
        found = self._changed.get(place)
        if found is None:
            files = commits.commits[place].files or ()
            found = self._changed[place] = [_Changed.of(file, compared=not self._straight) for file in files]
        return found


def _says_nothing(file: ChangedFile) -> bool:
    """Whether nobody can tell what was done to a file: it has no patch, and was not simply removed."""
    return file.patch is None and kind_of(file) not in ("removed", "unchanged")


def _without_patch(file: ChangedFile) -> str:
    if kind_of(file) == "removed":
        return "(the file was removed)"
    return "(its lines stayed as they were)" if file.patch is not None else "(changed; its patch is not known)"


def _fitted(pieces: Sequence[_Piece], most: int) -> str:
    """The pieces in their order, as far as there is room, with marks where something was cut."""
    kept: list[str] = []
    room = most
    title = ""
    for number, piece in enumerate(pieces):
        head = _title(piece.commit, piece.file.path, piece.file.previous_path)
        text = _text(piece, room)
        size = len(text) + 1 + (len(head) + 1 if head != title else 0)
        if size > room and number > 0:
            left = pieces[number:]
            files = len({(each.commit, each.file.path) for each in left})
            kept.append(f"[… cut: {plural(len(left), 'more part')} of the change, in {plural(files, 'file')}]")
            break
        kept += [head, text] if head != title else [text]
        title, room = head, room - size
    return "\n".join(kept)


@lru_cache(maxsize=4096)
def _title(commit: str, path: str, previous: str | None) -> str:
    renamed = f" (from {one_line(previous, 200)})" if previous else ""
    return f"=== commit {one_line(commit, 40)[:10]}: {one_line(path, 200)}{renamed}"


def _text(piece: _Piece, room: int) -> str:
    """A piece; of one that is larger than what is left, the lines from near the comment's on."""
    part = piece.part
    if isinstance(part, str):
        return part
    if len(part.text) < room or room < _SHORTEST:
        return part.text
    lines = part.lines
    start = _near(part, lines, piece.first)
    kept = [lines[0]]
    if start > 1:
        kept.append(f"[… cut: {plural(start - 1, 'line')}]")
    left = room - _SHORTEST
    for at in range(start, len(lines)):
        left -= len(lines[at]) + 1
        if left < 0:
            kept.append(f"[… cut: {plural(len(lines) - at, 'more line')}]")
            break
        kept.append(lines[at])
    return "\n".join([*kept, _BREAKS_OFF] if part.broken else kept)


def _near(part: Part, lines: Sequence[str], first: int | None) -> int:
    """From which line of a large part on it is shown: a little before those that the comment points at."""
    if first is None:
        return 1
    old = part.old
    for at, line in enumerate(lines[1:], 1):
        if old >= first:
            return max(1, at - _BEFORE)
        old += line[:1] in (" ", "-", "")
    return 1
