"""A leaderboard, as an object: everybody's figures, ranks, ties, and what the figures say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from metareview.comments.costs import Costs
from metareview.comments.measures import Counts, Rates
from metareview.comments.repeated_runs import Repeats
from metareview.comparison.judge_parameters import MIXED
from metareview.model.measure import Measure
from metareview.model.words import counted, plural
from metareview.runs.comments_json import counts_to_json
from metareview.runs.costs_json import costs_to_json
from metareview.runs.files import JsonObject, as_json
from metareview.runs.repeats_json import repeats_to_json
from metareview.runs.run import AnyRun
from metareview.stats import Interval
from metareview.ties import MOST_TESTED, PairTest

if TYPE_CHECKING:
    from metareview.routing.weeks import Units

SCHEMA = "metareview.leaderboard/1"
TIES_AT = 0.05
MIN_COVERAGE = 0.8
_NAMED = 4
"""How many are named in a headline before "and 3 others"."""


@dataclass(frozen=True, slots=True)
class Figures:
    """Somebody's figures on a set of pull requests."""

    metrics: Rates
    intervals: Mapping[str, Interval | None]
    counts: Counts | None
    """Their sums; None where nothing was compared with references."""
    known: Mapping[str, int] = field(default_factory=dict)
    """For outcomes: how many comments each figure is over."""
    costs: Costs | None = None
    """What reviews took; None where that is not known."""


@dataclass(frozen=True, slots=True)
class Standing:
    """One competitor's row."""

    rank: int | None
    """None: too few pull requests to be ranked, or no figure."""
    label: str
    ties: str
    """Letters: two that share one are tied. Empty for whoever is not ranked."""
    name: str
    run: str | None
    source: AnyRun
    """The run itself."""
    prs: int
    """Pull requests that it has, of all `of` with references (or in the history)."""
    of: int
    figures: Figures
    """On the pull requests that all ranked ones have; for whoever is not ranked, on its own."""
    own: Figures
    """On its own pull requests."""
    repeats: Repeats | None = None
    """Its repeated runs beside one another, each on its own pull requests."""

    @property
    def undecided(self) -> float:
        return self.figures.counts.undecided if self.figures.counts else 0

    def to_dict(self) -> JsonObject:
        head = {name: getattr(self, name) for name in ("rank", "label", "ties", "name", "run", "prs", "of")}
        counts = counts_to_json(self.figures.counts) if self.figures.counts else {}
        counts |= {"known": self.figures.known} if self.figures.known else {}
        figures, own = (
            {"metrics": figures.metrics, "intervals": figures.intervals, **costs_to_json(figures.costs)}
            for figures in (self.figures, self.own)
        )
        repeats = {} if self.repeats is None else {"repeats": repeats_to_json(self.repeats)}
        return as_json({**head, **counts, **figures, "own": own, "undecided": self.undecided, **repeats})


@dataclass(frozen=True)
class Leaderboard:
    """The ranking. `to_dict()` is what `metareview leaderboard --json` prints."""

    kind: str
    sort: Measure
    beta: float | None
    measures: Sequence[Measure]
    """All that are measured in one of the runs."""
    prs: int
    """The pull requests that figures and tests are over."""
    min_coverage: float
    all_prs: bool
    rows: Sequence[Standing]
    """Who is ranked, the best first."""
    unranked: Sequence[Standing]
    """The others, those with the most pull requests first."""
    pairs: Mapping[tuple[str, str], PairTest]
    """The test of every two ranked labels, the better one first; paired but for outcomes."""
    units: Units | None = None
    """What intervals and tests are over, where that is not pull requests whatever their weeks."""
    warnings: Sequence[str] = ()
    labelled: int | None = None
    """Labelled blocks of the runs, where labels correct the figures of everybody."""
    mixed_examples: bool = False
    """Whether the judges of the runs learned from different examples."""

    @property
    def paired(self) -> bool:
        """Whether everybody ranked is on the same pull requests."""
        return self.kind != "outcomes"

    @property
    def scope(self) -> str:
        """What a figure's name ends with where those of the ranked are not on the pull requests that each has."""
        return f" on {self._which}{counted(self.prs)}" if self._which else ""

    @property
    def _which(self) -> str:
        """Of which pull requests figures are, where that is not those that each of the ranked has."""
        if not self.paired or all(row.prs == self.prs for row in self.rows):
            return ""
        return "all " if self.all_prs else "the shared "

    def compared(self, row: Standing) -> Figures:
        """Its figures in the `scope`: none of whoever is not ranked, whose figures are on its own pull requests."""
        if row.rank or not self.scope:
            return row.figures
        return Figures(dict.fromkeys(row.own.metrics), dict.fromkeys(row.own.intervals), None)

    @property
    def tested(self) -> bool:
        """Whether all pairs of the ranked were tested, and they have letters."""
        return len(self.rows) <= MOST_TESTED

    @property
    def evidence(self) -> str:
        """What a pair that is not tested has too few of."""
        return "matches" if self.paired else "comments"

    @property
    def untested(self) -> list[tuple[str, str]]:
        """Pairs without enough evidence to be tested; they share a letter."""
        return [pair for pair, test in self.pairs.items() if test.p is None]

    @property
    def top(self) -> list[Standing]:
        """The first, and everybody who cannot be told apart from it."""
        return [row for row in self.rows if set(row.ties) & set(self.rows[0].ties)]

    @property
    def leader(self) -> Standing | None:
        """The first, where nobody shares a letter with it."""
        return self.rows[0] if len(self.rows) > 1 and len(self.top) == 1 else None

    @property
    def headline(self) -> str:
        """Who is best, as far as the tests say so."""
        return f"{self.standing}{self.basis}"

    @property
    def basis(self) -> str:
        """What the figures rest on besides the judge: a sentence, or nothing."""
        mixed = f" {MIXED}" if self.mixed_examples else ""
        if not self.labelled:
            return mixed
        if not self.paired:
            return f" What was addressed is corrected by labels of {plural(self.labelled, 'comment')}."
        return f" Corrected by labels of {plural(self.labelled, 'block')}.{mixed}"

    @property
    def standing(self) -> str:
        """The headline without its basis."""
        if not self.rows:
            return "Nobody is ranked."
        first, label = self.rows[0], self.sort.label
        value = first.figures.metrics[self.sort.name]
        shown = f"{label} {value:.3f}"
        # Of outcomes nobody need have another's pull requests: the figure is on one's own.
        where = f"on {self._which}{plural(self.prs if self.paired else first.prs, 'pull request')}"
        if len(self.rows) == 1:
            return f"{first.label} has {shown} {where}."
        if not self.tested:
            few = f"more than {MOST_TESTED} are not tested against one another"
            return f"{first.label} has the highest of {len(self.rows):,} figures, {shown} {where}; {few}."
        if self.leader:
            return f"{first.label} leads with {shown} {where}."
        where = where if self.paired else "each on its own pull requests"
        untested = {second for best, second in self.untested if best == first.label}
        names = [row.label for row in self.top]
        if untested.issuperset(names[1:]):
            return f"{_listed(names)} have too few {self.evidence} to be tested at the top by {label}, {where}."
        sentence = f"{_listed(names)} cannot be told apart at the top by {label}, {where}"
        if lacking := [name for name in names if name in untested]:
            have = "has" if len(lacking) == 1 else "have"
            sentence += f"; {_listed(lacking)} {have} too few {self.evidence} to be tested"
        return f"{sentence}."

    def to_dict(self) -> JsonObject:
        of = "blocks" if self.paired else "comments"
        by_labels = {f"corrected_by_{of}": self.labelled} if self.labelled else {}
        return {
            "schema": SCHEMA,
            "kind": self.kind,
            **({} if self.paired else {"paired": False}),
            "sort": self.sort.name,
            "beta": self.beta,
            "prs": self.prs,
            "min_coverage": self.min_coverage,
            "all_prs": self.all_prs,
            "headline": self.headline,
            "rows": [row.to_dict() for row in self.rows],
            "unranked": [row.to_dict() for row in self.unranked],
            "pairs": [
                {"a": a, "b": b, "diff": test.value, "p": test.p, "p_family": test.p_family}
                for (a, b), test in self.pairs.items()
            ],
            **({} if self.units is None else {"units": self.units.to_dict()}),
            "warnings": list(self.warnings),
            **by_labels,
            **({"mixed_examples": True} if self.mixed_examples else {}),
        }


def _listed(names: Sequence[str]) -> str:
    """The names in words; of many, the first and how many others."""
    if len(names) > _NAMED:
        names = [*names[: _NAMED - 1], plural(len(names) - _NAMED + 1, "other")]
    return f"{', '.join(names[:-1])} and {names[-1]}" if len(names) > 1 else names[0]


def has_enough(prs: int, anybodys: int, min_coverage: float = MIN_COVERAGE) -> bool:
    """Whether somebody with so many of the pull requests that anybody has is ranked."""
    return prs >= min_coverage * anybodys


def unit_warnings(units: Units | None) -> Iterator[str]:
    """What tests of routers over these units do not know, and where they cannot tell anybody apart."""
    if units is None:
        return
    if units.warning:
        yield units.warning
    # Every exchange and its opposite are equally clear, for all pairs at once.
    if units.n and 2 / 2**units.n > TIES_AT:
        yield f"{units.words} cannot show any difference: the least p is {min(1.0, 2 / 2**units.n):g}"
