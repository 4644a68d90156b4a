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

from metareview.comments.blocks import Block, Counted, Frame, Position, RecordKey, Settled, Stratum, blocks_of, settle
from metareview.comparison.strata import BUDGET, LEAST, Sample, allocate, draw, least_draw, passed_over
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
    drawn_before = Counter(stratum for stratum, _ in before.drawn) if before else Counter()
    seed = before.seed if before else seed
    strata: list[Stratum] = []
    drawn: list[tuple[int, Block]] = []
    members: dict[RecordKey, Counter[int]] = {}
    for number, counted in enumerate(kinds):
        population = [block for block in blocks if block.counted == counted]
        share = (budget + (len(kinds) - 1 - number)) // len(kinds)
        keys = _strata_within(population, share, before)
        sizes, first = Counter(keys), len(strata)
        # By what they are: the draw must not hang on which block comes first.
        in_order = sorted(sizes, key=_sorting)
        place = {key: at for at, key in enumerate(in_order)}
        of_block = [place[key] for key in keys]
        numbers = allocate([sizes[key] for key in in_order], _weights(population, of_block, len(in_order)), share)
        # The same seed puts a stratum into the same order: who was drawn before is drawn again.
        numbers = [max(wanted, drawn_before[first + at]) for at, wanted in enumerate(numbers)]
        for block, at in zip(population, of_block, strict=True):
            members.setdefault((block.pr, block.reviewer), Counter())[first + at] += 1
        drawn += [(first + of_block[unit], population[unit]) for unit in draw(of_block, numbers, seed)]
        strata += [Stratum(counted, *key, size=sizes[key]) for key in in_order]
    counts = {key: tuple(of_one[at] for at in range(len(strata))) for key, of_one in members.items()}
    return Frame(run, seed, budget, strata, counts, _in_turn(drawn), runs or {})


_StratumKey = tuple[str | None, bool | None, int | None]
_FINENESS = ((True, True, True), (False, True, True), (False, True, False), (False, False, False))
"""Whether strata are told apart by reviewer, by the judge's verdict, by how unsure it is."""


def _strata_within(blocks: Sequence[Block], budget: int, before: Frame | None) -> list[_StratumKey]:
    """For each block its stratum: as fine as the budget allows with every stratum's minimum, or as it was before."""
    counted = blocks[0].counted
    used = next((stratum for stratum in before.strata if stratum.counted == counted), None) if before else None
    if used is not None:
        return [
            _stratum(block, *(part is not None for part in (used.reviewer, used.judged, used.unsure)))
            for block in blocks
        ]
    for fineness in _FINENESS:
        keys = [_stratum(block, *fineness) for block in blocks]
        if least_draw(list(Counter(keys).values())) <= budget:
            break
    return keys


def _stratum(block: Block, by_reviewer: bool, by_judge: bool, by_unsure: bool) -> _StratumKey:
    return (
        block.reviewer if by_reviewer else None,
        block.judged > 0 if by_judge else None,
        int(np.searchsorted(CUTS, block.unsure, side="right")) if by_unsure else None,
    )


def _sorting(key: _StratumKey) -> tuple[str, bool, int]:
    return key[0] or "", bool(key[1]), key[2] or 0


def _weights(blocks: Sequence[Block], stratum: Sequence[int], strata: int) -> list[float]:
    sizes = np.bincount(stratum, minlength=strata)
    unsure = np.bincount(stratum, [block.unsure for block in blocks], strata) / sizes
    weights: list[float] = (sizes * np.sqrt(np.maximum(_FLOOR, unsure))).tolist()
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
        return Sample.of([stratum.size for stratum in self.frame.strata], *self.known())

    @property
    def missing(self) -> int:
        """How many blocks more are needed before anything can be estimated."""
        return self.sample.missing

    @property
    def skipped(self) -> int:
        """Drawn blocks that were passed over, though later ones of their stratum are known: what is known of that
        stratum is then no random sample."""
        return passed_over((stratum, each.number is not None) for (stratum, _), each in self._with_settled())

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

    def questions(self) -> Iterator[tuple[int, Block, Position]]:
        """The drawn blocks that are not known yet: their place in the order, and the pair of each to ask about."""
        for at, ((_, block), each) in enumerate(self._with_settled()):
            if each.ask is not None:
                yield at, block, each.ask
