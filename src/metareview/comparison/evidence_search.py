"""Which pairs, comments and references of a run are the worst, by their positions: pairs are streamed, and only the
best of each list are kept, so that a run of a million pairs can be looked at."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any, Generic, Literal, NamedTuple, TypeVar, get_args

from metareview.comments.records import CommentRecord, Pair
from metareview.comparison.quotes import FoundIn
from metareview.errors import InputError, UsageError, did_you_mean
from metareview.model.address import AddressBook, parse_address, pull_request_key
from metareview.model.severity import severity_rank
from metareview.runs.files import PAIRS
from metareview.runs.parts import has_lines
from metareview.runs.run import CommentsRun, OutcomesRun

ListName = Literal["missed", "noise", "near", "matched", "undecided"]
LISTS: tuple[ListName, ...] = get_args(ListName)
ReferenceKey = tuple[str, int]
"""Pull request, and position of the reference."""
CommentKey = tuple[str, str, int]
"""Pull request, reviewer, and position of the comment."""


@lru_cache(maxsize=65536)
def place(pr: str) -> tuple[str, str, int]:
    """What pull requests are sorted by: #9 comes before #10."""
    address = parse_address(pr)
    return (address.host or "", address.repository.casefold(), address.number) if address else ("", pr, 0)


def known_reviewers(run: CommentsRun | OutcomesRun, names: Sequence[str]) -> tuple[str, ...]:
    """These reviewers, in the order of the run; all of them where none is named."""
    held = list(run.result.reviewers)
    for name in names:
        if name not in held:
            there = f"There are {', '.join(held)}." if held else "It has none."
            raise UsageError(f"No reviewer of {run.label} is named {name!r}.{did_you_mean(name, held)} {there}")
    return tuple(name for name in held if not names or name in names)


def known_pull_requests(prs: Sequence[str], texts: Sequence[str], label: str) -> tuple[str, ...]:
    """Those that the texts mean: addresses in any spelling, or numbers that only one of them has."""
    book = AddressBook({pull_request_key(pr): (pr,) for pr in prs})
    by_key = {pull_request_key(pr): pr for pr in prs}
    found = []
    for text in texts:
        meant = _numbered(by_key, int(text)) if text.isdecimal() and len(text) < 19 else []
        meant = meant or book.find(text)
        if not meant:
            names = [_short(pr) for pr in prs]
            there = f" There are {', '.join(names[:4])}{', …' if len(names) > 4 else ''}." if names else ""
            raise UsageError(
                f"{label} has no pull request {text!r} that was scored.{did_you_mean(text, names) or there}"
            )
        if len(meant) > 1:
            several = ", ".join(meant[:4]) + (", …" if len(meant) > 4 else "")
            raise UsageError(f"--pr {text} may be any of {several}. Give one of them.")
        found.append(by_key[meant[0]])
    return tuple(dict.fromkeys(found))


def _numbered(by_key: Mapping[str, str], number: int) -> list[str]:
    return [key for key, pr in by_key.items() if (address := parse_address(pr)) and address.number == number]


def _short(pr: str) -> str:
    address = parse_address(pr)
    return f"{address.repository}#{address.number}" if address else pr


@dataclass(frozen=True, slots=True)
class Item:
    """What an entry will be about: positions and a verdict, no notes yet."""

    pr: str
    reviewer: str
    """Whose record has the notes."""
    comment: int | None = None
    other: int | None = None
    pair: Pair | None = None
    found_in: FoundIn | None = None

    @classmethod
    def of(cls, pair: Pair) -> Item:
        return cls(pair.pr, pair.reviewer, pair.generated, pair.reference, pair)


T = TypeVar("T")


class Best(Generic[T]):
    """The first `top` (0: all) of many by their keys, and how many there were; keys are never equal."""

    def __init__(self, top: int) -> None:
        self._top, self._held, self._last = top, list[tuple[Any, T]](), None
        self.total = 0

    def add(self, key: tuple[Any, ...], item: T) -> None:
        self.total += 1
        if self._last is not None and key > self._last:
            return
        self._held.append((key, item))
        if self._top and len(self._held) >= 4 * self._top + 100:
            self._cut()

    def _cut(self) -> None:
        self._held.sort(key=lambda each: each[0])
        if self._top and len(self._held) >= self._top:
            del self._held[self._top :]
            self._last = self._held[-1][0]

    def items(self) -> list[T]:
        self._cut()
        return [item for _, item in self._held]


class Missed(NamedTuple):
    """A reference that not every run of a reviewer raised."""

    share: float
    """Of the runs, those that raised it, by whoever raised it most; 0: nobody ever did."""
    severity: int
    whose: str
    """Whose record has it."""
    found_in: FoundIn | None


class Ledger:
    """What the records count: which references these reviewers did not raise, which comments have no partner."""

    def __init__(self, run: CommentsRun, reviewers: Sequence[str], prs: Sequence[str] = ()) -> None:
        self.prs: dict[str, None] = {}
        self.raised: dict[ReferenceKey, list[str]] = {}
        """By whom, of all in the run."""
        self.missed: dict[ReferenceKey, Missed] = {}
        self.noise: dict[CommentKey, tuple[bool, int]] = {}
        """Whether it repeats a negative, and how severe it claims to be."""
        self.aside: set[ReferenceKey | CommentKey] = set()
        """References that do not count, and comments that are left out because of them."""
        for record in run.read_records():
            if not record.skipped:
                self._add(record, record.reviewer in reviewers)
        self.missed = {key: missed for key, missed in self.missed.items() if missed.share < 1}
        self.asked_for = known_pull_requests(list(self.prs), prs, run.label)
        if self.asked_for:
            self.prs = dict.fromkeys(self.asked_for)
            self.missed = {key: value for key, value in self.missed.items() if key[0] in self.prs}
            self.noise = {key: value for key, value in self.noise.items() if key[0] in self.prs}

    def _add(self, record: CommentRecord, chosen: bool) -> None:
        self.prs[record.pr] = None
        for reference in record.references:
            key = (record.pr, reference.position)
            if not reference.kept:
                self.aside.add(key)
                continue
            if reference.covered:
                self.raised.setdefault(key, []).append(record.reviewer)
            if chosen and (key not in self.missed or reference.share > self.missed[key].share):
                severity, runs = severity_rank(reference.comment.severity), reference.runs or 1
                found_in = FoundIn(record.reviewer, reference.found_in or 0, runs) if runs > 1 else None
                self.missed[key] = Missed(reference.share, severity, record.reviewer, found_in)
        for scored in record.comments if chosen else ():
            of_comment = (*record.key, scored.position)
            if scored.left_out:
                self.aside.add(of_comment)
            elif not scored.matched:
                self.noise[of_comment] = (scored.negative is not None, severity_rank(scored.comment.severity))


def stored_pairs(run: CommentsRun) -> Iterator[Pair]:
    """All of a run's pairs; InputError where its folder has lost them."""
    if run.folder is not None and run.result.judge.pairs and not has_lines(run.folder / PAIRS):
        raise InputError(f"{PAIRS} is missing", file=run.folder, fix="Run the evaluation again with --overwrite.")
    return run.read_pairs()


class Search:
    """One reading of all pairs: the best of the lists of pairs, and what came nearest to each of the others."""

    def __init__(self, run: CommentsRun, reviewers: Sequence[str], prs: Sequence[str], top: int) -> None:
        self.reviewers = known_reviewers(run, reviewers)
        self.ledger = Ledger(run, self.reviewers, prs)
        self._top = top
        self._pairs: Mapping[str, Best[Item]] = {name: Best(top) for name in ("near", "matched", "undecided")}
        self._nearest: dict[ReferenceKey | CommentKey, tuple[tuple[Any, ...], Pair]] = {}
        self._repeated: dict[CommentKey, Pair] = {}
        for pair in stored_pairs(run):
            if pair.pr in self.ledger.prs and pair.reviewer in self.reviewers:
                self._add(pair)

    def count(self, name: ListName) -> int:
        if name == "missed" or name == "noise":
            return len(self.ledger.missed if name == "missed" else self.ledger.noise)
        return self._pairs[name].total

    def best(self, name: ListName) -> list[Item]:
        if name == "missed":
            return self._best_missed()
        return self._best_noise() if name == "noise" else self._pairs[name].items()

    def _add(self, pair: Pair) -> None:
        verdict, comment = pair.verdict, (pair.pr, pair.reviewer, pair.generated)
        at = (place(pair.pr), pair.reviewer, pair.generated, pair.negative, pair.reference)
        if pair.eligible and verdict.match is None:
            self._pairs["undecided"].add(at, Item.of(pair))
        if pair.negative:
            if pair.aligned:
                self._repeated.setdefault(comment, pair)
            return
        reference = (pair.pr, pair.reference)
        if reference in self.ledger.aside or comment in self.ledger.aside:
            return
        score = -1.0 if verdict.score is None else verdict.score
        rank = (-score, not pair.eligible, *at)
        for key, sought in ((reference, self.ledger.missed), (comment, self.ledger.noise)):
            if key in sought and not pair.aligned and (key not in self._nearest or rank < self._nearest[key][0]):
                self._nearest[key] = (rank, pair)
        if pair.aligned:
            self._pairs["matched"].add((score if score >= 0 else 2.0, *at), Item.of(pair))
        elif pair.eligible and verdict.match is False:
            self._pairs["near"].add((-score, *at), Item.of(pair))

    def _score(self, key: ReferenceKey | CommentKey) -> float:
        """Of what came nearest; -1 where nothing was compared with it, or nothing has a score."""
        return -self._nearest[key][0][0] if key in self._nearest else -1.0

    def _best_missed(self) -> list[Item]:
        best: Best[ReferenceKey] = Best(self._top)
        for key, (share, severity, _, _) in self.ledger.missed.items():
            best.add((share, severity, -self._score(key), place(key[0]), key[1]), key)
        items = []
        for pr, position in best.items():
            near = self._nearest.get((pr, position))
            missed = self.ledger.missed[pr, position]
            item = Item.of(near[1]) if near else Item(pr, missed.whose, other=position)
            items.append(replace(item, found_in=missed.found_in))
        return items

    def _best_noise(self) -> list[Item]:
        best: Best[CommentKey] = Best(self._top)
        for key, (repeats, severity) in self.ledger.noise.items():
            best.add((not repeats, severity, self._score(key), place(key[0]), *key[1:]), key)
        items = []
        for key in best.items():
            near = self._nearest.get(key)
            pair = self._repeated.get(key) or (near[1] if near else None)
            items.append(Item.of(pair) if pair else Item(key[0], key[1], comment=key[2]))
        return items
