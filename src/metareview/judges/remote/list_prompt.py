"""List questions to a model, and what it answered, read without guessing.

A pair that is not listed is a no, so an answer must be whole: one that was cut off or contradicts itself is
`Malformed`, and says nothing about any pair. An odd entry (an id that was not in the list, a confidence that is none,
an entry that echoes a note) only says nothing about the pairs that it may be about; the rest of the answer holds.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import chain

from metareview.judges.remote.answers import ECHOES, ChatReply, JsonObject, Malformed, PairAnswer, Redact, is_confidence
from metareview.judges.remote.asking import AskResult
from metareview.judges.remote.echoed_notes import EchoedNotes
from metareview.judges.remote.lists import VERSION, NoteList, cut, instruction
from metareview.judges.remote.pairs import Pair
from metareview.judges.remote.prompt import ChatPrompt, answer_object, content_of, strict_format, system_and_user
from metareview.model.words import one_line

NOT_LISTED = PairAnswer(match=False, confidence=1.0, reason="not among the matches that the model listed")
"""The verdict on a pair that is not listed; its score is 0."""
Ids = tuple[int | None, int | None]
"""A reference and a comment of a list. Where one is None, all pairs of the other; where both are, all pairs."""
_ENTRY = {"reference": "integer", "comment": "integer", "confidence": "number", "reason": "string"}
_MATCH = answer_object(**{name: {"type": kind} for name, kind in _ENTRY.items()})


@dataclass(frozen=True, slots=True)
class ListAnswer:
    """A checked answer to a list question. The cache keeps it by ids: the order of a list follows from its content."""

    matches: Mapping[Ids, PairAnswer] = field(default_factory=dict)
    open: Sequence[Ids] = ()
    """The pairs that it says nothing about."""

    def to_json(self) -> JsonObject:
        matches = [
            {"reference": reference, "comment": comment, "confidence": match.confidence, "reason": match.reason}
            for (reference, comment), match in self.matches.items()
        ]
        return {"matches": matches, "open": [{"reference": ids[0], "comment": ids[1]} for ids in self.open]}

    def verdicts(self, notes: NoteList) -> dict[Pair, PairAnswer | None]:
        """The verdict on each pair asked about; None for one that must be asked about elsewhere."""
        of_reference, of_comment = _positions(notes.references), _positions(notes.comments)
        found: dict[Pair, PairAnswer | None] = {}
        for pair in notes.pairs:
            ids = of_reference[pair[1]], of_comment[pair[0]]
            found[pair] = None if _covered(ids, self.open) else self.matches.get(ids, NOT_LISTED)
        return found


DIVIDED = ListAnswer(open=((None, None),))


class ListPrompt(ChatPrompt[NoteList, ListAnswer]):
    """Which of these references and comments raise the same issue?"""

    version = VERSION
    response_format = strict_format("matches", matches={"type": "array", "items": _MATCH})
    key, in_words = "matches", "a list of matches"

    def texts(self, question: NoteList) -> Sequence[str]:
        return (*question.references, *question.comments)

    def key_parts(self, question: NoteList) -> Sequence[str]:
        return question.content

    def code(self, question: NoteList) -> str:
        return question.code

    def messages(self, question: NoteList) -> list[dict[str, str]]:
        return system_and_user(instruction(), question.text)

    def check(self, value: JsonObject, question: NoteList, redact: Redact = one_line) -> ListAnswer:
        if not isinstance(entries := value.get("matches"), list):
            raise Malformed('the answer has no "matches"')
        listed: dict[Ids, PairAnswer] = {}
        odd: dict[Ids, None] = {}
        echoed = EchoedNotes((*question.references, *question.comments))
        echoes = [isinstance(entry, dict) and _is_echo(entry, echoed) for entry in entries]
        if entries and all(echoes):
            raise Malformed(ECHOES)
        for entry, is_echo in zip(entries, echoes, strict=True):
            if not isinstance(entry, dict):
                raise Malformed("the answer lists something that is no match")
            ids = _ids(entry, question)
            confidence, reason = entry.get("confidence"), redact(str(entry.get("reason") or ""))
            if ids == (None, None):
                raise Malformed("the answer names two question that were not in the list")
            # An entry may say of itself that it is none, where no schema forbids it.
            if is_echo or None in ids or not is_confidence(confidence) or entry.get("match", True) is not True:
                odd[ids] = None
                continue
            match = PairAnswer(True, float(confidence), reason)
            if listed.setdefault(ids, match).confidence != match.confidence:
                odd[ids] = None
        return ListAnswer({ids: match for ids, match in listed.items() if not _covered(ids, odd)}, tuple(odd))

    def parse(self, text: str, question: NoteList, redact: Redact = one_line) -> ListAnswer:
        answer = super().parse(text, question, redact)
        if answer.open and not any(answer.verdicts(question).values()):
            raise Malformed("the answer names notes that were not in the list, or no confidence from 0 to 1")
        return answer

    def read(self, batch: Sequence[NoteList], reply: JsonObject, redact: Redact) -> dict[NoteList, ListAnswer]:
        content_of(reply)
        # What is not listed is a no, so the end of the answer must be there.
        if ChatReply.of(reply).finish in ("length", "content_filter"):
            raise Malformed("the answer was cut off")
        return super().read(batch, reply, redact)

    def from_json(self, question: NoteList, value: JsonObject) -> ListAnswer:
        answer, entries = self.check(value, question), value.get("open")
        # No answer to a single pair leaves it open: it would be asked for in smaller lists for ever.
        if answer.open or not isinstance(entries, list) or (entries and len(question.pairs) < 2):
            raise Malformed("the kept value is no answer")
        return ListAnswer(answer.matches, tuple(_kept_open(entry, question) for entry in entries))

    def to_json(self, answer: ListAnswer) -> JsonObject:
        return answer.to_json()

    def divided(self, question: NoteList) -> ListAnswer | None:
        return DIVIDED if len(question.pairs) > 1 else None

    def parts(self, question: NoteList, answer: ListAnswer) -> Sequence[NoteList]:
        left = [pair for pair, verdict in answer.verdicts(question).items() if verdict is None]
        return question.smaller(left) if left else ()


@dataclass(frozen=True)
class ReviewLists:
    """The lists that hold the pairs of several reviews; those with equal notes are asked about as one."""

    of_review: Sequence[Sequence[NoteList]]

    @classmethod
    def of(cls, reviews: Iterable[Iterable[Pair]]) -> ReviewLists:
        return cls([cut(pairs) for pairs in reviews])

    @cached_property
    def merged(self) -> dict[tuple[str, ...], NoteList]:
        """The lists to ask about, by content: each with the pairs that any review asks about."""
        merged: dict[tuple[str, ...], NoteList] = {}
        for notes in chain.from_iterable(self.of_review):
            before = merged.get(notes.content)
            merged[notes.content] = replace(notes, pairs=notes.pairs | before.pairs) if before else notes
        return merged

    def by_pair(
        self, prompt: ListPrompt, results: Mapping[NoteList, AskResult[ListAnswer]]
    ) -> list[dict[Pair, AskResult[PairAnswer]]]:
        """For each review the result of each pair."""
        found = {content: _by_pair(prompt, notes, results) for content, notes in self.merged.items()}
        return [
            {pair: found[notes.content][pair] for notes in lists for pair in notes.pairs} for lists in self.of_review
        ]


def _by_pair(
    prompt: ListPrompt, notes: NoteList, results: Mapping[NoteList, AskResult[ListAnswer]]
) -> dict[Pair, AskResult[PairAnswer]]:
    result = results[notes]
    if result.answer is None:
        return dict.fromkeys(notes.pairs, AskResult(None, reason=result.reason))
    verdicts = result.answer.verdicts(notes)
    found = {pair: AskResult(verdict, result.by) for pair, verdict in verdicts.items() if verdict is not None}
    for part in prompt.parts(notes, result.answer):
        found |= _by_pair(prompt, part, results)
    return found


def _is_echo(entry: JsonObject, notes: EchoedNotes) -> bool:
    """True if a note holds an entry, with any ids: a note cannot know its own, but a model that obeys it does."""
    without_ids = {name: value for name, value in entry.items() if name not in ("reference", "comment")}
    return notes.contain(without_ids if entry.get("reason") else entry)


def _kept_open(entry: object, notes: NoteList) -> Ids:
    ids = _ids(entry, notes) if isinstance(entry, dict) else (None, None)
    if not isinstance(entry, dict) or (entry.get("reference"), entry.get("comment")) != ids:
        raise Malformed("the kept value is no answer")
    return ids


def _ids(entry: JsonObject, notes: NoteList) -> Ids:
    """The ids of an entry, as far as they are of the list."""
    return _id(entry.get("reference"), notes.references), _id(entry.get("comment"), notes.comments)


def _id(value: object, notes: Sequence[str]) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and 0 <= value < len(notes) else None


def _covered(ids: Ids, several: Iterable[Ids]) -> bool:
    return any(each[0] in (None, ids[0]) and each[1] in (None, ids[1]) for each in several)


def _positions(notes: Sequence[str]) -> dict[str, int]:
    return {note: position for position, note in enumerate(notes)}
