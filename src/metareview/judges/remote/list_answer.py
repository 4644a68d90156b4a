"""What a model answered to a list question, read without guessing.

What is not listed is a no, so an answer must be whole: one that was cut off or contradicts itself is `Malformed`, and
says nothing about any pair. An entry that is odd (an id that was not in the list, a confidence that is none, an entry
that a note holds) only says nothing about the pairs that it may be about; what the rest of the answer says holds.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass

from metareview.judges.remote.judge import Pair
from metareview.judges.remote.lists import NoteList
from metareview.judges.remote.quotation import Quotable
from metareview.judges.remote.verdict import QUOTES, JsonObject, Malformed, ModelAnswer, Shown, answer_in, is_confidence
from metareview.model.words import one_line

NOT_LISTED = ModelAnswer(match=False, confidence=1.0, reason="not among the matches that the model listed")
"""The verdict on a pair that is not listed; its score is 0."""


@dataclass(frozen=True, slots=True)
class Listed:
    """A match that the model listed: the ids of its notes, and how sure it is."""

    reference: int
    comment: int
    confidence: float
    reason: str


@dataclass(frozen=True, slots=True)
class Open:
    """Pairs that an answer says nothing about: one pair, or all pairs of the reference or comment that is named."""

    reference: int | None
    comment: int | None

    def covers(self, reference: int, comment: int) -> bool:
        return self.reference in (None, reference) and self.comment in (None, comment)


@dataclass(frozen=True, slots=True)
class ListAnswer:
    """What came of a list question, checked. The cache keeps these fields, and ids mean the same there: the order of a
    list follows from its content."""

    matches: tuple[Listed, ...] = ()
    open: tuple[Open, ...] = ()

    def to_json(self) -> JsonObject:
        return {"matches": [asdict(match) for match in self.matches], "open": [asdict(each) for each in self.open]}

    def verdicts(self, notes: NoteList) -> dict[Pair, ModelAnswer | None]:
        """What it says of each pair that was asked about; None for one that must be asked about elsewhere."""
        matches = {(match.reference, match.comment): match for match in self.matches}
        of_reference, of_comment = _positions(notes.references), _positions(notes.comments)
        found: dict[Pair, ModelAnswer | None] = {}
        for pair in notes.asked:
            comment, reference = of_comment[pair[0]], of_reference[pair[1]]
            match = matches.get((reference, comment))
            if self.open and any(each.covers(reference, comment) for each in self.open):
                found[pair] = None
            elif match is None:
                found[pair] = NOT_LISTED
            else:
                found[pair] = ModelAnswer(True, match.confidence, match.reason)
        return found


DIVIDED = ListAnswer(open=(Open(None, None),))
"""Of a list that could not be answered whole: its pairs are asked about in smaller ones."""


def read_list_answer(text: str, notes: NoteList, shown: Shown = one_line) -> ListAnswer:
    """The answer in what a model wrote; raises Malformed, also where it says nothing about any pair asked about.

    `shown` is what may be kept of a reason.
    """
    found = answer_in(text, "matches", _quotable(notes), {}, "a list of matches", notes.code)
    answer = _checked(found, notes, shown)
    if answer.open and not any(answer.verdicts(notes).values()):
        raise Malformed("the answer names notes that were not in the list, or no confidence from 0 to 1")
    return answer


def kept_list_answer(value: JsonObject, notes: NoteList) -> ListAnswer:
    """The answer that the cache kept, checked again; raises Malformed."""
    answer, entries = _checked(value, notes), value.get("open")
    # No answer to a single pair leaves it open: it would be asked for in smaller lists for ever.
    if answer.open or not isinstance(entries, list) or (entries and len(notes.asked) < 2):
        raise Malformed("what was kept is no answer")
    return ListAnswer(answer.matches, tuple(_kept_open(entry, notes) for entry in entries))


def _checked(value: object, notes: NoteList, shown: Shown = one_line) -> ListAnswer:
    if not isinstance(value, dict) or not isinstance(entries := value.get("matches"), list):
        raise Malformed('the answer has no "matches"')
    listed: dict[tuple[int, int], Listed] = {}
    odd: dict[Open, None] = {}
    quotable = _quotable(notes)
    quoted = [isinstance(entry, dict) and _is_quoted(entry, quotable) for entry in entries]
    if entries and all(quoted):
        raise Malformed(QUOTES)
    for entry, is_quoted in zip(entries, quoted, strict=True):
        if not isinstance(entry, dict):
            raise Malformed("the answer lists something that is no match")
        reference, comment = _id(entry.get("reference"), notes.references), _id(entry.get("comment"), notes.comments)
        confidence, reason = entry.get("confidence"), shown(str(entry.get("reason") or ""))
        if reference is None and comment is None:
            raise Malformed("the answer names two notes that were not in the list")
        # An entry may say of itself that it is none, where no schema forbids it.
        if (
            is_quoted
            or reference is None
            or comment is None
            or not is_confidence(confidence)
            or entry.get("match", True) is not True
        ):
            odd[Open(reference, comment)] = None
            continue
        match = Listed(reference, comment, float(confidence), reason)
        if listed.setdefault((reference, comment), match).confidence != match.confidence:
            odd[Open(reference, comment)] = None
    matches = tuple(match for ids, match in listed.items() if not any(each.covers(*ids) for each in odd))
    return ListAnswer(matches, tuple(odd))


def _quotable(notes: NoteList) -> Quotable:
    return Quotable((*notes.references, *notes.comments))


def _is_quoted(entry: JsonObject, notes: Quotable) -> bool:
    """Whether a note holds an entry, with whatever ids: a note cannot know its own, but a model that obeys it does."""
    without_ids = {name: value for name, value in entry.items() if name not in ("reference", "comment")}
    return notes.holds(without_ids if entry.get("reason") else entry)


def _kept_open(entry: object, notes: NoteList) -> Open:
    ids = (entry.get("reference"), entry.get("comment")) if isinstance(entry, dict) else (-1, -1)
    known = _id(ids[0], notes.references), _id(ids[1], notes.comments)
    if any(id is not None and there is None for id, there in zip(ids, known, strict=True)):
        raise Malformed("what was kept is no answer")
    return Open(*known)


def _id(value: object, notes: Sequence[str]) -> int | None:
    """The id, if it is one of the list's."""
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(notes) else None


def _positions(notes: Sequence[str]) -> dict[str, int]:
    return {note: position for position, note in enumerate(notes)}
