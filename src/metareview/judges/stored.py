"""`verdicts`: the verdicts of a file. Nothing is judged."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from metareview.formats.verdicts import NotePair, ReviewVerdicts, StoredVerdict, StoredVerdicts
from metareview.judges.pair_verdicts import PairVerdict, answer_of
from metareview.judges.protocol import DIFFERENT, SAME, Answer, Judge, Question, judged_part
from metareview.judges.registry import VERDICTS
from metareview.model.address import AddressBook, full_addresses, pull_request_key
from metareview.model.words import plural
from metareview.text.equality import composed

IMPLIED_BY = {"pairs": "judge", "labels": "label", "martian": "model", "examples": "judge"}
"""Who decided the verdicts that a file implies."""
_UNLISTED = "it is not listed, and both notes are known"
_NO_PULL_REQUEST = "a pull request that it does not have"
_NO_REVIEWER = "a reviewer whom it does not have there"
_NO_NOTE = "a note that it does not have"
_OPEN = "undecided there"


class PullRequests:
    """The pull requests of a file, matched with those of a run across spellings. Never a guess."""

    def __init__(self, texts: Iterable[str]) -> None:
        known = list(dict.fromkeys(texts))
        full = full_addresses(known)
        self._keys = {text: pull_request_key(full.get(text, text)) for text in known}
        names: dict[str, list[str]] = {}
        for text, key in self._keys.items():
            names.setdefault(key, []).append(text)
        self._book = AddressBook(names)
        self._found: dict[str, str | None] = {}

    def key(self, text: str) -> str:
        """The key of one of the file's own."""
        return self._keys[text]

    def find(self, text: str) -> str | None:
        if text not in self._found:
            found = self._book.find(text)
            self._found[text] = found[0] if len(found) == 1 else None
        return self._found[text]


class VerdictsSeen(NamedTuple):
    """Counts of the verdicts that a file has on some questions."""

    open_pairs: Counter[str]
    """Counts of the pairs that it does not decide, by the reason."""
    left: Mapping[tuple[str, str], set[str]]
    """By pull request and reviewer, its notes that are not among those scored."""


class FileJudge(Judge):
    """Answers with the verdicts of a file. A pair that it does not list is a no where both notes occur in it for that
    reviewer and pull request, else undecided."""

    name = VERDICTS

    def __init__(self, stored: StoredVerdicts) -> None:
        self.stored = stored
        self.parameters = {"verdicts": stored.kind}
        self._pull_requests = PullRequests(pr for pr, _, _ in stored.reviews if pr is not None)
        self._reviews: dict[tuple[str, str | None, bool], ReviewVerdicts] = {}
        for (pr, reviewer, negative), review in stored.reviews.items():
            key = self._pull_requests.key(pr or ""), reviewer, negative
            short = shortened(review)
            self._reviews[key] = _joined(self._reviews[key], short) if key in self._reviews else short
        self._anywhere: dict[NotePair, StoredVerdict] = {}
        self._groups: tuple[dict[str, set[int]], dict[str, set[int]]] = {}, {}
        for number, group in enumerate(map(shortened, stored.groups)):
            self._anywhere |= group.by_notes
            for side, notes in zip(self._groups, (group.generated, group.reference), strict=True):
                for note in notes:
                    side.setdefault(note, set()).add(number)

    def judge(self, questions: Sequence[Question]) -> list[Answer]:
        return [answer_of(_pair_verdict(verdict) for verdict, _ in self._verdicts(question)) for question in questions]

    def warning_data(self, questions: Sequence[Question], *, ask: bool = True) -> VerdictsSeen:
        open_pairs = Counter(why for question in questions for _, why in self._verdicts(question) if why)
        return VerdictsSeen(open_pairs, self._left(questions))

    def remarks_of(self, parts: Sequence[VerdictsSeen], *, ask: bool = True) -> list[str]:
        """Warnings of pairs that the file does not decide, and of its comments that are not among those scored."""
        open_pairs, left = Counter[str](), dict[tuple[str, str], set[str]]()
        for part in parts:
            open_pairs.update(part.open_pairs)
            for key, notes in part.left.items():
                left.setdefault(key, set(notes)).intersection_update(notes)
        remarks = []
        if open_pairs:
            reasons = ", ".join(f"{count:,} with {why}" for why, count in open_pairs.most_common() if why != _OPEN)
            there = f"{open_pairs[_OPEN]:,} {_OPEN}" if open_pairs[_OPEN] else ""
            remarks.append(
                f"{plural(open_pairs.total(), 'pair')} without a verdict in {self.stored.name}: "
                + ", ".join(filter(None, (reasons, there)))
            )
        absent = Counter[str]()
        for (_, reviewer), notes in left.items():
            absent[reviewer] += len(notes)
        absent = +absent
        if absent:
            shown = ", ".join(f"{name} {count:,}" for name, count in absent.most_common(5))
            more = f" and {plural(len(absent) - 5, 'more reviewer')}" if len(absent) > 5 else ""
            remarks.append(
                f"{plural(absent.total(), 'comment')} of {self.stored.name} not among those scored: {shown}{more}"
            )
        return remarks

    def _left(self, questions: Sequence[Question]) -> dict[tuple[str, str], set[str]]:
        """By pull request and reviewer, the notes that the file has there, and that these questions have not."""
        left: dict[tuple[str, str], set[str]] = {}
        for question in questions:
            review = None if question.negative else self._review(question)
            if review is not None and review.generated:
                # Repeated runs of a reviewer have a question each.
                notes = left.setdefault((question.pr, question.reviewer), set(review.generated))
                notes -= set(map(read_part, question.generated))
        return left

    def _review(self, question: Question) -> ReviewVerdicts | None:
        pr = self._pull_requests.find(question.pr)
        if pr is None:
            return None
        of_reviewer = self._reviews.get((pr, question.reviewer, question.negative))
        return of_reviewer or self._reviews.get((pr, None, question.negative))

    def _verdicts(self, question: Question) -> list[tuple[StoredVerdict, str]]:
        """For each pair the verdict, or the reason why there is none."""
        review = self._review(question)
        known_pr = self._pull_requests.find(question.pr) is not None
        absent = _NO_REVIEWER if known_pr else _NO_NOTE if self.stored.groups else _NO_PULL_REQUEST
        generated, reference = (list(map(read_part, notes)) for notes in (question.generated, question.reference))
        found = []
        for ours, theirs in question.pairs.tolist():
            verdict = None
            notes = generated[ours], reference[theirs]
            if review is not None:
                at = (question.generated_at[ours], question.reference_at[theirs]) if question.generated_at else None
                verdict = _listed(review, notes, at) or _implied(review, notes, at, IMPLIED_BY[self.stored.kind])
            if verdict is None and not question.negative:
                verdict = self._anywhere.get(notes) or self._implied_by_group(notes)
            why = "" if verdict and verdict.match is not None else _OPEN if verdict else _NO_NOTE if review else absent
            found.append((verdict or StoredVerdict(None, reason=f"{self.stored.name} has no verdict: {why}"), why))
        return found

    def _implied_by_group(self, notes: NotePair) -> StoredVerdict | None:
        ours, theirs = (side.get(note, set()) for side, note in zip(self._groups, notes, strict=True))
        return StoredVerdict(False, 0.0, "label", _UNLISTED) if ours & theirs else None


def _listed(review: ReviewVerdicts, notes: NotePair, at: tuple[int, int] | None) -> StoredVerdict | None:
    """By position where the file has these notes, or none, there; else by the notes."""
    if at is not None and at in review.by_position:
        held = review.generated_at.get(at[0], ""), review.reference_at.get(at[1], "")
        if held in (("", ""), notes):
            return review.by_position[at]
    return review.by_notes.get(notes)


def _implied(review: ReviewVerdicts, notes: NotePair, at: tuple[int, int] | None, by: str) -> StoredVerdict | None:
    if not review.whole:
        return None
    if notes[0] in review.generated and notes[1] in review.reference:
        return StoredVerdict(False, 0.0, by, _UNLISTED)
    if notes[1] in review.missed:
        return StoredVerdict(False, 0.0, by, "no comment raised it there")
    if not review.generated and at is not None and at[0] in review.generated_at and at[1] in review.reference_at:
        return StoredVerdict(False, 0.0, by, "it is not listed, and both positions are known")
    return None


def _pair_verdict(verdict: StoredVerdict) -> PairVerdict:
    if verdict.match is None:
        return PairVerdict.undecided(verdict.reason, verdict.by)
    score = float(verdict.match) if verdict.score is None else verdict.score
    return PairVerdict(SAME if verdict.match else DIFFERENT, score, verdict.reason, verdict.by)


def shortened(review: ReviewVerdicts) -> ReviewVerdicts:
    """A copy with every note cut to the part a judge reads."""
    return ReviewVerdicts(
        {(read_part(ours), read_part(theirs)): verdict for (ours, theirs), verdict in review.by_notes.items()},
        review.by_position,
        set(map(read_part, review.generated)),
        set(map(read_part, review.reference)),
        {at: read_part(note) for at, note in review.generated_at.items()},
        {at: read_part(note) for at, note in review.reference_at.items()},
        set(map(read_part, review.missed)),
        review.whole,
    )


def read_part(note: str) -> str:
    """The part of a note that a judge reads, in one encoding of its characters: notes are compared by it."""
    return composed(judged_part(note)).strip()


def _joined(one: ReviewVerdicts, other: ReviewVerdicts) -> ReviewVerdicts:
    """Of one pull request that a file writes in two ways."""
    return ReviewVerdicts(
        one.by_notes | other.by_notes,
        one.by_position | other.by_position,
        one.generated | other.generated,
        one.reference | other.reference,
        one.generated_at | other.generated_at,
        one.reference_at | other.reference_at,
        one.missed & other.missed,
        one.whole and other.whole,
    )
