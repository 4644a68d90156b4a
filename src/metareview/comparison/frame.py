"""The frame: which blocks of a run were drawn for people to label, and what their labels say of all blocks.

Drawn once, by strata, with a seed, and stored with the run. Only these blocks enter an estimate: what somebody labels
while looking about is no random sample.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from metareview.comments.blocks import (
    Block,
    BlockKey,
    Counted,
    Frame,
    Position,
    RecordKey,
    Settled,
    Stratum,
    blocks_of,
    settle,
)
from metareview.comparison.hidden_units import HiddenUnits, hidden_units
from metareview.comparison.strata import BUDGET, LEAST, Draw, Sample, draw_units, least_draw, passed_over
from metareview.errors import UsageError
from metareview.model.label import PairKey
from metareview.runs.frame_json import read_frame, write_frame
from metareview.runs.run import CommentsRun, records_with_pairs

CUTS = (0.05, 0.15)
"""Of the greatest s(1 - s) in a block: below the first the judge is sure, from the second on it is not."""
_FLOOR = 0.04
"""No stratum counts as surer than this: the judge's own scores say how far it is to be trusted only so far."""


def open_frame(run: CommentsRun, *, budget: int | None = None, seed: int = 0) -> Frame:
    """The frame that was drawn for this run, or a new one, kept in the run's folder.

    With a larger budget than it was drawn with, blocks are added to it; what was drawn stays.
    """
    stored = None if run.folder is None else read_frame(run.folder, run.manifest.fingerprint)
    if stored is not None and (budget is None or budget <= stored.budget):
        return stored
    frame = draw_frame(run, budget=budget or BUDGET, seed=seed, before=stored)
    if run.folder is not None:
        write_frame(run.folder, frame)
    return frame


def draw_frame(run: CommentsRun, *, budget: int = BUDGET, seed: int = 0, before: Frame | None = None) -> Frame:
    """Draw the blocks of a run that people are asked about; `before`: a frame to be added to.

    UsageError where the run's figures cannot be corrected by labels: in input order (`greedy`) a further match may
    cost another, so that matches do not add up over blocks.
    """
    alignment = run.result.config.alignment
    if alignment == "greedy":
        raise UsageError(
            f"{run.label} was aligned in input order (greedy), where matches do not add up over blocks, so that labels"
            " of a sample cannot correct it. Evaluate with --alignment optimal."
        )
    coverage = alignment == "coverage"
    blocks: list[Block] = []
    runs = Counter[RecordKey]()
    for record, pairs in records_with_pairs(run):
        blocks += blocks_of(record, pairs, coverage=coverage)
        runs[record.key] += record.run is not None
    if not blocks:
        raise UsageError(f"{run.label} has nothing to label: no comment is at the location of a reference.")
    return frame_of(blocks, budget=budget, seed=seed, run=run.manifest.fingerprint, before=before, runs=+runs)


def frame_of(
    blocks: Sequence[Block],
    *,
    budget: int = BUDGET,
    seed: int = 0,
    run: str = "",
    before: Frame | None = None,
    runs: Mapping[RecordKey, int] | None = None,
) -> Frame:
    """The same from the blocks themselves. Under `coverage`, references and comments have half of the budget each."""
    kinds = list(dict.fromkeys(block.counted for block in blocks))
    if budget < LEAST * len(kinds):
        raise UsageError(f"--budget must be {LEAST * len(kinds)} or more, found {budget}: with fewer, chance decides.")
    seed = before.seed if before else seed
    keys: list[tuple[Counted, _StratumKey]] = []
    stratum: dict[BlockKey, int] = {}
    drawn: list[tuple[int, Block]] = []
    for number, counted in enumerate(kinds):
        population = {block.key: block for block in blocks if block.counted == counted}
        share = (budget + (len(kinds) - 1 - number)) // len(kinds)
        found = _drawn(population, share, seed, before, counted)
        first = len(keys)
        keys += [(counted, key) for key in found.strata]
        stratum |= {key: first + at for key, at in found.stratum.items()}
        known = population | {block.key: block for _, block in (before.drawn if before else ())}
        drawn += [(first + found.stratum[key], known[key]) for key in found.drawn]
    sizes = Counter(stratum.values())
    strata = [Stratum(counted, *key, size=sizes[at]) for at, (counted, key) in enumerate(keys)]
    members: dict[RecordKey, Counter[int]] = {}
    for (pr, reviewer, *_), at in stratum.items():
        members.setdefault((pr, reviewer), Counter())[at] += 1
    counts = {key: tuple(of_one[at] for at in range(len(strata))) for key, of_one in members.items()}
    return Frame(run, seed, budget, strata, counts, _in_turn(drawn), stratum, runs or {})


_StratumKey = tuple[str | None, bool | None, int | None]
_FINENESS = ((True, True, True), (False, True, True), (False, True, False), (False, False, False))
"""Whether strata are told apart by reviewer, by the judge's verdict, by how unsure it is."""


def _drawn(
    population: Mapping[BlockKey, Block], budget: int, seed: int, before: Frame | None, counted: Counted
) -> Draw[BlockKey, _StratumKey]:
    """The draw from the blocks of one kind; added to what was drawn of it before."""
    earlier = None if before is None else _earlier(before, counted)
    if earlier is not None and earlier.strata:
        fineness = tuple(part is not None for part in earlier.strata[0])
        keys = {key: _stratum(block, *fineness) for key, block in population.items()}
    else:
        keys = _strata_within(population, budget)
    if before is not None and earlier is not None and not before.stratum:
        earlier = earlier.with_others(keys)

    def weights(stratum: Sequence[int], strata: Sequence[_StratumKey]) -> list[float]:
        return _weights([block.unsure for block in population.values()], stratum, len(strata))

    return draw_units(keys, weights, budget, seed, order=_sorting, before=earlier)


def _earlier(frame: Frame, counted: Counted) -> Draw[BlockKey, _StratumKey]:
    """What was drawn from the blocks of one kind."""
    own = [at for at, stratum in enumerate(frame.strata) if stratum.counted == counted]
    place = {at: number for number, at in enumerate(own)}
    drawn = [(block.key, place[at]) for at, block in frame.drawn if at in place]
    known = {key: place[at] for key, at in frame.stratum.items() if at in place}
    strata = [(stratum.reviewer, stratum.judged, stratum.unsure) for stratum in (frame.strata[at] for at in own)]
    return Draw(strata, known or dict(drawn), [key for key, _ in drawn])


def _strata_within(blocks: Mapping[BlockKey, Block], budget: int) -> dict[BlockKey, _StratumKey]:
    """For each block its stratum: as fine as the budget allows with every stratum's minimum."""
    for fineness in _FINENESS:
        keys = {key: _stratum(block, *fineness) for key, block in blocks.items()}
        if least_draw(list(Counter(keys.values()).values())) <= budget:
            break
    return keys


def _stratum(block: Block, by_reviewer: bool, by_judge: bool, by_unsure: bool) -> _StratumKey:
    return (
        block.reviewer if by_reviewer else None,
        block.judged > 0 if by_judge else None,
        int(np.searchsorted(CUTS, block.unsure, side="right")) if by_unsure else None,
    )


def _sorting(key: _StratumKey) -> tuple[str, ...]:
    return key[0] or "", str(int(bool(key[1]))), str(key[2] or 0)


def _weights(unsure: Sequence[float], stratum: Sequence[int], strata: int) -> list[float]:
    sizes = np.bincount(stratum, minlength=strata)
    means = np.bincount(stratum, unsure, strata) / np.maximum(sizes, 1)
    weights: list[float] = (sizes * np.sqrt(np.maximum(_FLOOR, means))).tolist()
    return weights


def _in_turn(drawn: Sequence[tuple[int, Block]]) -> list[tuple[int, Block]]:
    """Blocks of references and of comments by turns, each in its order."""
    kinds: dict[str, list[tuple[int, Block]]] = {}
    for each in drawn:
        kinds.setdefault(each[1].counted, []).append(each)
    turns = [((at + 0.5) / len(of), kind, each) for kind, of in kinds.items() for at, each in enumerate(of)]
    return [each for _, _, each in sorted(turns, key=lambda turn: turn[:2])]


@dataclass(frozen=True)
class LabelledFrame:
    """A frame, and the verdicts on its pairs that people hold now."""

    frame: Frame
    verdicts: Mapping[PairKey, bool]

    @cached_property
    def settled(self) -> list[Settled]:
        """What the labels say of each drawn block."""
        by_record: dict[RecordKey, dict[tuple[int, int], bool]] = {}
        for (pr, reviewer, *pair), verdict in self.verdicts.items():
            by_record.setdefault((pr, reviewer), {})[pair[0], pair[1]] = verdict
        return [settle(block, by_record.get((block.pr, block.reviewer), {})) for _, block in self.frame.drawn]

    @property
    def done(self) -> int:
        """Drawn blocks whose number of matches is known."""
        return sum(each.number is not None for each in self.settled)

    @cached_property
    def sample(self) -> Sample:
        over = passed_over((stratum, each.number is not None) for (stratum, _), each in self._with_settled())
        return Sample.of([stratum.size for stratum in self.frame.strata], *self.known(), over)

    def known(self) -> tuple[list[int], list[float]]:
        """The strata and the numbers of the blocks whose number is known."""
        strata = [stratum for (stratum, _), each in self._with_settled() if each.number is not None]
        return strata, [float(each.number) for each in self.settled if each.number is not None]

    def _with_settled(self) -> Iterator[tuple[tuple[int, Block], Settled]]:
        return zip(self.frame.drawn, self.settled, strict=True)

    def estimate(self, *counted: Counted) -> dict[RecordKey, float] | None:
        """For each reviewer and pull request with blocks the estimated number of matches, so that sums over pull
        requests are right on average; None where too little is labelled.

        Each block counts as its stratum's mean, and a labelled one by how far it lies from that, N / n times. Of
        repeated runs it is the mean over them.
        """
        if self.sample.missing:
            return None
        wanted = np.array([stratum.counted in counted for stratum in self.frame.strata])
        mean = np.where(wanted, self.sample.mean, 0.0)
        matches = {key: float(np.array(of_one) @ mean) for key, of_one in self.frame.members.items()}
        known = [(stratum, block) for (stratum, block), each in self._with_settled() if each.number is not None]
        beyond = self.sample.beyond_mean(*self.known()).tolist()
        for (stratum, block), value in zip(known, beyond, strict=True):
            matches[block.pr, block.reviewer] += value if wanted[stratum] else 0.0
        return {key: number / self.frame.runs.get(key, 1) for key, number in matches.items()}

    def hidden(self, *counted: Counted, columns: Mapping[int, float]) -> HiddenUnits:
        """The unlabelled blocks of strata without a surprise; `columns`: the counts that one of them changes."""
        known = [
            (stratum, (block.pr, block.reviewer))
            for (stratum, block), each in self._with_settled()
            if each.number is not None
        ]
        among = np.array([stratum.counted in counted for stratum in self.frame.strata])
        return hidden_units(self.sample, self.frame.members, known, columns, among=among, runs=self.frame.runs)

    def questions(self) -> Iterator[tuple[int, Block, Position]]:
        """The drawn blocks that are not known yet: their place in the order, and the pair of each to ask about."""
        for at, ((_, block), each) in enumerate(self._with_settled()):
            if each.ask is not None:
                yield at, block, each.ask
