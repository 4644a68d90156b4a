"""Did it get better or worse, beyond chance? One sentence, from what `metareview compare --json` found."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from metareview.model.measure import Measure
from metareview.report.numbers import rate
from metareview.runs.files import JsonObject, read_json

_NAMED = 4
"""Metrics of a sentence."""


@dataclass(frozen=True, slots=True)
class Change:
    """One metric before and now."""

    measure: Measure
    before: float | None
    now: float | None
    p: float | None
    """After Holm; None where nothing was tested."""

    def is_worse(self, alpha: float) -> bool:
        """By more than chance explains; or a figure that was there is gone."""
        return self.before is not None if self.now is None else self._differs(alpha) and not self._is_good()

    def is_better(self, alpha: float) -> bool:
        return self._differs(alpha) and self._is_good()

    def words(self) -> str:
        return f"{self.measure.label} {rate(self.now)} (was {rate(self.before)})"

    def _differs(self, alpha: float) -> bool:
        return (
            None not in (self.before, self.now) and self.before != self.now and self.p is not None and self.p <= alpha
        )

    def _is_good(self) -> bool:
        assert self.before is not None
        assert self.now is not None
        return (self.now > self.before) != self.measure.lower_is_better


@dataclass(frozen=True, slots=True)
class Against:
    """A comparison, as far as the page says it in its own words."""

    before: str
    now: str
    alpha: float
    changes: tuple[Change, ...]
    verdict: str

    @property
    def sentence(self) -> str:
        """Worse, better, both, or neither."""
        worse = [change for change in self.changes if change.is_worse(self.alpha)]
        better = [change for change in self.changes if change.is_better(self.alpha)]
        if not worse and not better:
            return f"{self.now} is neither better nor worse than {self.before} beyond chance: {_listed(self.changes)}."
        if worse and better:
            return (
                f"Beyond chance, {self.now} is worse than {self.before} on {_listed(worse)}, and better on"
                f" {_listed(better)}."
            )
        word, those = ("worse", worse) if worse else ("better", better)
        return f"{self.now} is {word} than {self.before}, beyond chance: {_listed(those)}."


def read_against(file: Path, measures: Sequence[Measure], watched: Collection[str] = ()) -> Against | None:
    """What the file of a comparison says, watched metrics first; None where it says nothing that can be used."""
    known = {measure.name: measure for measure in measures}
    try:
        document = read_json(file)
        found = document["metrics"]
        changes = [_change(known[name], found[name]) for name in known if name in found]
        first = [change for change in changes if change.measure.name in watched]
        ordered = (*first, *(change for change in changes if change not in first))
        sides: Mapping[str, JsonObject] = {side: document[side] for side in "ab"}
        return Against(
            str(sides["a"]["label"]), str(sides["b"]["label"]), float(document["alpha"]), ordered,
            str(document.get("verdict", "")),
        )  # fmt: skip
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _change(measure: Measure, found: JsonObject) -> Change:
    before, now, p = (None if found[key] is None else float(found[key]) for key in ("a", "b", "p_holm"))
    return Change(measure, before, now, p)


def _listed(changes: Sequence[Change]) -> str:
    more = len(changes) - _NAMED
    words = [change.words() for change in changes[:_NAMED]] + ([f"{more} more"] if more > 0 else [])
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
