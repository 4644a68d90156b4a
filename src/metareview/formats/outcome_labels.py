"""Labels of outcomes: JSON lines `{"pr", "reviewer", "position", "addressed", "note", "at", "name"}`, as `labels.jsonl`
of a run of outcomes has them. A person's later line on a comment takes the place of the earlier one, and
`"addressed": null` takes it back; lines about pairs and unlisted issues are passed over.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metareview.errors import InputError
from metareview.formats.input_file import InputFile
from metareview.formats.labels import position_of, whole_records
from metareview.formats.record import Record
from metareview.model.addressed import ADDRESSED_VERDICTS
from metareview.model.label import OutcomeLabel, current_verdicts
from metareview.model.words import plural

EXAMPLE = (
    '{"pr": "o/r#1", "reviewer": "bot", "position": 0, "addressed": "fully", "note": "the comment", "at": "2026-01-31"}'
)
_TAKE = "Take the line as `metareview label RUN` wrote it."


@dataclass(frozen=True)
class OutcomeLabelSet:
    """The labels of a file that are in force, one per comment, in the order of the file."""

    labels: Sequence[OutcomeLabel]
    warnings: Sequence[str] = ()


def read_outcome_labels(file: InputFile) -> OutcomeLabelSet:
    """The majority verdict of people per comment; ties go to the latest. Anything wrong is an InputError that names the
    line; so is a file without any such label in force."""
    given: list[OutcomeLabel] = []
    others = 0
    for record in whole_records(file):
        if "addressed" in record.value:
            given.append(_label(record))
        else:
            others += 1
    in_force = current_verdicts(((*label.key, label.note), label.name, label.verdict) for label in given)
    if not in_force:
        about = f": {plural(others, 'line')} about other things" if others else ""
        raise InputError(f"no labels of outcomes{about}", file=file.name, fix=f"Give lines such as {EXAMPLE}.")
    # The latest label with the verdict in force stands for all that agree.
    latest = {
        (*label.key, label.note): label for label in given if in_force.get((*label.key, label.note)) == label.verdict
    }
    return OutcomeLabelSet([latest[key] for key in in_force], file.all_warnings())


def _label(record: Record) -> OutcomeLabel:
    verdict = record.value["addressed"]
    if verdict is not None and verdict not in ADDRESSED_VERDICTS:
        record.refuse("addressed", f"one of {', '.join(ADDRESSED_VERDICTS)}, or null", _TAKE)
    texts = {key: record.text(key) for key in ("pr", "reviewer", "note")}
    missing = next((key for key, text in texts.items() if text is None), None)
    if missing is not None:
        record.fail(None, f"{missing} is missing", _TAKE)
    pr, reviewer, note = (text or "" for text in texts.values())
    name = record.text("name")
    return OutcomeLabel(
        pr, reviewer, position_of(record, "position"), note, verdict, record.text("at") or "", name or None
    )
