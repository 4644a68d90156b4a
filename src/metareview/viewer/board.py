"""One reviewer on one pull request: who is paired with whom, what was compared, what people said of it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from metareview.comments.records import CommentRecord, Pair, ScoredComment, Verdict
from metareview.model.comment import Comment
from metareview.model.label import PairKey
from metareview.report.page.charts import SERIES
from metareview.report.page.markup import Html, html
from metareview.viewer.links import address_with, anchor
from metareview.viewer.run_view import RunView

_PARTNER = '<a class="partner s{}" href="#{}"{}><span class="number"><b>{}</b></span> {}</a>'
Group = tuple[list[int], list[int]]
"""Comments and references."""
_COMPARED = Mapping[int, Sequence[Pair]]


@dataclass(frozen=True)
class Board:
    """What the page of a pull request looks things up in. Positions are those of the run, labels count from 1."""

    run: RunView
    record: CommentRecord
    everybody: Sequence[CommentRecord]
    """The records of all reviewers of the pull request, best reviewer first."""
    labels: Mapping[PairKey, bool]
    words_open: bool = False
    """Whether the words of pairs are shown without a click."""
    shown_whole: int | None = None
    """The comment of which all pairs are shown, however many."""

    @cached_property
    def near(self) -> float:
        """From which score on a pair that does not match comes near."""
        config = self.run.run.result.config
        return (0.5 if config.threshold is None else float(config.threshold)) / 2

    @property
    def pr(self) -> str:
        return self.record.pr

    @property
    def reviewer(self) -> str:
        return self.record.reviewer

    @cached_property
    def comments(self) -> dict[int, ScoredComment]:
        return {each.position: each for each in self.record.comments}

    @cached_property
    def references(self) -> dict[int, Comment]:
        return {each.position: each.comment for each in self.record.references}

    @cached_property
    def negatives(self) -> dict[int, Comment]:
        return {each.position: each.comment for each in self.record.negatives}

    @cached_property
    def comment_labels(self) -> dict[int, str]:
        return {each.position: f"C{k}" for k, each in enumerate(self.record.comments, 1)}

    @cached_property
    def reference_labels(self) -> dict[int, str]:
        return {position: f"R{k}" for k, position in enumerate(self.references, 1)}

    @cached_property
    def _read(self) -> tuple[_COMPARED, _COMPARED]:
        """The pairs of each comment with references, and those with negatives."""
        compared: dict[bool, dict[int, list[Pair]]] = {False: defaultdict(list), True: defaultdict(list)}
        for pair in self.run.pairs_of(self.pr):
            others = self.negatives if pair.negative else self.references
            if pair.reviewer == self.reviewer and pair.generated in self.comments and pair.reference in others:
                compared[pair.negative][pair.generated].append(pair)
        return compared[False], compared[True]

    def pairs(self, position: int) -> Sequence[Pair]:
        """What a comment was compared with, the highest score first."""
        return sorted(self._read[0].get(position, ()), key=lambda pair: -_score(pair.verdict))

    def rejected(self, position: int) -> Pair | None:
        """The negative that a comment repeats, as a pair; None where it repeats none."""
        negative = self.comments[position].negative
        found = self._read[1].get(position, ())
        return next((pair for pair in found if pair.reference == negative), None)

    @cached_property
    def numbers(self) -> dict[tuple[int, int], int]:
        """Each aligned pair's number on the page, in the order of the comments."""
        pairs = list(self.record.matches)
        paired = {generated for generated, _ in pairs}
        pairs += [
            (each.position, each.reference)
            for each in self.record.comments
            if each.reference is not None and each.position not in paired
        ]
        known = [pair for pair in sorted(pairs) if pair[0] in self.comments and pair[1] in self.references]
        return {pair: k for k, pair in enumerate(known, 1)}

    def partners(self, position: int) -> list[int]:
        """The references that a comment is aligned with: several, where one comment may cover several."""
        return [reference for generated, reference in self.numbers if generated == position]

    def verdict(self, generated: int, reference: int) -> Verdict | None:
        """On an aligned pair; None where no judge was asked."""
        found = next((pair.verdict for pair in self.pairs(generated) if pair.reference == reference), None)
        return found or self.comments[generated].verdict

    @cached_property
    def groups(self) -> list[Group]:
        """Comments and references that hang together by aligned pairs, in the order of the pairs' numbers."""
        groups: list[Group] = []
        of: dict[tuple[str, int], Group] = {}
        for generated, reference in self.numbers:
            ours, theirs = of.get(("c", generated)), of.get(("r", reference))
            group = ours or theirs
            if group is None:
                group = ([], [])
                groups.append(group)
            if ours is not None and theirs is not None and ours is not theirs:
                groups.remove(theirs)
                for side, key in ((0, "c"), (1, "r")):
                    ours[side].extend(theirs[side])
                    of.update({(key, position): ours for position in theirs[side]})
            for side, key, position in ((0, "c", generated), (1, "r", reference)):
                if position not in group[side]:
                    group[side].append(position)
                of[key, position] = group
        return groups

    def kind(self, scored: ScoredComment) -> int:
        """Matches first, then what needs a look, then noise, then what is not counted."""
        if scored.matched:
            return 0
        if self.undecided(scored.position):
            return 1
        return 2 if scored.negative is not None else 4 if scored.left_out else 3

    def undecided(self, position: int) -> list[Pair]:
        return [pair for pair in self.pairs(position) if pair.verdict.match is None and pair.eligible]

    def marker(self, generated: int, reference: int, *, at_comment: bool) -> Html:
        """The number of an aligned pair, with a link to its other side; at the comment a line begins there."""
        number = self.numbers[generated, reference]
        here, there = anchor(generated), anchor(reference=reference)
        other = self.reference_labels[reference] if at_comment else self.comment_labels[generated]
        spoken = html(' data-thread="{}"', f"{here}-{there}")
        if not at_comment:
            spoken = html(' data-end="{}"', f"{here}-{there}")
        return html(_PARTNER, (number - 1) % SERIES, there if at_comment else here, spoken, number, other)

    def address(self, *, reviewer: str | None = None, fragment: str = "", **query: object) -> str:
        """Of this page, for this reviewer or for another one."""
        kept = {"reviewer": reviewer or self.reviewer, "words": "open" if self.words_open else None, **query}
        return address_with(self.run.address(self.pr), kept, fragment)


def _score(verdict: Verdict) -> float:
    return -1.0 if verdict.score is None else verdict.score
