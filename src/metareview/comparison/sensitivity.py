"""How far the figures of a run depend on its line distance and on its judge's threshold.

Computed from the stored pairs; nothing is judged again. At the run's own distance and threshold the curves pass
through the run's own figures. A judge that costs nothing has judged pairs up to 20 lines apart; a paid one has not,
and its curve ends at the run's distance.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from itertools import combinations

import numpy as np

from metareview.comments.align import MODES, Alignment, Graph, Mode, align
from metareview.comments.case import FREE_REACH, Case, Rules
from metareview.comments.decide import JudgedCase, decide
from metareview.comments.location import Candidates, may_match
from metareview.comments.measures import Counts, Rates, rates, table
from metareview.comments.records import CommentRecord, Negative, Pair, ScoredReference
from metareview.comments.summary import CommentsConfig
from metareview.comparison.competitors import folder_of
from metareview.comparison.standings import has_enough
from metareview.errors import InputError, UsageError
from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED, Answer
from metareview.model.comment import Comment, Review
from metareview.model.measure import Sums
from metareview.runs.files import JsonObject
from metareview.runs.run import AnyRun, CommentsRun, is_comments, records_with_pairs

SCHEMA = "metareview.sensitivity/1"
THRESHOLDS = tuple(round(step / 20, 2) for step in range(1, 20))
RANKED_BY = "f1"
_NEGATIVES_MATCHED = table([Counts(negatives_matched=1)])[0] == 1  # that column


@dataclass(frozen=True, slots=True)
class RankChange:
    """The order at another value, and each [lower, upper] where the lower one overtakes there."""

    value: float
    order: list[str]
    overtakes: list[list[str]]


@dataclass(frozen=True, slots=True)
class Ranking:
    """The order by a metric at the run's own value, and where somebody overtakes somebody."""

    metric: str
    order: list[str]
    stable: bool
    changes: list[RankChange]


@dataclass(frozen=True, slots=True)
class Curves:
    """Every metric of every reviewer at each value of one setting; `at` is the run's own, always among them."""

    values: Sequence[float]
    at: float
    reviewers: dict[str, dict[str, list[float | None]]]
    ranking: Ranking


@dataclass(frozen=True, slots=True)
class Sensitivity:
    """The curves of a run. `line_distance` is None where locations were not compared, `threshold` where the judge
    has none."""

    run: str | None
    judge: str
    line_distance: Curves | None
    threshold: Curves | None

    def to_dict(self) -> JsonObject:
        return {"schema": SCHEMA, **asdict(self)}


def sensitivity(run: AnyRun) -> Sensitivity:
    """Every metric of every reviewer as a function of the line distance (0 to 20) and of the threshold (0.05 to 0.95).

    A false positive rate that would need verdicts that were never given (a comment that a reference explained in the
    run, and no longer does) is null.
    """
    if not is_comments(run):
        raise UsageError(f"{run.label} is a run of {run.kind.name}; sensitivity is for runs of comments.")
    config = run.result.config
    recounts = list(_recounts(run))
    distances: list[int] = []
    if config.location:
        reach = FREE_REACH if all(recount.knows_all for recount in recounts) else config.line_distance
        distances = sorted({*range(min(reach, FREE_REACH) + 1), config.line_distance})
    thresholds = [] if config.threshold is None else sorted({*THRESHOLDS, config.threshold})
    # At its own threshold the run's verdicts are as they are, by whatever rule its judge had.
    others = [None if threshold == config.threshold else threshold for threshold in thresholds]
    settings = [*((distance, None) for distance in distances), *((config.line_distance, each) for each in others)]
    # Curves are over each one's own pull requests. Ranks are over those that all have, as on the leaderboard, and
    # whoever has too few has none.
    ranked = {name for name, one in run.result.reviewers.items() if has_enough(one.prs, run.result.prs)}
    runs = Counter((recount.pr, recount.reviewer) for recount in recounts)
    had = Counter(pr for pr, reviewer in runs if reviewer in ranked)
    own: dict[str, Sums] = {}
    shared: dict[str, Sums] = {}
    for recount in recounts:
        # Repeated runs count by their mean.
        rows = np.array([recount.counts(*setting) for setting in settings]) / runs[recount.pr, recount.reviewer]
        own[recount.reviewer] = own.get(recount.reviewer, 0) + rows
        if recount.reviewer in ranked and had[recount.pr] == len(ranked):
            shared[recount.reviewer] = shared.get(recount.reviewer, 0) + rows
    figures, ranks = (
        {name: [rates(row, config.measures) for row in of_one] for name, of_one in sums.items()}
        for sums in (own, shared)
    )
    cut = len(distances)
    return Sensitivity(
        folder_of(run),
        config.judge,
        _curves(distances, config.line_distance, figures, ranks, slice(0, cut)),
        _curves(thresholds, config.threshold, figures, ranks, slice(cut, None)),
    )


Figures = Mapping[str, Sequence[Rates]]
"""By reviewer, one for each setting."""


def _curves(values: Sequence[float], at: float | None, figures: Figures, ranks: Figures, part: slice) -> Curves | None:
    if at is None or not values:
        return None
    curves = {
        name: {metric: [row[metric] for row in rows[part]] for metric in rows[0]} for name, rows in figures.items()
    }
    f1s = {name: [row[RANKED_BY] for row in rows[part]] for name, rows in ranks.items()}
    return Curves(values, at, curves, _ranking(values, at, f1s))


def _ranking(values: Sequence[float], at: float, f1s: Mapping[str, Sequence[float | None]]) -> Ranking:
    """Only strict reversals count: a tie that opens, or a lead that shrinks to a tie, is no change of ranks."""
    figures = {name: [-1.0 if value is None else value for value in of_one] for name, of_one in f1s.items()}

    def order_at(index: int) -> list[str]:
        return sorted(figures, key=lambda name: (-figures[name][index], name))

    home = values.index(at)
    order = order_at(home)
    leads = [each for each in combinations(order, 2) if figures[each[0]][home] > figures[each[1]][home]]
    changes = []
    for index, value in enumerate(values):
        overtakes = [[lower, upper] for upper, lower in leads if figures[lower][index] > figures[upper][index]]
        if overtakes:
            changes.append(RankChange(value, order_at(index), overtakes))
    return Ranking(RANKED_BY, order, not changes, changes)


def _recounts(run: CommentsRun) -> Iterator[Recount]:
    """One for each record that was scored."""
    for record, pairs in records_with_pairs(run):
        yield Recount(record, pairs, run.result.config)


class _Judged:
    """Of the candidate pairs with references, or with negatives, those that were judged, and their verdicts."""

    def __init__(
        self, candidates: Candidates, record: CommentRecord, pairs: Iterable[Pair], judge: str, *, negative: bool
    ) -> None:
        others: Sequence[ScoredReference | Negative] = record.negatives if negative else record.references
        ours, theirs = ({each.position: index for index, each in enumerate(of)} for of in (record.comments, others))
        of_kind = [pair for pair in pairs if pair.negative == negative]
        stored = {(ours[pair.generated], theirs[pair.reference]): pair.verdict for pair in of_kind}
        known = [stored.get((one, other)) for one, other in candidates.pairs().tolist()]
        verdicts = [verdict for verdict in known if verdict is not None]
        if len(verdicts) != len(stored):
            raise InputError("a stored pair that its comments do not explain", fix="Run the evaluation again.")
        self.candidates = candidates.only(np.array([verdict is not None for verdict in known], bool))
        self.score = np.array([np.nan if each.score is None else each.score for each in verdicts], np.float64)
        self.match = np.array([UNDECIDED if each.match is None else int(each.match) for each in verdicts], np.int8)
        # Decided by score and threshold; people's labels stay as they are.
        moving = ("judge", "model", "cache")
        self.moves = np.array([each.by in moving and each.match is not None for each in verdicts], bool)
        self.strict = judge == "rouge"  # which needs more than its threshold

    def at(self, threshold: float | None) -> Answer:
        """The verdicts with this threshold; as they are, without."""
        if threshold is None:
            return Answer(self.score, self.match)
        above = self.score > threshold if self.strict else self.score >= threshold
        match = np.where(self.moves, np.where(above, SAME, DIFFERENT), self.match)
        return Answer(self.score, match.astype(np.int8))

    def explained(self, distance: int, threshold: float | None = None) -> set[int]:
        """Comments that match one of the others before alignment."""
        same = (self.at(threshold).match == SAME) & (self.candidates.gap <= distance)
        return set(self.candidates.generated[same].tolist())


class Recount:
    """The case of a record, built again, with the verdicts of its pairs. Each distinct set of edges is counted once,
    and each graph aligned once: most settings change few of a pull request's graphs, if any."""

    def __init__(self, record: CommentRecord, pairs: Sequence[Pair], config: CommentsConfig) -> None:
        self.pr, self.reviewer = record.pr, record.reviewer
        wide = _case(record, config)
        self._judged = _Judged(wide.candidates, record, pairs, config.judge, negative=False)
        self._negative = _Judged(wide.negative_candidates, record, pairs, config.judge, negative=True)
        self._case = replace(wide, candidates=self._judged.candidates, negative_candidates=self._negative.candidates)
        # Scores decide between matchings of one size; who is in it matters only where comments may be left out.
        may_leave_out = config.filters.drops_comments or bool(wide.neutral_references().any())
        self._scores_matter = config.alignment != "optimal" or may_leave_out
        self._alignments: dict[tuple[bool, bytes, bytes], Alignment] = {}
        self._rows: dict[bytes, Sums] = {}
        self._explained = self._judged.explained(config.line_distance)
        unexplained = [each not in self._explained for each in wide.negative_candidates.generated.tolist()]
        judged, judged_negative = len(self._judged.match), len(self._negative.match)
        self.knows_all = (judged, judged_negative) == (len(wide.candidates), sum(unexplained))
        """Whether every pair up to 20 lines apart that could matter was judged."""

    def counts(self, distance: int, threshold: float | None) -> Sums:
        """The row of counts that a run with this line distance and threshold would have; undecided pairs are no match.
        Repeated negatives are NaN where that would need a verdict that was never given."""
        answer, negative = self._judged.at(threshold), self._negative.at(threshold)
        near, negative_near = (each.candidates.gap <= distance for each in (self._judged, self._negative))
        edges = (near, answer.match[near], negative_near, negative.match[negative_near])
        key = b"".join(each.tobytes() for each in edges)
        if key not in self._rows:
            case = replace(self._case, rules=replace(self._case.rules, line_distance=distance))
            outcome = decide(JudgedCase(case, answer, negative), aligner=self._align)
            self._rows[key] = table([outcome.counts])[0]
        row = self._rows[key]
        return np.where(_NEGATIVES_MATCHED, np.nan, row) if self._lacks_negatives(distance, threshold) else row

    def _lacks_negatives(self, distance: int, threshold: float | None) -> bool:
        """Whether a comment that a reference explained in the run, and no longer does, may match a negative: that
        pair was never judged."""
        rules, comments = self._case.rules, self._case.generated.comments
        return rules.negatives and any(
            not rules.location or may_match(comments[comment], negative, distance)
            for comment in self._explained - self._judged.explained(distance, threshold)
            for negative in self._case.negative.comments
        )

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
        Review(record.pr, tuple(each.comment for each in several), None, record.language, record.pr_category)
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
