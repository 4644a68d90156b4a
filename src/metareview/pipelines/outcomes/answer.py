"""Answer: whether each comment was addressed, by labels, by what changed, or by a model."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from typing import Self

from metareview.formats.input_file import InputFile
from metareview.formats.outcome_labels import read_outcome_labels
from metareview.judges.remote.addressed import AddressedModel
from metareview.outcomes.addressed import (
    NOBODY,
    AddressedPlan,
    OutcomeLabels,
    decided_by_labels,
    label_remarks,
    plan_questions,
)
from metareview.outcomes.records import OutcomeRecord
from metareview.pipelines.outcomes.options import OutcomesOptions


@dataclass
class Answers:
    """Who decides, and what was decided so far."""

    name: str
    """none, llm or cascade."""
    judge: AddressedModel | None = None
    labels: OutcomeLabels = field(default_factory=OutcomeLabels)
    hashes: Mapping[str, str] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    _labelled: tuple[int, int] = (0, 0)

    @classmethod
    @contextmanager
    def opened(cls, options: OutcomesOptions) -> Iterator[Self]:
        """The judge and the labels that the options ask for; the judge is open until the end."""
        file = None if options.labels is None else InputFile(options.labels)
        found = None if file is None else read_outcome_labels(file)
        labels = OutcomeLabels(found.labels if found else ())
        hashes = {} if file is None else {f"labels/{file.path.name}": file.sha256}
        warnings = tuple(found.warnings) if found else ()
        asked = nullcontext() if options.judge == NOBODY else AddressedModel.of(options.judge_options())
        with asked as judge:
            yield cls(options.judge, judge, labels, hashes, warnings)

    def to(self, records: Sequence[OutcomeRecord]) -> list[OutcomeRecord]:
        """The records with every verdict that there is."""
        if self.judge is None and not len(self.labels):
            return list(records)
        plan = self._plan(records)
        return plan.answered([] if self.judge is None else self.judge.ask(plan.questions))

    def planned_calls(self, records: Sequence[OutcomeRecord]) -> int:
        return 0 if self.judge is None else self.judge.planned_calls(self._plan(records).questions)

    def _plan(self, records: Sequence[OutcomeRecord]) -> AddressedPlan:
        return plan_questions(records, self.name, self.labels)

    def count(self, records: Sequence[OutcomeRecord]) -> None:
        """Of records with all their verdicts: what labels decided."""
        labelled, against = decided_by_labels(records, self.name)
        self._labelled = self._labelled[0] + labelled, self._labelled[1] + against

    def remarks(self) -> list[str]:
        """What the reader of the figures should know about who decided."""
        by_labels = label_remarks(self.labels, *self._labelled) if len(self.labels) else ()
        return [*self.warnings, *by_labels, *(self.judge.warnings if self.judge else ())]
