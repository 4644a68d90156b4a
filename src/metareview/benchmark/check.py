"""Is a benchmark sound? Lint it, then score answers whose figures are known beforehand.

oracle          the references as comments: everything 1
silence         no comments: recall 0, precision undefined
shuffled notes  every note moved to another pull request: places still match, meanings must not
shifted lines   every comment moved past the end of its file: nothing may match by place
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from metareview.comments.align import Graph, align_greedy
from metareview.comments.case import Case, Rules
from metareview.comments.location import candidate_pairs
from metareview.comments.measures import measured, rates, table
from metareview.judges.registry import open_judge
from metareview.model.comment import (
    MAX_LINE,
    Benchmark,
    Comment,
    CommentCategory,
    CommentContext,
    Review,
    normal_path,
    repository_and_number,
)
from metareview.pipelines.evaluate import judge_cases

# Notes that stand on several pull requests ("add a test") match after shuffling too; more than this is no accident.
_ALIKE = 0.05


@dataclass(frozen=True, slots=True)
class Finding:
    """`error`: figures on this benchmark cannot be right. `warning`: read it, then decide. `note`: good to know."""

    level: str
    message: str


@dataclass(frozen=True, slots=True)
class Probe:
    """A known answer, its figures, and what was expected; `passed` is None where it means nothing here."""

    name: str
    passed: bool | None
    expected: str
    metrics: Mapping[str, float | None]


def check_benchmark(benchmark: Benchmark, line_distance: int = 1) -> dict[str, Any]:
    """The result of `metareview check`: sound or not, the findings and the probes."""
    findings = [Finding("warning", text) for text in benchmark.warnings]
    findings += lint(benchmark, line_distance)
    probes = list(_probes(benchmark, line_distance))
    reviews = benchmark.references.values()
    return {
        "schema": "metareview.check/1",
        "sound": not any(f.level == "error" for f in findings) and not any(p.passed is False for p in probes),
        "prs": len(benchmark.references),
        "references": sum(comment.counted for review in reviews for comment in review.comments),
        "negatives": sum(c.counted for review in benchmark.negatives.values() for c in review.comments),
        "findings": [{"level": finding.level, "message": finding.message} for finding in findings],
        "probes": {
            probe.name: {"passed": probe.passed, "expected": probe.expected, "metrics": dict(probe.metrics)}
            for probe in probes
        },
    }


def lint(benchmark: Benchmark, line_distance: int) -> Iterator[Finding]:
    """What can be seen without scoring anything."""
    for key, review in benchmark.references.items():
        if not any(comment.counted for comment in review.comments):
            yield Finding("warning", f"{key}: no reference; every comment on it counts as noise")
        yield from _lint_review(key, "reference", review.comments, benchmark.has_places)
        negatives = benchmark.negatives.get(key)
        if negatives is not None:
            yield from _lint_review(key, "negative", negatives.comments, benchmark.has_places)
            both = {_identity(c) for c in review.comments} & {_identity(c) for c in negatives.comments}
            if both:
                yield Finding("error", f"{key}: {len(both)} comments are both reference and negative")
    yield from _lint_names(benchmark)
    yield from _lint_values(benchmark)
    if benchmark.has_places:
        yield from _lint_crowds(benchmark, line_distance)


def _lint_review(key: str, what: str, comments: Sequence[Comment], places: bool) -> Iterator[Finding]:
    empty = sum(not comment.counted for comment in comments)
    if empty:
        yield Finding("warning", f"{key}: {empty} {what}s without a note are not counted")
    twice = [count for count in Counter(map(_identity, comments)).values() if count > 1]
    if twice:
        yield Finding(
            "warning", f"{key}: {len(twice)} {what}s stand there more than once, note and place alike"
        )
    nowhere = sum(normal_path(comment.path) is None for comment in comments)
    if places and nowhere:
        yield Finding("warning", f"{key}: {nowhere} {what}s have no path, so they match in any file")


def _lint_names(benchmark: Benchmark) -> Iterator[Finding]:
    named: dict[tuple[str, int], list[str]] = {}
    for key, review in benchmark.references.items():
        found = repository_and_number(review.pr)
        if found is None and not re.fullmatch(r"[^/#]+#\d+", review.pr):
            yield Finding("warning", f"{key}: not the address of a pull request; aacr-text cannot name it")
        elif found is not None:
            named.setdefault((found[0].casefold(), found[1]), []).append(key)
    for keys in named.values():
        if len(keys) > 1:
            yield Finding("warning", f"aacr-text cannot tell apart {' and '.join(keys)}; use jsonl for these")


def _lint_values(benchmark: Benchmark) -> Iterator[Finding]:
    comments = [comment for review in benchmark.references.values() for comment in review.comments]
    for name, enum, values in (
        ("category", CommentCategory, [comment.category for comment in comments]),
        ("context", CommentContext, [comment.context for comment in comments]),
    ):
        odd = Counter(value for value in values if value and value not in {member.value for member in enum})
        if odd:
            shown = ", ".join(f"{value!r} ({count})" for value, count in odd.most_common(5))
            yield Finding("note", f"values of {name} outside AACR-Bench's own: {shown}")


def _lint_crowds(benchmark: Benchmark, line_distance: int) -> Iterator[Finding]:
    crowded = total = greedy = 0
    for review in benchmark.references.values():
        comments = [comment for comment in review.comments if comment.counted]
        found = candidate_pairs(comments, comments, line_distance)
        neighbours = Counter(found.generated.tolist())
        crowded += sum(count > 1 for count in neighbours.values())
        total += len(comments)
        graph = Graph(found.generated, found.reference, np.ones(len(found)))
        greedy += len(align_greedy(graph, None)[0].pairs)
    if crowded:
        yield Finding(
            "note",
            f"{crowded} of {total} references stand within a line distance of {line_distance} of another: place "
            f"alone cannot tell these apart, and a greedy pairing by place finds only {greedy} of {total}",
        )


def _identity(comment: Comment) -> tuple[object, ...]:
    return (*comment.content_key, comment.side and comment.side.casefold())


def _probes(benchmark: Benchmark, line_distance: int) -> Iterator[Probe]:
    rules = Rules(line_distance=line_distance, place=benchmark.has_places)
    references = {key: tuple(c for c in r.comments if c.counted) for key, r in benchmark.references.items()}
    recalls = ["positive_recall_rate"] + ["positive_line_recall_rate"] * rules.place
    precisions = ["positive_match_rate"] + ["positive_line_match_rate"] * rules.place

    oracle = _score(benchmark, references, rules)
    yield Probe("oracle", all(oracle[m] == 1 for m in recalls + precisions), "everything 1", oracle)

    silence = _score(benchmark, dict.fromkeys(references, ()), rules)
    is_silent = all(silence[m] == 0 for m in recalls) and all(silence[m] is None for m in precisions)
    yield Probe("silence", is_silent, "recall 0, precision undefined", silence)

    shuffled = _with_other_notes(references)
    if shuffled is None:
        yield Probe("shuffled notes", None, "needs two pull requests or more", {})
    else:
        figures = _score(benchmark, shuffled, rules)
        lines_stay = not rules.place or figures["positive_line_recall_rate"] == 1
        passed = lines_stay and (figures["positive_recall_rate"] or 0) <= _ALIKE
        yield Probe("shuffled notes", passed, f"recall at most {_ALIKE}, line recall 1", figures)

    if not rules.place:
        yield Probe("shifted lines", None, "no reference has a place", {})
        return
    anywhere = sum(c.from_line is None and c.to_line is None for said in references.values() for c in said)
    figures = _score(benchmark, {key: tuple(map(_far_away, said)) for key, said in references.items()}, rules)
    total = sum(map(len, references.values()))
    passed = (figures["positive_line_recall_rate"] or 0) * total <= anywhere
    expected = (
        "line recall 0" if not anywhere else f"line recall 0 but for {anywhere} references of whole files"
    )
    yield Probe("shifted lines", passed, expected, figures)


def _score(
    benchmark: Benchmark, said: Mapping[str, Iterable[Comment]], rules: Rules
) -> dict[str, float | None]:
    cases = [
        Case(
            "probe",
            Review(benchmark.references[key].pr, tuple(comments)),
            benchmark.references[key],
            None,
            rules,
        )
        for key, comments in said.items()
    ]
    with open_judge("exact") as judge:
        records = [record for _, record, _, _ in judge_cases(cases, judge)]
    figures = rates(table(records).sum(axis=0), measured(rules.place, False))
    return {name: value for name, value in figures.items() if name != "false_positive_rate"}


def _with_other_notes(references: Mapping[str, Sequence[Comment]]) -> dict[str, tuple[Comment, ...]] | None:
    """Every note moved on by as many comments as the largest pull request has: none stays in its own."""
    notes = [comment.note for said in references.values() for comment in said]
    largest = max(map(len, references.values()), default=0)
    if len(notes) < 2 * largest or largest == 0:
        return None
    moved = iter(notes[largest:] + notes[:largest])
    return {key: tuple(replace(c, note=next(moved)) for c in said) for key, said in references.items()}


def _far_away(comment: Comment) -> Comment:
    """The last lines that there can be: no file reaches there. Whole-file comments have no lines to move."""
    if comment.from_line is None and comment.to_line is None:
        return comment
    return replace(comment, from_line=MAX_LINE, to_line=MAX_LINE)
