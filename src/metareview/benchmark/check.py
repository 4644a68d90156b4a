"""Is a benchmark sound? Lint it, then score answers whose figures are known beforehand.

oracle          the references as comments: everything 1
silence         no comments: recall 0, precision undefined
shuffled notes  every note moved to another pull request: locations still match, meanings must not
shifted lines   every comment moved past the end of its file: nothing may match by location
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass

import numpy as np

from metareview.comments.align import Graph, align_greedy
from metareview.comments.case import Case, Rules
from metareview.comments.decide import decide
from metareview.comments.location import candidate_pairs
from metareview.comments.measures import MEASURES, Rates, measured, rates, table
from metareview.judges.registry import open_judge
from metareview.model.address import repository_and_number
from metareview.model.comment import MAX_LINE, Comment, CommentCategory, CommentContext, ReferenceSet, Review
from metareview.model.words import plural
from metareview.pipelines.comments.answer import answer
from metareview.pipelines.comments.doubts import Doubt
from metareview.runs.files import JsonObject

_IDENTIFIER = r"[^\s/#:]+|[^\s/#:]+/[^\s/#:@]+@\w+"
"""What a pull request without a number goes by: an instance_id, or owner/repo@commit."""
# Notes that several pull requests share ("add a test") match after shuffling too; more than this is no accident.
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
    metrics: Rates


@dataclass(frozen=True, slots=True)
class CheckResult:
    """Whether a benchmark is sound, and why. `to_dict()` is what `metareview check --json` prints."""

    prs: int
    references: int
    negatives: int
    findings: Sequence[Finding]
    probes: Sequence[Probe]

    @property
    def sound(self) -> bool:
        failed = [probe for probe in self.probes if probe.passed is False]
        return not failed and all(finding.level != "error" for finding in self.findings)

    def to_dict(self) -> JsonObject:
        document = asdict(self)
        probes = {probe.pop("name"): probe for probe in document["probes"]}
        return {"schema": "metareview.check/1", "sound": self.sound, **document, "probes": probes}


def check_benchmark(benchmark: ReferenceSet, line_distance: int = 1, doubts: Iterable[Doubt] = ()) -> CheckResult:
    """Lint a benchmark, then score the probes on it; `doubts` about its files are errors."""
    references, negatives = (
        sum(map(len, _counted(reviews).values())) for reviews in (benchmark.references, benchmark.negatives)
    )
    findings = [Finding("error", f"{doubt.file}: {doubt.problem}. {doubt.fix}.") for doubt in doubts]
    findings += [*(Finding("warning", text) for text in benchmark.warnings), *_lint(benchmark, line_distance)]
    probes = list(_probes(benchmark, line_distance))
    return CheckResult(len(benchmark.references), references, negatives, findings, probes)


def _lint(benchmark: ReferenceSet, line_distance: int) -> Iterator[Finding]:
    """What can be seen without scoring anything."""
    for key, review in benchmark.references.items():
        if not any(comment.counted and not comment.neutral for comment in review.comments):
            yield Finding("warning", f"{key}: no reference; every comment on it counts as noise")
        yield from _lint_review(key, "reference", review.comments, benchmark.has_locations)
        if key in benchmark.negatives:
            negatives = benchmark.negatives[key].comments
            yield from _lint_review(key, "negative", negatives, benchmark.has_locations)
            both = set(map(_identity, review.comments)) & set(map(_identity, negatives))
            if both:
                yield Finding(
                    "error", f"{key}: {plural(len(both), 'comment is', 'comments are')} both reference and negative"
                )
    yield from _lint_names(benchmark)
    comments = [comment for review in benchmark.references.values() for comment in review.comments]
    for name, enum in (("category", CommentCategory), ("context", CommentContext)):
        known = {None, "", *(member.value for member in enum)}
        odd = Counter(value for comment in comments if (value := comment[name]) not in known)
        if odd:
            shown = ", ".join(f"{value!r} ({count})" for value, count in odd.most_common(5))
            yield Finding("note", f"values of {name} outside AACR-Bench's own: {shown}")
    if benchmark.has_locations:
        yield from _lint_crowds(benchmark, line_distance)


def _lint_review(key: str, what: str, comments: Sequence[Comment], locations: bool) -> Iterator[Finding]:
    comments = [comment for comment in comments if comment.in_reply_to is None]  # replies are no references
    empty = sum(not comment.counted for comment in comments)
    twice = sum(count > 1 for count in Counter(map(_identity, comments)).values())
    nowhere = sum(not comment.content_key[0] for comment in comments)
    again = "more than once, with the same note and location"
    for number, of_one, of_many in (
        (empty, "without a note is not counted", "without a note are not counted"),
        (twice, f"occurs {again}", f"occur {again}"),
        (nowhere * locations, "has no path, so it matches in any file", "have no path, so they match in any file"),
    ):
        if number:
            yield Finding("warning", f"{key}: {plural(number, f'{what} {of_one}', f'{what}s {of_many}')}")


def _lint_names(benchmark: ReferenceSet) -> Iterator[Finding]:
    named: dict[tuple[str, int], list[str]] = {}
    unnumbered: list[str] = []
    for key, review in benchmark.references.items():
        name = repository_and_number(review.pr)
        if name is not None:
            named.setdefault((name[0].casefold(), name[1]), []).append(key)
        elif not re.fullmatch(r"[^/#]+#\d+", review.pr):
            if re.fullmatch(_IDENTIFIER, review.pr):
                unnumbered.append(review.pr)
            else:
                yield Finding("warning", f"{key}: not the address of a pull request; aacr-text cannot name it")
    if unnumbered:
        are = f"{len(unnumbered)} of {plural(len(benchmark.references), 'pull request')} have no number"
        fix = f"comments on {unnumbered[0]!r} must name it in pr or, without a slash, in the file's name"
        yield Finding("note", f"{are}: {fix}")
    for keys in named.values():
        if len(keys) > 1:
            yield Finding("warning", f"aacr-text cannot tell apart {' and '.join(keys)}; use jsonl for these")


def _lint_crowds(benchmark: ReferenceSet, line_distance: int) -> Iterator[Finding]:
    crowded = total = greedy = 0
    for comments in _counted(benchmark.references).values():
        near = candidate_pairs(comments, comments, line_distance)
        crowded += sum(count > 1 for count in Counter(near.generated.tolist()).values())
        total += len(comments)
        graph = Graph(near.generated, near.reference, np.ones(len(near)))
        greedy += len(align_greedy(graph, None)[0].pairs)
    if crowded:
        yield Finding(
            "note",
            f"{crowded} of {total} references are within a line distance of {line_distance} of another: location "
            f"alone cannot tell these apart, and a greedy pairing by location finds only {greedy} of {total}",
        )


def _identity(comment: Comment) -> tuple[object, ...]:
    return (*comment.content_key, comment.side and comment.side.casefold())


def _counted(reviews: Mapping[str, Review]) -> dict[str, tuple[Comment, ...]]:
    """The comments that count, by pull request."""
    return {key: tuple(comment for comment in review.comments if comment.counted) for key, review in reviews.items()}


def _probes(benchmark: ReferenceSet, line_distance: int) -> Iterator[Probe]:
    rules = Rules(line_distance=line_distance, location=benchmark.has_locations)
    references = _counted(benchmark.references)
    recalls = ["positive_recall_rate"] + ["positive_line_recall_rate"] * rules.location
    precisions = ["positive_match_rate"] + ["positive_line_match_rate"] * rules.location

    oracle = _score(benchmark, references, rules)
    yield Probe("oracle", all(oracle[name] == 1 for name in recalls + precisions), "everything 1", oracle)

    silence = _score(benchmark, dict.fromkeys(references, ()), rules)
    is_silent = all(silence[name] == 0 for name in recalls) and all(silence[name] is None for name in precisions)
    yield Probe("silence", is_silent, "recall 0, precision undefined", silence)

    everything = [comment for comments in references.values() for comment in comments]
    largest = max(map(len, references.values()), default=0)
    if len(everything) < 2 * largest or largest == 0:
        yield Probe("shuffled notes", None, "needs two pull requests or more", {})
    else:
        # Every note moves on by as many comments as the largest pull request has: none stays in its own.
        notes = iter([comment.note for comment in everything[largest:] + everything[:largest]])
        shuffled = {key: tuple(each.replace(note=next(notes)) for each in of) for key, of in references.items()}
        figures = _score(benchmark, shuffled, rules)
        lines_stay = not rules.location or figures["positive_line_recall_rate"] == 1
        passed = lines_stay and (figures["positive_recall_rate"] or 0) <= _ALIKE
        yield Probe("shuffled notes", passed, f"recall at most {_ALIKE}, line recall 1", figures)

    if not rules.location:
        yield Probe("shifted lines", None, "no reference has a location", {})
        return
    figures = _score(benchmark, {key: tuple(map(_far_away, comments)) for key, comments in references.items()}, rules)
    whole_files = sum(_far_away(comment) is comment for comment in everything)
    passed = (figures["positive_line_recall_rate"] or 0) * len(everything) <= whole_files
    but_for = f" but for {plural(whole_files, 'reference')} of whole files" if whole_files else ""
    yield Probe("shifted lines", passed, f"line recall 0{but_for}", figures)


def _score(benchmark: ReferenceSet, comments: Mapping[str, tuple[Comment, ...]], rules: Rules) -> Rates:
    """The figures of one reviewer with these comments, where only equal notes are the same."""
    references = benchmark.references
    cases = [
        Case.of("probe", Review(references[key].pr, of_one), references[key], None, rules)
        for key, of_one in comments.items()
    ]
    with open_judge("exact") as judge:
        counts = table(decide(judged).counts for _, judged in answer(cases, judge) if judged)
    shown = [measure for measure in MEASURES if measure.needs != "negatives"]
    return rates(counts.sum(axis=0), measured(location=rules.location, negatives=False), shown)


def _far_away(comment: Comment) -> Comment:
    """At the last line that there can be, which no file reaches. A comment on a whole file has no lines to move."""
    is_whole_file = comment.from_line is None and comment.to_line is None
    return comment if is_whole_file else comment.replace(from_line=MAX_LINE, to_line=MAX_LINE)
