"""What files know about a run's references: known verdicts, of which a judge gets those of other reviewers.

What counts as known. A verdict that a file lists, unless it is undecided or went by location alone. And a pair that a
file does not list, of two notes that it knows for that reviewer and pull request, is a no where everything was looked
at: in labels, and in Martian's evaluations. These name one match of each golden comment and list any other comment that
raises it among the false positives, so that a false positive is no known no of a golden comment that was found.
Of a run's own pairs and labels, what is not listed was not looked at, and is not known.

Where verdicts contradict each other, people's labels come before all others; then what most say holds, and what is as
often said as denied is not known. That is settled first between files that judge the same comment, then between
reviewers who say the same in the same words.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from metareview.formats.verdicts import NotePair, ReviewVerdicts, StoredVerdict, StoredVerdicts
from metareview.judges.builtin.none import BY_LOCATION
from metareview.judges.examples import Examples, KnownNotes
from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED, Question
from metareview.judges.stored import IMPLIED_BY, PullRequests, read_part, shortened
from metareview.model.address import pull_request_key
from metareview.text.equality import collapsed


@dataclass(frozen=True, slots=True)
class KnownVerdict:
    """A comment raises a reference's issue, or does not."""

    pr: str | None
    """None: it holds wherever the reference's note is."""
    reviewer: str | None
    reference: str
    note: str
    match: bool
    by: str
    """Who decided: judge, model, cache or label."""

    @property
    def order(self) -> tuple[str, str, str, str]:
        return self.pr or "", self.reviewer or "", self.reference, self.note


@dataclass(frozen=True)
class Chosen:
    """Of what is known about a question's references, what its reviewer's comments are judged by, and what not."""

    examples: Sequence[KnownVerdict]
    own: Sequence[KnownVerdict]
    """On the reviewer's own comments on the pull request, or on notes in the same words, whoever wrote them."""


class KnownVerdicts(Examples):
    """All that is known about some references, each verdict once, in an order that only their content decides."""

    def __init__(self, verdicts: Iterable[KnownVerdict]) -> None:
        self.verdicts: Sequence[KnownVerdict] = sorted(verdicts, key=lambda each: each.order)
        self.digest = _digest(self.verdicts)
        self._pull_requests = PullRequests(each.pr for each in self.verdicts if each.pr is not None)
        self._by_pull_request: dict[str, list[KnownVerdict]] = {}
        self._anywhere: dict[str, list[KnownVerdict]] = {}
        for each in self.verdicts:
            if each.pr is None:
                self._anywhere.setdefault(each.reference, []).append(each)
            else:
                self._by_pull_request.setdefault(self._pull_requests.key(each.pr), []).append(each)
        self._boards: dict[tuple[str | None, tuple[str, ...]], _Board] = {}

    @classmethod
    def of(cls, files: Iterable[StoredVerdicts], references: Mapping[str, Collection[str]]) -> KnownVerdicts:
        """What files know about these references, given by pull request as notes. Whose comments they are does not
        matter here, so that runs of different reviewers with the same files have the same digest."""
        wanted = {pr: {note for note in map(read_part, notes) if note} for pr, notes in references.items()}
        said: dict[tuple[str | None, str | None, str, str], list[StoredVerdict]] = {}
        for file in files:
            for pr, reviewer, (note, reference), verdict in _known_of(file, wanted):
                if note and verdict.match is not None and verdict.reason != BY_LOCATION:
                    said.setdefault((pr, reviewer, reference, note), []).append(verdict)
        settled = ((key, _settled([(each.match, each.by) for each in verdicts])) for key, verdicts in said.items())
        return cls(KnownVerdict(*key, *verdict) for key, verdict in settled if verdict is not None)

    def known(self, question: Question) -> KnownNotes | None:
        """What is known of a question's references, apart from its own reviewer's comments; None for nothing."""
        board = self._board(question)
        if board is None or not board.settled.notes:
            return None
        own = board.own(question)
        settled = board.settled
        left_out = [row for row, note in enumerate(settled.notes) if note in own]
        return None if len(left_out) == len(settled.notes) else replace(settled, left_out=left_out)

    def chosen(self, question: Question) -> Chosen:
        """The same as verdicts."""
        board = self._board(question)
        if board is None:
            return Chosen((), ())
        own = board.own(question)
        return Chosen(
            [each for each in board.verdicts if each.note not in own],
            [each for each in board.verdicts if each.note in own],
        )

    def _board(self, question: Question) -> _Board | None:
        """None for a question about negatives, which are no references."""
        if question.negative:
            return None
        key = self._pull_requests.find(question.pr), tuple(map(read_part, question.reference))
        if key not in self._boards:
            self._boards[key] = self._made_board(*key)
        return self._boards[key]

    def _made_board(self, pr: str | None, references: Sequence[str]) -> _Board:
        wanted = set(references)
        found = [] if pr is None else [each for each in self._by_pull_request[pr] if each.reference in wanted]
        found += [each for reference in sorted(wanted) for each in self._anywhere.get(reference, ())]
        votes: dict[NotePair, list[tuple[bool | None, str]]] = {}
        words_of: dict[str, set[str]] = {}
        in_words: dict[str, set[str]] = {}
        for each in found:
            votes.setdefault((each.note, each.reference), []).append((each.match, each.by))
            words = _words(each.note)
            in_words.setdefault(words, set()).add(each.note)
            if each.reviewer is not None:
                words_of.setdefault(person(each.reviewer), set()).add(words)
        settled = {pair: verdict[0] for pair, of_pair in votes.items() if (verdict := _settled(of_pair)) is not None}
        notes = sorted({note for note, _ in settled})
        rows = {note: row for row, note in enumerate(notes)}
        columns: dict[str, list[int]] = {}
        for column, reference in enumerate(references):
            columns.setdefault(reference, []).append(column)
        match = np.full((len(notes), len(references)), UNDECIDED, np.int8)
        for (note, reference), same in settled.items():
            match[rows[note], columns[reference]] = SAME if same else DIFFERENT
        return _Board(found, KnownNotes(notes, match), words_of, in_words)


@dataclass(frozen=True)
class _Board:
    """All that is known about the references of one pull request. A note of a reviewer's own is left out whoever else
    wrote it, so that what holds of the other notes does not depend on who is measured."""

    verdicts: Sequence[KnownVerdict]
    settled: KnownNotes
    words_of: Mapping[str, set[str]]
    """What each reviewer said."""
    in_words: Mapping[str, set[str]]
    """The notes by what they say."""

    def own(self, question: Question) -> set[str]:
        """The notes that are no examples for a question."""
        said = self.words_of.get(person(question.reviewer), set()).union(map(_words, question.generated))
        return {note for words in said for note in self.in_words.get(words, ())}


def person(name: str) -> str:
    """Who it is, however the name is written. GitHub's two APIs give bots with the ending and without.

    >>> person("CodeRabbitAI[bot] ")
    'coderabbitai'
    """
    return collapsed(name).casefold().removesuffix("[bot]")


def _words(note: str) -> str:
    """What a note says, whatever its line ends, indents and capitals: these are no second opinion."""
    return collapsed(read_part(note)).casefold()


def _settled(verdicts: Sequence[tuple[bool | None, str]]) -> tuple[bool, str] | None:
    """What holds of several verdicts on one pair, and who says so; None where that is not known."""
    if len(verdicts) == 1 and (alone := verdicts[0][0]) is not None:
        return alone, verdicts[0][1]
    heard = [each for each in verdicts if each[1] == "label"] or verdicts
    same = sum(bool(match) for match, _ in heard)
    if 2 * same == len(heard):
        return None
    match = 2 * same > len(heard)
    return match, min(by for said, by in heard if said == match)


def _known_of(
    file: StoredVerdicts, wanted: Mapping[str, Collection[str]]
) -> Iterator[tuple[str | None, str | None, NotePair, StoredVerdict]]:
    """(pull request as the references have it, reviewer, notes, verdict) of all that a file knows about them."""
    pull_requests = PullRequests(pr for pr, _, _ in file.reviews if pr is not None)
    reviews: dict[str, list[tuple[str | None, ReviewVerdicts]]] = {}
    for (pr, reviewer, negative), review in file.reviews.items():
        if pr is not None and not negative:
            reviews.setdefault(pull_requests.key(pr), []).append((reviewer, shortened(review)))
    for pr, notes in wanted.items():
        for reviewer, review in reviews.get(pull_requests.find(pr) or "", ()):
            for pair, verdict in _said(file, review, notes):
                yield pr, reviewer, pair, verdict
    everywhere = {note for notes in wanted.values() for note in notes}
    for group in map(shortened, file.groups):
        whose = {note: verdict.reviewer for (note, _), verdict in group.by_notes.items() if verdict.reviewer}
        for pair, verdict in _said(file, group, everywhere):
            yield None, whose.get(pair[0]), pair, verdict


def _said(
    file: StoredVerdicts, review: ReviewVerdicts, wanted: Collection[str]
) -> Iterator[tuple[NotePair, StoredVerdict]]:
    """All that a file says of these references, also what follows from what it does not list."""
    for pair, verdict in review.by_notes.items():
        if pair[1] in wanted:
            yield pair, verdict
    if not file.lists_all or not review.whole:
        return
    matches = [pair for pair, verdict in review.by_notes.items() if verdict.match]
    matching, found = {note for note, _ in matches}, {reference for _, reference in matches}
    no = StoredVerdict(False, 0.0, IMPLIED_BY[file.kind])
    for reference in review.reference.intersection(wanted):
        for note in review.generated:
            may_be_second = file.kind == "martian" and reference in found and note not in matching
            if (note, reference) not in review.by_notes and not may_be_second:
                yield (note, reference), no


def _digest(verdicts: Sequence[KnownVerdict]) -> str:
    """Of the content alone: neither files nor their order, nor how a pull request's address is written, change it."""
    lines = sorted(
        json.dumps([each.pr and pull_request_key(each.pr), *each.order[1:], each.reviewer is None, each.match, each.by])
        for each in verdicts
    )
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()
