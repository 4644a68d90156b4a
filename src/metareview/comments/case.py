"""One reviewer on one pull request: the pairs to be judged, and, once they are, the record of what counts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metareview.comments.align import Alignment, Graph, Mode, align, align_greedy
from metareview.comments.filters import FilterConfig
from metareview.comments.location import Candidates, candidate_pairs
from metareview.comments.measures import COUNTS, LINE_COUNTS, measured, rates, table
from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED, Answer, Question, judged_part
from metareview.model.address import repository_and_number
from metareview.model.comment import Comment, Review, counted

FREE_REACH = 20
"""A judge that costs nothing also judges pairs up to this many lines apart. They count for nothing; they are kept so
that figures can be drawn as functions of the line distance without judging again."""


@dataclass(frozen=True, slots=True)
class Rules:
    """How pairs become counts: everything that can change a record but the judge's verdicts."""

    line_distance: int = 1
    reach: int = 0
    """Pairs up to this many lines apart are judged, though those beyond `line_distance` are not eligible."""
    alignment: Mode = "optimal"
    place: bool = True
    """Whether place is asked at all."""
    meaning: bool = True
    """Whether the judge asks anything; `none` does not."""
    filters: FilterConfig = field(default_factory=FilterConfig)
    negatives: bool = False
    """Whether there are negatives, so that `false_positive_rate` means something."""


@dataclass(frozen=True, slots=True)
class _Notes:
    """Comments that count, with their positions in the input."""

    positions: list[int]
    comments: list[Comment]

    @classmethod
    def of(cls, comments: Sequence[Comment]) -> _Notes:
        kept = list(counted(comments))
        return cls([position for position, _ in kept], [comment for _, comment in kept])

    def judged(self) -> list[str]:
        return [judged_part(comment.note) for comment in self.comments]


class Case:
    """One reviewer's comments on one pull request, beside its references and negatives."""

    def __init__(
        self, reviewer: str, said: Review, reference: Review, negative: Review | None, rules: Rules
    ) -> None:
        self.reviewer, self.reference_review, self.rules = reviewer, reference, rules
        self.language = reference.language or said.language
        self.pr_category = reference.pr_category or said.pr_category
        self.generated, self.reference = _Notes.of(said.comments), _Notes.of(reference.comments)
        self.negative = _Notes.of(negative.comments if negative else ())
        self.skipped = not rules.filters.keeps_pull_request(self.language, self.pr_category)
        self.candidates = self._candidates(self.reference)
        self.negative_candidates = self._candidates(self.negative)

    @property
    def pr(self) -> str:
        return self.reference_review.pr

    @property
    def key(self) -> tuple[str, str]:
        return (self.pr, self.reviewer)

    def _candidates(self, others: _Notes) -> Candidates:
        mine = [] if self.skipped else self.generated.comments
        reach = max(self.rules.reach, self.rules.line_distance)
        return candidate_pairs(mine, others.comments, reach, anywhere=not self.rules.place)

    def eligible(self, found: Candidates) -> NDArray[np.bool_]:
        """Which of these pairs may match by place; the others were only looked at."""
        return found.gap <= self.rules.line_distance

    def question(self) -> Question:
        """The pairs that may match a reference."""
        return Question(self.generated.judged(), self.reference.judged(), _pairs(self.candidates))

    def negative_question(self, answer: Answer) -> Question:
        """The pairs with negatives, of the comments that no reference explains; these are judged apart."""
        same = (answer.match == SAME) & self.eligible(self.candidates)
        explained = np.unique(self.candidates.generated[same])
        keep = ~np.isin(self.negative_candidates.generated, explained)
        self.negative_candidates = self.negative_candidates.only(keep)
        return self.unjudged_negative_question()

    def unjudged_negative_question(self) -> Question:
        """The most that could be asked about negatives."""
        return Question(self.generated.judged(), self.negative.judged(), _pairs(self.negative_candidates))

    def skip_record(self) -> dict[str, Any]:
        return self._head() | {
            "skipped": True,
            "skip_reason": f"filtered out: language {self.language}, pull request category {self.pr_category}",
            "original_good_comments_count": len(self.reference.comments),
            "filtered_good_comments_count": 0,
        }

    def _head(self) -> dict[str, Any]:
        found = repository_and_number(self.pr)
        return {
            "github_pr_url": self.pr,
            "evaluation_id": f"{found[0]}_{found[1]}" if found else self.pr,
            "reviewer": self.reviewer,
            "language": self.language,
            "pr_category": self.pr_category,
        }

    def record(self, answer: Answer, negative_answer: Answer) -> dict[str, Any]:
        """What `results.jsonl` says of this case: the counts, the rates, and the pairing behind them."""
        undecided = sum(
            int(((verdicts.match == UNDECIDED) & self.eligible(found)).sum())
            for verdicts, found in ((answer, self.candidates), (negative_answer, self.negative_candidates))
        )
        decided = _Outcome.of(self, answer, negative_answer, certain=True)
        counts = decided.counts | {"judge_error_nums": undecided}
        keep = self.kept_references()
        covered, line_covered = decided.full.covered, decided.line.covered
        references = [
            {"reference": position, **comment.to_dict()}
            for position, comment in zip(self.reference.positions, self.reference.comments, strict=True)
        ]
        record = self._head() | {
            "skipped": False,
            "skip_reason": None,
            "original_good_comments_count": len(self.reference.comments),
            "filtered_good_comments_count": sum(keep),
            **{
                name: None if name in LINE_COUNTS and not self.rules.place else counts[name]
                for name in COUNTS
            },
            **rates(table([counts])[0], measured(self.rules.place, self.rules.negatives)),
            "left_out_nums": len(decided.left_out),
            "judged_pairs": sum(
                int(self.eligible(found).sum()) for found in (self.candidates, self.negative_candidates)
            ),
            "reference_slices": self._slices(keep, decided),
            "match_details": list(self._details(decided, answer, negative_answer)),
            "matched_reference_comments": [
                {**references[r], "generated": self.generated.positions[g]} for g, r in decided.full.pairs
            ],
            "llm_comparisons": list(self._comparisons(answer)) if self.rules.meaning else [],
            "reference_comments": [
                {**fields, "kept": keep[r], "covered": r in covered, "line_covered": r in line_covered}
                for r, fields in enumerate(references)
            ],
            "negative_comments": [
                {"negative": position, **comment.to_dict()}
                for position, comment in zip(self.negative.positions, self.negative.comments, strict=True)
            ],
        }
        if not self.rules.place:
            for reference in record["reference_comments"]:
                reference["line_covered"] = None
        if undecided:
            most = _Outcome.of(self, answer, negative_answer, certain=False)
            record["counts_if_undecided_match"] = most.counts | {"judge_error_nums": undecided}
        return record

    def counts(self, answer: Answer, negative_answer: Answer) -> dict[str, int]:
        """The counts alone, by the rules that the case has now."""
        return _Outcome.of(self, answer, negative_answer, certain=True).counts

    def align(self, graph: Graph, theirs: Sequence[Comment]) -> Alignment:
        """The alignment of one graph with references or negatives, but for `greedy`."""
        return align(self.rules.alignment, graph, self.generated.comments, theirs)

    def kept_references(self) -> list[bool]:
        if not self.rules.filters.drops_comments:
            return [True] * len(self.reference.comments)
        return [self.rules.filters.keeps_comment(comment) for comment in self.reference.comments]

    def _slices(self, keep: Sequence[bool], outcome: _Outcome) -> dict[str, dict[str, list[int]]]:
        """By the reference's category, context and severity: [references, raised, raised by place]."""
        covered, line_covered = outcome.full.covered, outcome.line.covered
        kept_comments = [
            (comment, position in covered, position in line_covered)
            for position, (comment, kept) in enumerate(zip(self.reference.comments, keep, strict=True))
            if kept
        ]
        slices: dict[str, dict[str, list[int]]] = {}
        for name, field_name in (
            ("comment_category", "category"),
            ("context", "context"),
            ("severity", "severity"),
        ):
            tallies: dict[str, list[int]] = {}
            for comment, raised, raised_by_place in kept_comments:
                value = getattr(comment, field_name) or "unknown"
                tally = tallies.get(value) or tallies.setdefault(value, [0, 0, 0])
                tally[0] += 1
                tally[1] += raised
                tally[2] += raised_by_place
            slices[name] = tallies
        return slices

    def _details(self, outcome: _Outcome, answer: Answer, negative: Answer) -> Iterator[dict[str, Any]]:
        """One entry a comment: where it stands, what it was paired with and why."""
        line = _first_partner(outcome.line)
        full, rejected = _first_partner(outcome.full), _first_partner(outcome.negative)
        verdicts = dict(zip(full, self.candidates.edges(list(full), list(full.values())), strict=True))
        found = self.negative_candidates.edges(list(rejected), list(rejected.values()))
        negative_verdicts = dict(zip(rejected, found, strict=True))
        positions = self.reference.positions
        for g, comment in enumerate(self.generated.comments):
            detail: dict[str, Any] = {"generated": self.generated.positions[g], **comment.to_dict()}
            detail["line_match"] = (g in line) if self.rules.place else None
            detail["semantic_match"] = g in full
            detail["left_out"] = g in outcome.left_out
            detail["reference"] = positions[full[g]] if g in full else None
            detail["line_reference"] = positions[line[g]] if g in line else None
            detail["negative"] = self.negative.positions[rejected[g]] if g in rejected else None
            if g in full:
                detail |= _verdict(answer, verdicts[g])
            elif g in rejected:
                detail |= _verdict(negative, negative_verdicts[g])
            yield detail

    def _comparisons(self, answer: Answer) -> Iterator[dict[str, Any]]:
        pairs = _pairs(self.candidates)
        for edge in np.flatnonzero(self.eligible(self.candidates)).tolist():
            yield {
                "generated": self.generated.positions[pairs[edge, 0]],
                "reference": self.reference.positions[pairs[edge, 1]],
                **_verdict(answer, edge),
            }

    def pair_rows(self, record: dict[str, Any], answer: Answer, negative: Answer) -> Iterator[dict[str, Any]]:
        """What `pairs.jsonl` says: every judged pair, and whether it was counted."""
        aligned = {(d["generated"], d["reference"]) for d in record["matched_reference_comments"]}
        rejected = {(d["generated"], d["negative"]) for d in record["match_details"]}
        if self.rules.alignment == "coverage":
            edges = _edges(self, self.negative_candidates, negative, certain=True)
            rejected = {
                (self.generated.positions[g], self.negative.positions[n])
                for g, n in zip(edges.generated.tolist(), edges.reference.tolist(), strict=True)
            }
        for is_negative, found, notes, verdicts, counted_pairs in (
            (False, self.candidates, self.reference, answer, aligned),
            (True, self.negative_candidates, self.negative, negative, rejected),
        ):
            eligible = self.eligible(found).tolist()
            for edge, (g, r) in enumerate(_pairs(found).tolist()):
                pair = (self.generated.positions[g], notes.positions[r])
                yield {
                    "pr": self.pr,
                    "reviewer": self.reviewer,
                    "generated": pair[0],
                    "reference": pair[1],
                    "negative": is_negative,
                    "gap": int(found.gap[edge]) if self.rules.place else None,
                    "eligible": eligible[edge],
                    **_verdict(verdicts, edge),
                    "aligned": pair in counted_pairs,
                }


@dataclass(frozen=True, slots=True)
class _Outcome:
    """The alignments and counts of a case, with undecided pairs as no edges (certain) or as edges."""

    line: Alignment
    full: Alignment
    negative: Alignment
    left_out: frozenset[int]
    counts: dict[str, int]

    @classmethod
    def of(cls, case: Case, answer: Answer, negative_answer: Answer, *, certain: bool) -> _Outcome:
        near = case.eligible(case.candidates)
        line = _graph(case.candidates, np.ones(len(case.candidates))).only(near)
        edges = _edges(case, case.candidates, answer, certain)
        keep = np.array(case.kept_references(), bool)
        left_out: frozenset[int] = frozenset()
        full = edges
        if not keep.all():
            left_out = _explained_by_dropped(case, line, edges, keep)
            outside = np.array(sorted(left_out), np.int64)
            line, full = (
                graph.only(keep[graph.reference] & ~np.isin(graph.generated, outside))
                for graph in (line, edges)
            )
        by_line, by_meaning = _align_both(case, line, full)
        explained = np.unique(edges.generated)
        rejected = _edges(case, case.negative_candidates, negative_answer, certain)
        rejected = rejected.only(~np.isin(rejected.generated, explained))
        by_negative = _align_one(case, rejected, case.negative.comments)
        total = len(case.generated.comments) - len(left_out)
        counts = {
            "positive_expected_nums": int(keep.sum()),
            "total_generated_nums": total,
            "positive_line_match_nums": len(by_line.matched),
            "positive_match_nums": len(by_meaning.matched),
            "positive_covered_nums": len(by_meaning.covered),
            "positive_line_covered_nums": len(by_line.covered),
            "unmatched_nums": total - len(by_meaning.matched),
            "negative_expected_nums": len(case.negative.comments),
            "negative_match_nums": len(by_negative.matched),
        }
        return cls(by_line, by_meaning, by_negative, left_out, counts)


def _align_both(case: Case, line: Graph, full: Graph) -> tuple[Alignment, Alignment]:
    rules, theirs = case.rules, case.reference.comments
    if rules.alignment == "greedy":
        by_line, by_meaning = align_greedy(line, full if rules.meaning else None)
    else:
        by_meaning = case.align(full, theirs)
        same_graph = not rules.meaning
        by_line = by_meaning if same_graph or not rules.place else case.align(line, theirs)
    return (by_line if rules.place else Alignment(())), by_meaning


def _align_one(case: Case, graph: Graph, theirs: Sequence[Comment]) -> Alignment:
    if case.rules.alignment == "greedy":
        return align_greedy(graph, graph if case.rules.meaning else None)[1]
    return case.align(graph, theirs)


def _explained_by_dropped(case: Case, line: Graph, edges: Graph, keep: NDArray[np.bool_]) -> frozenset[int]:
    """Comments that were right, but about a reference that the filter drops."""
    unfiltered = _align_both(case, line, edges)[1]
    dropped = {g for g, r in unfiltered.pairs if not keep[r]}
    kept = {g for g, r in unfiltered.pairs if keep[r]}  # under coverage one comment may raise both kinds
    return frozenset(dropped - kept)


def _edges(case: Case, found: Candidates, answer: Answer, certain: bool) -> Graph:
    matches = answer.match == SAME if certain else answer.match != DIFFERENT
    return _graph(found, np.nan_to_num(answer.score, nan=0.5)).only(matches & case.eligible(found))


def _graph(found: Candidates, score: NDArray[np.float64]) -> Graph:
    return Graph(found.generated, found.reference, score)


def _pairs(found: Candidates) -> NDArray[np.int64]:
    return np.column_stack([found.generated, found.reference])


def _first_partner(alignment: Alignment) -> dict[int, int]:
    partners: dict[int, int] = {}
    for generated, other in alignment.pairs:
        partners.setdefault(generated, other)
    return partners


def _verdict(answer: Answer, edge: int) -> dict[str, Any]:
    score = float(answer.score[edge])
    match = int(answer.match[edge])
    return {
        "score": None if score != score else score,  # NaN
        "match": None if match == UNDECIDED else match == SAME,
        "by": answer.by if isinstance(answer.by, str) else answer.by[edge],
        "reason": answer.reason if isinstance(answer.reason, str) else answer.reason[edge],
    }
