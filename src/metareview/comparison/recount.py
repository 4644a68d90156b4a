"""A record counted again under another line distance or threshold, from the verdicts that the run has stored."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from metareview.comments.align import MODES, Alignment, Graph, Mode, align
from metareview.comments.case import FREE_REACH, Case, Rules
from metareview.comments.location import Candidates, may_match
from metareview.comments.measures import table
from metareview.comments.outcome import JudgedCase, decide
from metareview.comments.records import CommentRecord, Negative, Pair, ScoredReference
from metareview.comments.summary import CommentsConfig
from metareview.errors import InputError
from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED, Answer
from metareview.model.comment import Comment, Review
from metareview.model.measure import Sums


@dataclass(frozen=True, slots=True)
class Setting:
    """Under what to count; without a threshold the verdicts stay as they are."""

    line_distance: int
    threshold: float | None = None


class Recount:
    """The case of a record, built again, with the verdicts of its pairs. Each distinct set of edges is counted once,
    and each graph aligned once: most settings change few of a pull request's graphs, if any."""

    def __init__(self, record: CommentRecord, pairs: Sequence[Pair], config: CommentsConfig) -> None:
        self.reviewer = record.reviewer
        self._own = Setting(config.line_distance)
        self._strict = config.judge == "rouge"  # which needs more than its threshold
        wide = _case(record, config)
        moving = ("judge",) if config.judge == "cascade" else ("judge", "model", "cache")
        ours = {scored.position: index for index, scored in enumerate(record.comments)}
        candidates, self._verdicts = _judged(
            wide.candidates, [pair for pair in pairs if not pair.negative], ours, record.references, moving
        )
        negative_candidates, self._negative_verdicts = _judged(
            wide.negative_candidates, [pair for pair in pairs if pair.negative], ours, record.negatives, moving
        )
        self._case = replace(wide, candidates=candidates, negative_candidates=negative_candidates)
        # Scores decide between matchings of one size; who is in it matters only where a filter drops references.
        self._scores_matter = config.alignment != "optimal" or config.filters.drops_comments
        self._alignments: dict[tuple[bool, bytes, bytes], Alignment] = {}
        self._rows: dict[bytes, Sums] = {}
        explained = np.array(sorted(self._explained(self._own)), np.int64)
        needed = int((~np.isin(wide.negative_candidates.generated, explained)).sum())
        self.knows_all = len(candidates) == len(wide.candidates) and len(negative_candidates) == needed
        """Whether every pair up to 20 lines apart that could matter was judged."""

    def counts(self, setting: Setting) -> Sums:
        """The row of counts that a run under this setting would have; undecided pairs are no match."""
        case = self._case
        answer, negative = (
            each.at(setting.threshold, self._strict) for each in (self._verdicts, self._negative_verdicts)
        )
        near, negative_near = (
            each.gap <= setting.line_distance for each in (case.candidates, case.negative_candidates)
        )
        edges = (near, answer.match[near], negative_near, negative.match[negative_near])
        key = b"".join(each.tobytes() for each in edges)
        if key not in self._rows:
            case = replace(case, rules=replace(case.rules, line_distance=setting.line_distance))
            outcome = decide(JudgedCase(case, answer, negative), aligner=self._align)
            self._rows[key] = table([outcome.counts])[0]
        return self._rows[key]

    def lacks_negatives(self, setting: Setting) -> bool:
        """Whether a comment that a reference explained in the run, and no longer does, may match a negative: that
        pair was never judged."""
        case = self._case
        if not case.rules.negatives or not case.negative.comments:
            return False
        return any(
            not case.rules.location or may_match(case.generated.comments[comment], negative, setting.line_distance)
            for comment in self._explained(self._own) - self._explained(setting)
            for negative in case.negative.comments
        )

    def _explained(self, setting: Setting) -> set[int]:
        """Comments that match a reference before alignment, which are not compared with negatives."""
        candidates = self._case.candidates
        match = self._verdicts.at(setting.threshold, self._strict).match
        same = (match == SAME) & (candidates.gap <= setting.line_distance)
        return set(candidates.generated[same].tolist())

    def _align(self, mode: Mode, graph: Graph, ours: Sequence[Comment], theirs: Sequence[Comment]) -> Alignment:
        if not self._scores_matter:
            graph = replace(graph, score=np.ones(len(graph)))
        key = (theirs is self._case.reference.comments, graph.pairs().tobytes(), graph.score.tobytes())
        if key not in self._alignments:
            self._alignments[key] = align(mode, graph, ours, theirs)
        return self._alignments[key]


def _case(record: CommentRecord, config: CommentsConfig) -> Case:
    """With every pair up to 20 lines apart."""
    generated, reference, negative = (
        Review(
            record.pr,
            tuple(scored.comment for scored in several),
            language=record.language,
            pr_category=record.pr_category,
        )
        for several in (record.comments, record.references, record.negatives)
    )
    rules = Rules(
        line_distance=config.line_distance,
        reach=FREE_REACH,
        alignment=next(mode for mode in MODES if mode == config.alignment),
        location=config.location,
        meaning=config.judge != "none",
        filters=config.filters,
        negatives=config.negatives,
    )
    return Case.of(record.reviewer, generated, reference, negative, rules)


@dataclass(frozen=True)
class _Verdicts:
    """Stored verdicts on candidate pairs, in the order of the candidates."""

    score: NDArray[np.float64]
    match: NDArray[np.int8]
    moves: NDArray[np.bool_]
    """Decided by score and threshold; people's labels, and in a cascade the model's answers, stay as they are."""

    def at(self, threshold: float | None, strict: bool) -> Answer:
        if threshold is None:
            return Answer(self.score, self.match)
        above = self.score > threshold if strict else self.score >= threshold
        match = np.where(self.moves, np.where(above, SAME, DIFFERENT), self.match)
        return Answer(self.score, match.astype(np.int8))


def _judged(
    candidates: Candidates,
    pairs: Sequence[Pair],
    ours: Mapping[int, int],
    others: Sequence[ScoredReference | Negative],
    moving: Sequence[str],
) -> tuple[Candidates, _Verdicts]:
    """Of all candidates those that were judged, and their verdicts."""
    theirs = {other.position: index for index, other in enumerate(others)}
    stored = {(ours[pair.generated], theirs[pair.reference]): pair.verdict for pair in pairs}
    known = [stored.get((one, other)) for one, other in candidates.pairs().tolist()]
    verdicts = [verdict for verdict in known if verdict is not None]
    if len(verdicts) != len(stored):
        raise InputError("a stored pair that its comments do not explain", fix="Run the evaluation again.")
    return candidates.only(np.array([verdict is not None for verdict in known], bool)), _Verdicts(
        np.array([np.nan if each.score is None else each.score for each in verdicts], np.float64),
        np.array([UNDECIDED if each.match is None else int(each.match) for each in verdicts], np.int8),
        np.array([each.by in moving and each.match is not None for each in verdicts], bool),
    )
