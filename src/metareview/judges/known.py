"""Known verdicts on a run's references, from files; a judge gets those of other reviewers.

Known is a verdict that a file lists, unless it is undecided or went by location alone. And a pair that a file does not
list, of two notes that it knows for that reviewer and pull request, is a no where everything was looked at: in labels,
and in Martian's evaluations. These name one match of each golden comment and list any other comment that raises it
among the false positives, so that a false positive is no known no of a golden comment that was found. Of a run's own
pairs and labels, what is not listed was not looked at, and is not known.

Where verdicts contradict each other, people's labels come before all others; then the majority holds, and what is as
often affirmed as denied is not known. This is decided first between files that judge the same comment, then between
reviewers who write the same words.
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
    """The known verdicts on a question's references, split into examples and those on the reviewer's own comments."""

    examples: Sequence[KnownVerdict]
    own: Sequence[KnownVerdict]
    """On the reviewer's own comments on the pull request, or on notes in the same words by others."""


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
        self._by_question: dict[tuple[str | None, tuple[str, ...]], _PullRequestVerdicts] = {}

    @classmethod
    def of(cls, files: Iterable[StoredVerdicts], references: Mapping[str, Collection[str]]) -> KnownVerdicts:
        """The verdicts of files on these references, given by pull request as notes. The reviewers of the comments do
        not matter here, so that runs of different reviewers with the same files have the same digest."""
        wanted = {pr: {note for note in map(read_part, notes) if note} for pr, notes in references.items()}
        found: dict[tuple[str | None, str | None, str, str], list[StoredVerdict]] = {}
        for file in files:
            for pr, reviewer, (note, reference), verdict in _known_of(file, wanted):
                if note and verdict.match is not None and verdict.reason != BY_LOCATION:
                    found.setdefault((pr, reviewer, reference, note), []).append(verdict)
        decided = ((key, _majority([(each.match, each.by) for each in verdicts])) for key, verdicts in found.items())
        return cls(KnownVerdict(*key, *verdict) for key, verdict in decided if verdict is not None)

    def known(self, question: Question) -> KnownNotes | None:
        """The known notes on a question's references without its own reviewer's; None if there are none."""
        about = self._about(question)
        if about is None or not about.agreed.notes:
            return None
        own = about.own(question)
        agreed = about.agreed
        left_out = [row for row, note in enumerate(agreed.notes) if note in own]
        return None if len(left_out) == len(agreed.notes) else replace(agreed, left_out=left_out)

    def chosen(self, question: Question) -> Chosen:
        """All verdicts on a question's references."""
        about = self._about(question)
        if about is None:
            return Chosen((), ())
        own = about.own(question)
        return Chosen(
            [each for each in about.verdicts if each.note not in own],
            [each for each in about.verdicts if each.note in own],
        )

    def _about(self, question: Question) -> _PullRequestVerdicts | None:
        """None for a question about negatives, which are no references."""
        if question.negative:
            return None
        key = self._pull_requests.find(question.pr), tuple(map(read_part, question.reference))
        if key not in self._by_question:
            self._by_question[key] = self._collect(*key)
        return self._by_question[key]

    def _collect(self, pr: str | None, references: Sequence[str]) -> _PullRequestVerdicts:
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
        agreed = {pair: verdict[0] for pair, of_pair in votes.items() if (verdict := _majority(of_pair)) is not None}
        notes = sorted({note for note, _ in agreed})
        rows = {note: row for row, note in enumerate(notes)}
        columns: dict[str, list[int]] = {}
        for column, reference in enumerate(references):
            columns.setdefault(reference, []).append(column)
        match = np.full((len(notes), len(references)), UNDECIDED, np.int8)
        for (note, reference), same in agreed.items():
            match[rows[note], columns[reference]] = SAME if same else DIFFERENT
        return _PullRequestVerdicts(found, KnownNotes(notes, match), words_of, in_words)


@dataclass(frozen=True)
class _PullRequestVerdicts:
    """The known verdicts on the references of one pull request. A note of a reviewer's own is left out even if others
    wrote it too, so that the verdicts on other notes do not depend on who is measured."""

    verdicts: Sequence[KnownVerdict]
    agreed: KnownNotes
    words_of: Mapping[str, set[str]]
    """The words of each reviewer's notes."""
    in_words: Mapping[str, set[str]]
    """The notes by their words."""

    def own(self, question: Question) -> set[str]:
        """The notes that are no examples for a question."""
        words_of = self.words_of.get(person(question.reviewer), set()).union(map(_words, question.generated))
        return {note for words in words_of for note in self.in_words.get(words, ())}


def person(name: str) -> str:
    """A reviewer's name in one spelling. GitHub's two APIs give bots with the ending and without.

    >>> person("CodeRabbitAI[bot] ")
    'coderabbitai'
    """
    return collapsed(name).casefold().removesuffix("[bot]")


def _words(note: str) -> str:
    """A note without line ends, indents and capitals: other spellings are no second opinion."""
    return collapsed(read_part(note)).casefold()


def _majority(verdicts: Sequence[tuple[bool | None, str]]) -> tuple[bool, str] | None:
    """The majority of several verdicts on one pair, and who decided; None where there is none. Labels go first."""
    if len(verdicts) == 1 and (alone := verdicts[0][0]) is not None:
        return alone, verdicts[0][1]
    heard = [each for each in verdicts if each[1] == "label"] or verdicts
    same = sum(bool(match) for match, _ in heard)
    if 2 * same == len(heard):
        return None
    match = 2 * same > len(heard)
    return match, min(by for each, by in heard if each == match)


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
            for pair, verdict in _verdicts_on(file, review, notes):
                yield pr, reviewer, pair, verdict
    everywhere = {note for notes in wanted.values() for note in notes}
    for group in map(shortened, file.groups):
        whose = {note: verdict.reviewer for (note, _), verdict in group.by_notes.items() if verdict.reviewer}
        for pair, verdict in _verdicts_on(file, group, everywhere):
            yield None, whose.get(pair[0]), pair, verdict


def _verdicts_on(
    file: StoredVerdicts, review: ReviewVerdicts, wanted: Collection[str]
) -> Iterator[tuple[NotePair, StoredVerdict]]:
    """All verdicts of a file on these references, also those that follow from what it does not list."""
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
