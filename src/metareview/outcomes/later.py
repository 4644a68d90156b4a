"""The later change of a comment, as text: what the commits after it did, first to its own file and near its lines."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from metareview.model.comment import ChangedFile, Comment, Commit, normal_path
from metareview.model.time import parse_time
from metareview.model.words import one_line, plural
from metareview.outcomes.summary import is_bot

LENGTH = 8_000
"""About how many characters of a change are kept."""
_HEADER = re.compile(r"^@@ -(\d{1,9})(?:,(\d{1,9}))? \+(\d{1,9})(?:,(\d{1,9}))? @@", re.ASCII)
_BEFORE = 12
"""Lines of a large hunk that are kept before those that a comment points at."""
_SHORTEST = 200
"""With less room than that a hunk is not begun."""
_LONGEST_LINE = 400
_BOT = "[bot]"


@dataclass(frozen=True, slots=True)
class Hunk:
    """One part of a patch."""

    old: int
    """Its first line before the change; where it only adds, the line that it adds behind."""
    old_lines: int
    new_lines: int
    lines: tuple[str, ...]
    """Its header and what follows."""
    broken: bool
    """Whether it has fewer lines than its header says: a patch that was cut."""

    @property
    def last(self) -> int:
        return self.old + max(0, self.old_lines - 1)

    def distance(self, span: tuple[int, int]) -> int:
        """How many lines lie between it and these."""
        return max(0, self.old - span[1], span[0] - self.last)


def hunks_of(patch: str) -> list[Hunk]:
    """The parts of a patch; what stands before the first header is passed over."""
    found: list[Hunk] = []
    header: re.Match[str] | None = None
    body: list[str] = []
    for line in patch.split("\n"):
        begins = _HEADER.match(line)
        if begins is not None:
            if header is not None:
                found.append(_hunk(header, body))
            header, body = begins, []
        body.append(line)
    if header is not None:
        found.append(_hunk(header, body))
    return found


def _hunk(header: re.Match[str], body: list[str]) -> Hunk:
    while body and not body[-1]:
        body.pop()  # the end of the patch, not a line of it
    old, old_lines, _, new_lines = (1 if part is None else int(part) for part in header.groups())
    before = sum(line[:1] in (" ", "-", "") for line in body[1:])
    after = sum(line[:1] in (" ", "+", "") for line in body[1:])
    return Hunk(old, old_lines, new_lines, tuple(body), before < old_lines or after < new_lines)


@dataclass(frozen=True, slots=True)
class _Piece:
    """A hunk of a later commit, or a sentence on a file that has none."""

    commit: str
    file: ChangedFile
    distance: float
    """From the lines of the comment, in its own file; infinite in another."""
    first: int | None
    """Where the comment's lines begin by then, in its own file."""
    hunk: Hunk | None
    lines: tuple[str, ...]


class LaterChanges:
    """The commits of one pull request, looked at from one comment after the other."""

    def __init__(self, commits: Sequence[Commit] | None, *, until: str | None = None) -> None:
        """`until`: the merge or the close; what is dated after it is no answer to a comment."""
        self._commits = commits
        self._until = _instant(until)
        self._dates = [_instant(commit.at) for commit in commits or ()]
        self._hunks: dict[int, list[Hunk]] = {}

    def after(self, comment: Comment) -> list[Commit] | None:
        """The commits after the comment, whoever made them: behind its commit in the list, or dated after it (a comment
        that GitHub has moved along names a later commit than it was made on). None where the data cannot tell."""
        if self._commits is None:
            return None
        at, said = self._place_of(comment.commit), _instant(comment.at)
        if at is None and (said is None or None in self._dates):
            return None
        return [
            commit
            for place, (commit, date) in enumerate(zip(self._commits, self._dates, strict=True))
            if (at is not None and place > at) or (said is not None and date is not None and date > said)
            if date is None or self._until is None or date <= self._until
        ]

    def _place_of(self, sha: str | None) -> int | None:
        """Where a commit is in the list; a short name stands for the only one that begins so."""
        if not sha or self._commits is None:
            return None
        found = [place for place, commit in enumerate(self._commits) if commit.sha == sha]
        if not found and len(sha) >= 7:
            found = [place for place, commit in enumerate(self._commits) if commit.sha.startswith(sha)]
        return found[0] if len(found) == 1 else None

    def text(self, comment: Comment, reviewer: str | None = None, most: int = LENGTH) -> str | None:
        """What later commits changed, in about `most` characters: the comment's own file first, what is nearest to its
        lines before the rest, then other files. Empty where nothing was changed; None where the data cannot tell.

        Merges are no answer to a comment, nor is what the bot that made it did itself.
        """
        commits = self.after(comment)
        if commits is None:
            return None
        pieces = self._pieces(comment, comment.author or reviewer, commits)
        if pieces is None:
            return None
        return _fitted(sorted(pieces, key=lambda piece: piece.distance), most)

    def _pieces(self, comment: Comment, author: str | None, commits: Sequence[Commit]) -> list[_Piece] | None:
        """In the order of the commits; None where it is not known what one did, or what it did to the comment's own
        file."""
        path, (first, last) = normal_path(comment.path), comment.span
        anywhere = comment.from_line is None and comment.to_line is None
        pieces: list[_Piece] = []
        for commit in commits:
            counts = len(commit.parents) < 2 and not by_own_bot(commit.author, author, comment)
            if commit.files is None:
                if counts:
                    return None
                continue
            shift = 0
            for file in commit.files:
                own = path is not None and path in (normal_path(file.path), normal_path(file.previous_path))
                hunks = self._hunks_of(file)
                if counts:
                    if own and not hunks and _says_nothing(file):
                        return None
                    for hunk in hunks or (None,):
                        far = float("inf") if not own else 0 if anywhere or not hunk else hunk.distance((first, last))
                        lines = (_without_patch(file),) if hunk is None else hunk.lines
                        pieces.append(
                            _Piece(commit.sha, file, far, first if own and not anywhere else None, hunk, lines)
                        )
                if own:
                    path = normal_path(file.path)
                    shift += sum(hunk.new_lines - hunk.old_lines for hunk in hunks if hunk.last < first)
            first, last = max(1, first + shift), max(1, last + shift)
        return pieces

    def _hunks_of(self, file: ChangedFile) -> list[Hunk]:
        if id(file) not in self._hunks:
            self._hunks[id(file)] = hunks_of(file.patch) if file.patch else []
        return self._hunks[id(file)]


def by_own_bot(committer: str | None, author: str | None, comment: Comment) -> bool:
    """Whether a commit was made by the bot that made the comment."""
    if not committer or not author or not (is_bot(author) or is_bot(committer) or comment.is_ai_comment):
        return False
    ours, theirs = (name.casefold().removesuffix(_BOT) for name in (committer, author))
    return ours == theirs


def _says_nothing(file: ChangedFile) -> bool:
    """Whether nobody can tell what was done to a file: it has no patch, and was not simply removed."""
    return file.patch is None and (file.status or "").casefold() not in ("removed", "deleted", "unchanged")


def _without_patch(file: ChangedFile) -> str:
    status = (file.status or "").casefold()
    if status in ("removed", "deleted"):
        return "(the file was removed)"
    return "(its lines stayed as they were)" if file.patch is not None else "(changed; its patch is not known)"


def _instant(text: str | None) -> int | None:
    try:
        return None if text is None else parse_time(text)
    except ValueError:
        return None


def _fitted(pieces: Sequence[_Piece], most: int) -> str:
    """The pieces in their order, as far as there is room, with marks where something was cut."""
    kept: list[str] = []
    room = most
    title = ""
    for number, piece in enumerate(pieces):
        head = _title(piece)
        lines = [*([head] if head != title else []), *_cut_lines(piece, room)]
        size = sum(len(line) + 1 for line in lines)
        if size > room and number > 0:
            left = pieces[number:]
            files = len({(each.commit, each.file.path) for each in left})
            kept.append(f"[… cut: {plural(len(left), 'more part')} of the change, in {plural(files, 'file')}]")
            break
        kept += lines
        title, room = head, room - size
    return "\n".join(kept)


def _title(piece: _Piece) -> str:
    file = piece.file
    renamed = f" (was {one_line(file.previous_path, 200)})" if file.previous_path else ""
    return f"=== commit {one_line(piece.commit, 40)[:10]}: {one_line(file.path, 200)}{renamed}"


def _cut_lines(piece: _Piece, room: int) -> Iterator[str]:
    """The lines of a piece; of one that is larger than what is left, those from near the comment's lines on."""
    lines = [line if len(line) <= _LONGEST_LINE else line[:_LONGEST_LINE] + " […]" for line in piece.lines]
    if sum(len(line) + 1 for line in lines) <= room or room < _SHORTEST:
        yield from lines
    else:
        start = _near(piece, lines)
        yield lines[0]
        if start > 1:
            yield f"[… cut: {plural(start - 1, 'line')}]"
        left = room - _SHORTEST
        for at in range(start, len(lines)):
            left -= len(lines[at]) + 1
            if left < 0:
                yield f"[… cut: {plural(len(lines) - at, 'more line')}]"
                break
            yield lines[at]
    if piece.hunk is not None and piece.hunk.broken:
        yield "[… the patch breaks off here]"


def _near(piece: _Piece, lines: Sequence[str]) -> int:
    """From which line of a large hunk on it is shown: a little before those that the comment points at."""
    if piece.hunk is None or piece.first is None:
        return 1
    old = piece.hunk.old
    for at, line in enumerate(lines[1:], 1):
        if old >= piece.first:
            return max(1, at - _BEFORE)
        old += line[:1] in (" ", "-", "")
    return 1
