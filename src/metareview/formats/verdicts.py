"""Stored verdicts, for `--verdicts` and `--examples`: a run's `pairs.jsonl` (or the `pairs.parquet`
that stands for it), labels, Martian's `evaluations.json`, and the `examples.jsonl` that a run learned from.

Which of them a file is shows in its content. What is found is the same for all: for each reviewer on a pull request
the verdicts by note (and by position, where the file has those), and every note that the file knows there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Literal

from metareview.errors import InputError
from metareview.formats.checksums import RESULTS, check_file_of_run
from metareview.formats.input_file import InputFile
from metareview.formats.json_values import objects_of_lines
from metareview.formats.labels import first_object, is_labels, position_of, read_label_set
from metareview.formats.line_parts import has_parts, input_of_lines
from metareview.formats.record import Record

Kind = Literal["pairs", "labels", "martian", "examples"]
ReviewKey = tuple[str | None, str | None, bool]
"""The pull request as it is written there, the reviewer, whether it is about negatives; None where nothing says so."""
NotePair = tuple[str, str]
"""The note of a comment and that of a reference."""
DECIDERS = ("judge", "model", "cache", "label")
_EXAMPLE_FIELDS = {"a", "b", "match", "by"}
_PAIR_FIELDS = {"pr", "reviewer", "generated", "reference", "match"}
_KNOWN = "Give a run's pairs.jsonl, labels (JSON lines with a, b and match), or Martian's evaluations.json."
_SIDES = {"a": "the reference", "b": "the comment"}
_AS_WRITTEN = "Take the file as the run wrote it."
_AS_PUBLISHED = "Take the file as Martian's benchmark wrote it."


@dataclass(frozen=True, slots=True)
class StoredVerdict:
    """The verdict of a file on a pair; `match` is None where it lists the pair and does not decide it."""

    match: bool | None
    score: float | None = None
    by: str = "judge"
    reason: str = ""
    reviewer: str | None = None
    """The reviewer, where the file names that and no pull request."""


@dataclass
class ReviewVerdicts:
    """The verdicts of a file on one reviewer's comments on one pull request. Notes are stripped."""

    by_notes: dict[NotePair, StoredVerdict] = field(default_factory=dict)
    by_position: dict[tuple[int, int], StoredVerdict] = field(default_factory=dict)
    generated: set[str] = field(default_factory=set)
    reference: set[str] = field(default_factory=set)
    """Every note that it knows, also those in no pair."""
    generated_at: dict[int, str] = field(default_factory=dict)
    reference_at: dict[int, str] = field(default_factory=dict)
    """The notes by position."""
    missed: set[str] = field(default_factory=set)
    """References that no comment matched, also none of those that the file does not quote."""
    whole: bool = True
    """True if a pair of two notes that it knows is a no where it is not listed."""

    def add(self, generated: str, reference: str, verdict: StoredVerdict) -> None:
        pair = generated.strip(), reference.strip()
        self.by_notes[pair] = verdict
        self.generated.add(pair[0])
        self.reference.add(pair[1])


@dataclass(frozen=True)
class StoredVerdicts:
    """All that a file says. `hashes` has what was read, by name."""

    kind: Kind
    name: str
    reviews: Mapping[ReviewKey, ReviewVerdicts]
    hashes: Mapping[str, str]
    groups: Sequence[ReviewVerdicts] = ()
    """Labels that say neither pull request nor reviewer: they hold wherever the notes are, group by group."""
    lists_all: bool = True
    """True if everything was looked at, so that what is not listed was found different. Of a run, locations kept pairs
    apart that were not judged, and people label a part of its pairs."""
    beyond: bool = False
    """True if it also has pairs that their locations keep apart, which a judge without cost also decides."""
    warnings: Sequence[str] = ()


def read_verdicts(file: str | Path | InputFile) -> StoredVerdicts:
    """The verdicts of a file; anything wrong is an InputError that names the line."""
    file = file if isinstance(file, InputFile) else input_of_lines(Path(file))
    kind = kind_of(file)
    if kind is None:
        if file.json.looks_like_json:
            file.json.first.as_object("a line", _KNOWN)
        raise InputError("its verdicts are of no known kind", file=file.name, line=1, fix=_KNOWN)
    if kind in ("examples", "pairs"):
        check_file_of_run(file.path)
    return {"examples": _examples, "labels": _labels, "pairs": _pairs, "martian": _martian}[kind](file)


def kind_of(file: InputFile) -> Kind | None:
    """The kind of verdicts in a file, by its content; None where it is not known."""
    first = first_object(file)
    if first.keys() >= _EXAMPLE_FIELDS and first["by"] in DECIDERS:
        return "examples"
    if is_labels(first):
        return "labels"
    if first.keys() >= _PAIR_FIELDS:
        return "pairs"
    if file.json.looks_like_json and (file.json.is_single or not first):
        value = file.json.first.value
        if isinstance(value, dict) and _is_martian(value):
            return "martian"
    return None


# A run's pairs.jsonl


def _pairs(file: InputFile) -> StoredVerdicts:
    results = file.path.with_name(RESULTS)
    has_notes = (results.is_file() and file.path.is_file()) or has_parts(results)
    beside = input_of_lines(results)
    reviews = _notes_of_run(beside) if has_notes else {}
    known, beyond = set(reviews), False
    for record in objects_of_lines(file):
        pr, reviewer = record.required("pr", "the pull request"), record.text("reviewer")
        if reviewer is None:
            record.refuse("reviewer", "a string", _AS_WRITTEN)
        key = pr, reviewer, bool(record.flag("negative"))
        review = reviews.setdefault(key, ReviewVerdicts())
        generated, reference = position_of(record, "generated"), position_of(record, "reference")
        verdict = _verdict_of_pair(record)
        beyond |= record.flag("eligible") is False
        review.by_position[generated, reference] = verdict
        if key in known:
            if generated not in review.generated_at or reference not in review.reference_at:
                fix = f"Keep {Path(file.name).name} and {RESULTS} of one run together."
                record.fail(None, f"{RESULTS} has no comments at these positions", fix)
            pair = review.generated_at[generated], review.reference_at[reference]
            # Of equal notes a pair that is the same speaks for those whose place the file does not have.
            if not review.by_notes.get(pair, verdict).match or verdict.match:
                review.by_notes[pair] = verdict
        else:
            review.generated_at.setdefault(generated, "")
            review.reference_at.setdefault(reference, "")
    if not any(review.by_position for review in reviews.values()):
        raise InputError("no verdicts", file=file.name, fix=_KNOWN)
    warnings = list(file.all_warnings())
    if set(reviews) - known:
        less = "" if has_notes else f"no {RESULTS} beside it: "
        warnings.append(f"{file.name}: {less}comments are found by their positions, whatever their notes")
    hashes = {file.path.name: file.sha256} | ({RESULTS: beside.sha256} if has_notes else {})
    return StoredVerdicts("pairs", file.path.name, reviews, hashes, lists_all=False, beyond=beyond, warnings=warnings)


def _verdict_of_pair(record: Record) -> StoredVerdict:
    match, score, by = record.flag("match"), record.number("score"), record.text("by") or "judge"
    if score is not None and score > 1:
        record.refuse("score", "a number from 0 to 1", _AS_WRITTEN, quote=True)
    if by not in DECIDERS:
        record.refuse("by", f"one of {', '.join(DECIDERS)}", _AS_WRITTEN, quote=True)
    return StoredVerdict(match, score, by, record.text("reason") or "")


def _notes_of_run(file: InputFile) -> dict[ReviewKey, ReviewVerdicts]:
    """Every note of a run, by its position."""
    reviews: dict[ReviewKey, ReviewVerdicts] = {}
    for record in objects_of_lines(file):
        if record.flag("skipped"):
            continue
        pr, reviewer = record.required("github_pr_url", "the pull request"), record.text("reviewer") or ""
        ours = dict(_notes_at(record, "match_details", "generated"))
        for negative, key, place in (
            (False, "reference_comments", "reference"),
            (True, "negative_comments", "negative"),
        ):
            theirs = dict(_notes_at(record, key, place))
            # Repeated runs of a reviewer have a record each; no two of their comments share a position.
            review = reviews.setdefault((pr, reviewer, negative), ReviewVerdicts())
            review.generated |= set(ours.values())
            review.reference |= set(theirs.values())
            review.generated_at |= ours
            review.reference_at |= theirs
    return reviews


def _notes_at(record: Record, key: str, place: str) -> Iterator[tuple[int, str]]:
    for comment in record.objects(key, "a comment"):
        yield position_of(comment, place), (comment.text("note") or "").strip()


# Labels


def _labels(file: InputFile) -> StoredVerdicts:
    found = read_label_set(file)
    reviews: dict[ReviewKey, ReviewVerdicts] = {}
    groups: dict[str | int, ReviewVerdicts] = {}
    verdicts = [(label, label.match) for label in found.labels] + [(label, None) for label in found.taken_back]
    for number, (label, match) in enumerate(verdicts):
        if label.pr is None:
            review = groups.setdefault(number if label.group is None else label.group, ReviewVerdicts())
        else:
            review = reviews.setdefault((label.pr, label.reviewer, False), ReviewVerdicts())
        pair = label.candidate.strip(), label.reference.strip()
        if match is None and pair in review.by_notes:
            continue
        whose = label.reviewer if label.pr is None else None
        if match is None:
            verdict = StoredVerdict(None, None, "label", "the label was taken back", whose)
        else:
            verdict = StoredVerdict(match, float(match), "label", labelled_reason(match, label.by), whose)
        review.add(*pair, verdict)
    return StoredVerdicts(
        "labels",
        file.path.name,
        reviews,
        {file.path.name: file.sha256},
        list(groups.values()),
        lists_all=not found.of_a_run,
        warnings=tuple(found.warnings),
    )


def labelled_reason(match: bool, people: Sequence[str]) -> str:
    """The reason of a labelled verdict: `labelled the same by anna`."""
    by = f" by {' and '.join(filter(None, (', '.join(people[:-1]), people[-1])))}" if people else ""
    return f"labelled {'the same' if match else 'different'}{by}"


# The examples of a run


def _examples(file: InputFile) -> StoredVerdicts:
    """Every line is a verdict, and nothing follows from what is not there."""
    reviews: dict[ReviewKey, ReviewVerdicts] = {}
    groups: list[ReviewVerdicts] = []
    for record in objects_of_lines(file):
        pr, reviewer, match = record.text("pr") or None, record.text("reviewer"), record.flag("match")
        reference, comment = (record.required(key, f"the note of {what}") for key, what in _SIDES.items())
        if match is None:
            record.refuse("match", "true or false", _AS_WRITTEN)
        by = record.text("by")
        if by not in DECIDERS:
            record.refuse("by", f"one of {', '.join(DECIDERS)}", _AS_WRITTEN, quote=True)
        if pr is None:
            groups.append(review := ReviewVerdicts(whole=False))
        else:
            review = reviews.setdefault((pr, reviewer, False), ReviewVerdicts(whole=False))
        verdict = StoredVerdict(match, float(match), by, "a known verdict", reviewer if pr is None else None)
        review.add(comment, reference, verdict)
    hashes = {file.path.name: file.sha256}
    warnings = tuple(file.all_warnings())
    return StoredVerdicts("examples", file.path.name, reviews, hashes, groups, lists_all=False, warnings=warnings)


# Martian's evaluations.json


def _is_martian(value: Mapping[str, object]) -> bool:
    """Addresses, under each an object of tools, and under each of those what became of its candidates."""
    tools = next((each for each in value.values() if each), None)
    entry = next(iter(tools.values()), None) if isinstance(tools, dict) else None
    return isinstance(entry, dict) and bool({"true_positives", "skipped"} & entry.keys())


def _martian(file: InputFile) -> StoredVerdicts:
    reviews: dict[ReviewKey, ReviewVerdicts] = {}
    skipped = 0
    everything = file.json.first
    for url in everything.value:
        if not url.strip():
            everything.fail(url, "an empty address", "Give the pull request's address as the key.")
        tools = everything.object(url, "a pull request")
        for tool in tools.value:
            entry = tools.object(tool, "an evaluation")
            if entry.flag("skipped"):
                skipped += 1
                continue
            reviews[url, tool, False] = _evaluation(entry)
    if not reviews:
        raise InputError("no verdicts", file=file.name, fix=_KNOWN)
    warnings = list(file.all_warnings())
    if skipped:
        warnings.append(f"{file.name}: {skipped:,} evaluations that were skipped there have no verdicts")
    return StoredVerdicts("martian", file.path.name, reviews, {file.path.name: file.sha256}, warnings=tuple(warnings))


def _evaluation(entry: Record) -> ReviewVerdicts:
    """One tool on one pull request. What it lists as wrong or missed is different from all that it quotes; a pair that
    failed there is undecided, and where the file does not name the failed one, every pair that is not listed."""
    review = ReviewVerdicts()
    for pair in entry.objects("true_positives", "a match"):
        confidence = pair.number("confidence")
        if confidence is not None and confidence > 1:
            pair.refuse("confidence", "a number from 0 to 1", _AS_PUBLISHED, quote=True)
        verdict = StoredVerdict(True, 1.0 if confidence is None else confidence, "model", pair.text("reasoning") or "")
        review.add(_quoted(pair, "matched_candidate"), _quoted(pair, "golden_comment"), verdict)
    for wrong in entry.objects("false_positives", "a candidate"):
        review.generated.add(_quoted(wrong, "candidate").strip())
    for missed in entry.objects("false_negatives", "a golden comment"):
        review.missed.add(_quoted(missed, "golden_comment").strip())
    review.reference |= review.missed
    for error in _errors(entry):
        golden, candidate = error.get("golden_comment"), error.get("candidate")
        if isinstance(golden, str) and isinstance(candidate, str):
            review.add(candidate, golden, StoredVerdict(None, None, "model", "the model failed on it there"))
        else:
            review.whole = False
    total = entry.value.get("total_candidates")
    if not review.whole or type(total) is not int or total <= len(review.generated):
        review.missed.clear()  # it quotes every candidate, so that any other one is new to it
    return review


def _errors(entry: Record) -> Iterator[Mapping[str, object]]:
    """The errors in the file, which has no fixed form for them."""
    errors = entry.value.get("errors") or []
    for error in errors if isinstance(errors, list) else [errors]:
        yield error if isinstance(error, dict) else {}


def _quoted(record: Record, key: str) -> str:
    return record.required(key, "the note, as the benchmark quotes it")
