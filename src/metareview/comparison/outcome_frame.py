"""Which comments of a run of outcomes people are asked about, and what their labels say of all of them.

Drawn once, by strata, with a seed, and stored with the run, as the blocks of a run of comments are. The unit is a
comment. Where a judge was asked, comments are told apart by what it said; else by whether their lines changed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from metareview.comparison.hidden_units import HiddenUnits, hidden_units
from metareview.comparison.strata import BUDGET, LEAST, Draw, Sample, draw_units, least_draw, passed_over
from metareview.errors import UsageError
from metareview.model.addressed import FULLY, NOT, UNKNOWN
from metareview.model.label import OutcomeKey
from metareview.outcomes.addressed import NOBODY
from metareview.outcomes.sample import ADDRESSED, NOT_ADDRESSED, OutcomeFrame, RecordKey, Stratum, Unit, unit_of
from metareview.runs.outcome_frame_json import read_outcome_frame, write_outcome_frame
from metareview.runs.run import OutcomesRun
from metareview.stats import Array

_SURE = 0.16
"""The variance that is expected where the judge decided: it errs in about one of five. Elsewhere 0.25."""


def open_outcome_frame(run: OutcomesRun, *, budget: int | None = None, seed: int = 0) -> OutcomeFrame:
    """The frame that was drawn for this run, or a new one, kept in the run's folder.

    With a larger budget than it was drawn with, comments are added to it; what was drawn stays.
    """
    stored = None if run.folder is None else read_outcome_frame(run.folder, run.manifest.fingerprint)
    if stored is not None and (budget is None or budget <= stored.budget):
        return stored
    judged = run.result.config.judge != NOBODY
    units = [unit_of(record.key, each, judged=judged) for record in run.read_records() for each in record.comments]
    if not units:
        raise UsageError(f"{run.label} has nothing to label: no comment.")
    frame = outcome_frame(units, budget=budget or BUDGET, run=run.manifest.fingerprint, seed=seed, before=stored)
    if run.folder is not None:
        write_outcome_frame(run.folder, frame)
    return frame


_FINENESS = ((True, True), (False, True), (False, False))
"""Whether strata are told apart by reviewer, by group."""
_Key = tuple[str | None, str | None]


def outcome_frame(
    units: Sequence[Unit], *, budget: int = BUDGET, seed: int = 0, run: str = "", before: OutcomeFrame | None = None
) -> OutcomeFrame:
    """Draw from these comments; `before`: a frame to be added to."""
    if budget < LEAST:
        raise UsageError(f"--budget must be {LEAST} or more, found {budget}: with fewer, chance decides.")
    seed = before.seed if before else seed
    earlier = None if before is None else _earlier(before)
    population = {unit.key: unit for unit in units}
    if earlier is not None and earlier.strata:
        fineness = tuple(part is not None for part in earlier.strata[0])
        keys = {key: _stratum(unit, *fineness) for key, unit in population.items()}
    else:
        keys = _strata_within(population, budget)
    if before is not None and earlier is not None and not before.stratum:
        earlier = earlier.with_others(keys)
    found = draw_units(keys, _weights, budget, seed, order=_sorting, before=earlier)
    members: dict[RecordKey, Counter[int]] = {}
    for (pr, reviewer, _), at in found.stratum.items():
        members.setdefault((pr, reviewer), Counter())[at] += 1
    sizes = Counter(found.stratum.values())
    known = population | {unit.key: unit for _, unit in (before.drawn if before else ())}
    return OutcomeFrame(
        run,
        seed,
        budget,
        [Stratum(*key, size=sizes[at]) for at, key in enumerate(found.strata)],
        {key: tuple(of_one[at] for at in range(len(found.strata))) for key, of_one in members.items()},
        [(found.stratum[key], known[key]) for key in found.drawn],
        found.stratum,
    )


def _weights(stratum: Sequence[int], strata: Sequence[_Key]) -> list[float]:
    spread = [_SURE if group in (ADDRESSED, NOT_ADDRESSED) else 0.25 for _, group in strata]
    sizes = np.bincount(stratum, minlength=len(strata)).tolist()
    return [size * float(np.sqrt(each)) for size, each in zip(sizes, spread, strict=True)]


def _earlier(frame: OutcomeFrame) -> Draw[OutcomeKey, _Key]:
    drawn = {unit.key: at for at, unit in frame.drawn}
    strata = [(stratum.reviewer, stratum.group) for stratum in frame.strata]
    return Draw(strata, frame.stratum or drawn, list(drawn))


def _strata_within(units: Mapping[OutcomeKey, Unit], budget: int) -> dict[OutcomeKey, _Key]:
    """For each comment its stratum: as fine as the budget allows with every stratum's minimum."""
    for fineness in _FINENESS:
        keys = {key: _stratum(unit, *fineness) for key, unit in units.items()}
        if least_draw(list(Counter(keys.values()).values())) <= budget:
            break
    return keys


def _sorting(key: _Key) -> tuple[str, ...]:
    return key[0] or "", key[1] or ""


def _stratum(unit: Unit, by_reviewer: bool, by_group: bool) -> _Key:
    return unit.reviewer if by_reviewer else None, unit.group if by_group else None


VALUES: Mapping[str, Callable[[str], bool]] = {
    "addressed": lambda verdict: verdict not in (NOT, UNKNOWN),
    "fully": lambda verdict: verdict == FULLY,
    "decidable": lambda verdict: verdict != UNKNOWN,
}
"""What is estimated of each comment, 0 or 1: a comment of which nobody can tell is out of both ends of a rate."""


@dataclass(frozen=True)
class LabelledOutcomes:
    """A frame, and the verdicts on comments that people hold now."""

    frame: OutcomeFrame
    verdicts: Mapping[OutcomeKey, str]

    @cached_property
    def known(self) -> list[tuple[int, Unit, str]]:
        """The drawn comments that are labelled, in the order of asking: stratum, comment, verdict."""
        return [
            (stratum, unit, self.verdicts[unit.key]) for stratum, unit in self.frame.drawn if unit.key in self.verdicts
        ]

    @property
    def done(self) -> int:
        return len(self.known)

    @cached_property
    def sample(self) -> Sample:
        """By how many are labelled; the values are whether a comment was addressed."""
        return self._sample("addressed")

    def _sample(self, what: str) -> Sample:
        sizes = [stratum.size for stratum in self.frame.strata]
        over = passed_over((stratum, unit.key in self.verdicts) for stratum, unit in self.frame.drawn)
        return Sample.of(sizes, [stratum for stratum, _, _ in self.known], self._values(what), over)

    def _values(self, what: str) -> list[float]:
        return [float(VALUES[what](verdict)) for _, _, verdict in self.known]

    def estimate(self, what: str) -> dict[RecordKey, float] | None:
        """For each reviewer and pull request with comments how many were addressed, fully, or are decidable, so that
        sums over pull requests are right on average; None where too little is labelled.

        Each comment counts as its stratum's mean, and a labelled one by how far it lies from that, N / n times.
        """
        sample = self._sample(what)
        if sample.missing:
            return None
        found = {key: float(np.array(of_one) @ sample.mean) for key, of_one in self.frame.members.items()}
        beyond = sample.beyond_mean([stratum for stratum, _, _ in self.known], self._values(what)).tolist()
        for (_, unit, _), value in zip(self.known, beyond, strict=True):
            found[unit.record] += value
        return found

    def hidden(self, what: str, column: int) -> HiddenUnits:
        """The unlabelled comments of strata whose labelled ones are all alike in this; `column`: the count of it."""
        known = [(stratum, unit.record) for stratum, unit, _ in self.known]
        return hidden_units(self._sample(what), self.frame.members, known, {column: 1.0})

    def weights(self) -> Array:
        """For how many comments each labelled one stands: N / n of its stratum."""
        factor: Array = self.sample.sizes / np.maximum(self.sample.labelled, 1)
        return factor[[stratum for stratum, _, _ in self.known]] if self.known else np.zeros(0)

    def open(self) -> Iterator[tuple[int, Unit]]:
        """The drawn comments without a label: their place in the order of asking, from 0."""
        return ((at, unit) for at, (_, unit) in enumerate(self.frame.drawn) if unit.key not in self.verdicts)
