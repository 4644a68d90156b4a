"""Where the judges of two runs see the same two notes differently, the widest apart first.

A pair is the same in both runs where the pull request, the reviewer and the two notes are: positions may differ. Each
run's verdicts are held as three columns of numbers, 17 bytes a pair; notes and reasons are read for the entries that
are shown.
"""

from __future__ import annotations

import hashlib
from array import array
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from metareview.comments.records import Pair, Verdict
from metareview.comparison.competitors import Source, open_run
from metareview.comparison.evidence import TOP, comments_run, quoted
from metareview.comparison.evidence_search import Item, known_pull_requests, known_reviewers, stored_pairs
from metareview.comparison.quotes import Entry
from metareview.errors import UsageError
from metareview.model.address import full_addresses, pull_request_key
from metareview.model.comment import Comment
from metareview.runs.files import JsonObject
from metareview.runs.run import CommentsRun
from metareview.stats import kappa

_UNDECIDED = -1


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A pair as the first run has it, and the second run's verdict on the same two notes."""

    entry: Entry
    second: Verdict

    @property
    def apart(self) -> float:
        """How far the two scores are from each other; a verdict without a score counts as 1 or 0."""
        first = self.entry.verdict
        return abs(_score(first) - _score(self.second)) if first else 0.0

    def to_dict(self) -> JsonObject:
        second = self.second
        verdict = {"score": second.score, "match": second.match, "by": second.by, "reason": second.reason}
        return {**self.entry.to_dict(), "second": verdict}


def _score(verdict: Verdict) -> float:
    return float(bool(verdict.match)) if verdict.score is None else verdict.score


@dataclass(frozen=True)
class Disagreements:
    """How far the judges of two runs agree on the pairs that both decided, and where they do not."""

    first: CommentsRun
    second: CommentsRun
    compared: int
    differ: int
    undecided: int
    """Pairs of both runs that one of the judges left open; they are not compared."""
    kappa: float | None
    """None where both call every pair the same, or every pair different."""
    entries: Sequence[Disagreement]

    @property
    def judges(self) -> tuple[str, str]:
        return self.first.result.judge.name, self.second.result.judge.name

    def to_dict(self) -> JsonObject:
        """Two keys of the document of `show`."""
        other = self.second
        return {
            "agreement": {
                "run": None if other.folder is None else str(other.folder),
                "judges": list(self.judges),
                "pairs": self.compared,
                "differ": self.differ,
                "undecided": self.undecided,
                "kappa": self.kappa,
            },
            "disagree": [entry.to_dict() for entry in self.entries],
        }


def disagreements(
    first: Source, second: Source, *, reviewers: Sequence[str] = (), prs: Sequence[str] = (), top: int = TOP
) -> Disagreements:
    """The pairs with references that may match by location in both runs and that their judges see differently.

    The largest difference of scores first; `top` of them, 0 for all. UsageError where the runs have no pair in common.
    """
    ours, theirs = (comments_run(open_run(run)) for run in (first, second))
    names = known_reviewers(ours, reviewers)
    spelled = full_addresses(pr for run in (ours, theirs) for pr in _pull_requests(run))
    asked_for = known_pull_requests(_pull_requests(ours), prs, ours.label) if prs else ()
    chosen = {pull_request_key(spelled.get(pr, pr)) for pr in asked_for}
    numbers: dict[bytes, int] = {}
    a, b = (_Verdicts(run, names, chosen, spelled, numbers) for run in (ours, theirs))
    _, at_a, at_b = np.intersect1d(a.keys, b.keys, assume_unique=True, return_indices=True)
    if not len(at_a):
        raise UsageError(_nothing_shared(ours, theirs, reviewers))
    decided = (a.match[at_a] != _UNDECIDED) & (b.match[at_b] != _UNDECIDED)
    at_a, at_b = at_a[decided], at_b[decided]
    match_a, match_b = a.match[at_a], b.match[at_b]
    differ = np.flatnonzero(match_a != match_b)
    apart = np.round(np.abs(a.score[at_a] - b.score[at_b])[differ], 9)
    widest = differ[np.lexsort((at_a[differ], -apart))][: top or None]  # of equal ones, the first of the first run
    agreed = kappa((match_a & match_b).sum(), match_a.sum(), match_b.sum(), len(match_a)) if len(match_a) else np.nan
    return Disagreements(
        ours,
        theirs,
        compared=len(match_a),
        differ=len(differ),
        undecided=int((~decided).sum()),
        kappa=None if np.isnan(agreed) else float(agreed),
        entries=_entries(ours, a.pairs(at_a[widest]), b.pairs(at_b[widest])),
    )


class _Verdicts:
    """A run's verdicts in columns. `numbers` names notes alike in both runs, by a digest of where and what they are."""

    def __init__(
        self,
        run: CommentsRun,
        reviewers: Collection[str],
        prs: Collection[str],
        spelled: Mapping[str, str],
        numbers: dict[bytes, int],
    ) -> None:
        self._run, self._reviewers, self._prs, self._spelled = run, reviewers, prs, spelled
        self._notes: dict[tuple[str, str, bool, int], int] = {}
        for record in run.read_records():
            if record.reviewer in reviewers and not record.skipped and (key := self._key(record.pr)) is not None:
                sides = ((False, record.comments), (True, record.references))
                for is_reference, scored in sides:
                    whose = f"{key}\n{'' if is_reference else record.reviewer}\n{is_reference}"
                    for position, name in _named(whose, [(each.position, each.comment) for each in scored]):
                        self._notes[*record.key, is_reference, position] = numbers.setdefault(name, len(numbers))
        keys, score, match = array("q"), array("d"), array("b")
        for pair in self._in_scope():
            where = (pair.pr, pair.reviewer)
            keys.append(self._notes[*where, False, pair.generated] << 31 | self._notes[*where, True, pair.reference])
            score.append(_score(pair.verdict))
            match.append(_UNDECIDED if pair.verdict.match is None else pair.verdict.match)
        self.keys, self.score = np.array(keys, np.int64), np.array(score, np.float64)
        self.match: NDArray[np.int8] = np.array(match, np.int8)

    def _key(self, pr: str) -> str | None:
        """The pull request's one name; None where it was not asked for."""
        key = pull_request_key(self._spelled.get(pr, pr))
        return key if not self._prs or key in self._prs else None

    def _in_scope(self) -> Iterator[Pair]:
        for pair in stored_pairs(self._run):
            if pair.eligible and not pair.negative and pair.reviewer in self._reviewers and self._key(pair.pr):
                yield pair

    def pairs(self, rows: NDArray[np.intp]) -> list[Pair]:
        """The pairs of these rows, read again."""
        wanted = set(rows.tolist())
        found = {row: pair for row, pair in enumerate(self._in_scope()) if row in wanted} if wanted else {}
        return [found[row] for row in rows.tolist()]


def _named(whose: str, comments: Iterable[tuple[int, Comment]]) -> Iterator[tuple[int, bytes]]:
    """For each position a name of its note; equal notes of one review are told apart by their order."""
    seen: Counter[str] = Counter()
    for position, comment in comments:
        text = f"{whose}\n{seen[comment.note]}\n{comment.note}"
        seen[comment.note] += 1
        yield position, hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _entries(run: CommentsRun, ours: Sequence[Pair], theirs: Sequence[Pair]) -> list[Disagreement]:
    records = quoted(run, [Item.of(pair) for pair in ours])
    found = []
    for pair, other in zip(ours, theirs, strict=True):
        entry = records[pair.pr, pair.reviewer].entry(pair.pr, pair.reviewer, pair.generated, pair.reference, pair)
        found.append(Disagreement(entry, other.verdict))
    return found


def _pull_requests(run: CommentsRun) -> list[str]:
    return list(dict.fromkeys(record.pr for record in run.read_records() if not record.skipped))


def _nothing_shared(ours: CommentsRun, theirs: CommentsRun, names: Sequence[str]) -> str:
    """Why there is nothing to compare, and what to do about it."""
    head = f"{ours.label} and {theirs.label} have no pair of notes in common"
    fix = "Evaluate the same comments and references again with another --judge, and give that run."
    held = list(theirs.result.reviewers)
    if not {*(names or ours.result.reviewers)} & {*held}:
        wanted = ", ".join(names or ours.result.reviewers)
        return f"{head}: the reviewers of the one are {wanted}, those of the other {', '.join(held)}. {fix}"
    return f"{head} that may match by location. {fix}"
