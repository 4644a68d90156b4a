"""Known verdicts on a run's references: read, narrowed to these, and kept from whom they are about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from metareview.comments.summary import LearnedFrom
from metareview.errors import InputError, UsageError
from metareview.formats.checksums import RESULTS
from metareview.formats.verdicts import StoredVerdicts, read_verdicts
from metareview.judges.known import KnownVerdict, KnownVerdicts, person
from metareview.judges.protocol import Question
from metareview.model.comment import ReferenceSet
from metareview.model.words import plural


@dataclass(frozen=True)
class ReadExamples:
    """What the files of `--examples` know about the references."""

    known: KnownVerdicts
    names: str
    """Of the files, for messages."""
    hashes: Mapping[str, str]
    warnings: tuple[str, ...]

    def learned(self, questions: Iterable[Question]) -> tuple[LearnedFrom, list[str]]:
        """What is an example for any of these questions, and what must be said of the rest.

        UsageError where nothing is: the run would be one without examples.
        """
        used: set[KnownVerdict] = set()
        own: set[KnownVerdict] = set()
        references: set[tuple[str, str]] = set()
        for question in questions:
            chosen = self.known.chosen(question)
            used.update(chosen.examples)
            own.update(chosen.own)
            references.update((question.pr, each.reference) for each in chosen.examples)
        if not used:
            raise UsageError(self._nothing(len(own)))
        people = {person(each.reviewer) for each in used if each.reviewer is not None}
        warnings = []
        if own:
            were = "was" if len(own) == 1 else "were"
            warnings.append(
                f"{plural(len(own), 'known verdict')} on a reviewer's own comments, or on notes in the same words,"
                f" {were} not used for that reviewer"
            )
        return LearnedFrom(len(used), len(people), len(references)), warnings

    def _nothing(self, own: int) -> str:
        why = f" ({plural(own, 'verdict')} on the comments that are measured)" if own else ""
        return (
            f"--examples {self.names}: no verdict on another reviewer's comments and these references{why}."
            " Name a file of verdicts on the same references, or leave out --examples."
        )


def read_examples(files: Sequence[Path], references: ReferenceSet) -> ReadExamples:
    """The verdicts of these files on the references; anything wrong is an InputError that names file and line."""
    read = [read_verdicts(file) for file in files]
    notes = {
        review.pr: [comment.note for comment in review.comments if comment.counted]
        for review in references.references.values()
    }
    warnings: list[str] = []
    for file, stored in zip(files, read, strict=True):
        if stored.kind == "pairs" and RESULTS not in stored.hashes:
            problem = f"there is no {RESULTS} beside it, so that nobody knows what its comments say"
            raise InputError(problem, file=file, fix=f"Keep {file.name} and {RESULTS} of one run together.")
        warnings += stored.warnings
        if len(files) > 1 and not KnownVerdicts.of([stored], notes).verdicts:
            warnings.append(f"{file}: no verdict on these references")
    known = KnownVerdicts.of(read, notes)
    return ReadExamples(known, ", ".join(map(str, files)), _hashes(files, read), tuple(warnings))


def _hashes(files: Iterable[Path], read: Iterable[StoredVerdicts]) -> dict[str, str]:
    """By file, with its folder where two have the same name."""
    found: dict[str, str] = {}
    for number, (file, stored) in enumerate(zip(files, read, strict=True), 1):
        for name, value in stored.hashes.items():
            choices = (name, f"{file.parent.name}/{name}", f"{number}/{name}")
            free = next(each for each in choices if found.get(f"examples/{each}", value) == value)
            found[f"examples/{free}"] = value
    return found
