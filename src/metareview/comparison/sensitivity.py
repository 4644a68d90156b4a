"""How far the figures of a run hang on its line distance and on its judge's threshold.

Computed from the stored pairs; nothing is judged again. At the run's own distance and threshold the curves pass
through the run's own figures. A judge that costs nothing has judged pairs up to 20 lines apart; a paid one has not,
and its curve ends at the run's distance.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from typing import Any

import numpy as np
from numpy.typing import NDArray

from metareview.comments.align import Alignment, Graph
from metareview.comments.case import FREE_REACH, Case, Rules
from metareview.comments.filters import FilterConfig
from metareview.comments.location import Candidates, may_match
from metareview.comments.measures import COUNTS, measured, rates
from metareview.errors import InputError, UsageError
from metareview.judges.protocol import DIFFERENT, SAME, UNDECIDED, Answer
from metareview.model.comment import Comment, Review
from metareview.runs.folder import StoredRun

SCHEMA = "metareview.sensitivity/1"
THRESHOLDS = tuple(round(step / 20, 2) for step in range(1, 20))
RANKED_BY = "f1"
_COMMENT_FIELDS = Comment.__dataclass_fields__.keys()
_FALSE_POSITIVES = "false_positive_rate"

Record = Mapping[str, Any]
Pair = dict[str, Any]
Setting = tuple[int, float | None]
"""A line distance and a threshold; None leaves the verdicts as they are."""


def sensitivity(run: StoredRun) -> dict[str, Any]:
    """Every metric of every reviewer as a function of the line distance (0 to 20) and of the threshold (0.05 to 0.95).

    `line_distance` is null where place was not asked, `threshold` where the judge has none. In each: `values`, the
    run's own value (`at`, always among them), `reviewers` (a list of figures for each metric) and `ranking`: whether
    the order by F1 is the same everywhere, and where it is not. A false positive rate that would need verdicts that
    were never given (a comment that a reference explained in the run, and no longer does) is null.
    """
    if run.kind != "comments":
        raise UsageError(f"{run.path} is a run of {run.kind}; sensitivity is for runs of comments.")
    config = run.manifest["config"]
    replays = list(_replays(run))
    own: Setting = (config["line_distance"], None)
    distances: list[int] = []
    if config["place"]:
        reach = FREE_REACH if all(case.knows_all for case in replays) else config["line_distance"]
        distances = sorted({*range(min(reach, FREE_REACH) + 1), config["line_distance"]})
    thresholds: list[float] = []
    if config["threshold"] is not None:
        thresholds = sorted({*THRESHOLDS, config["threshold"]})
    settings: list[Setting] = [(distance, None) for distance in distances]
    settings += [(config["line_distance"], threshold) for threshold in thresholds]
    sums: dict[str, NDArray[np.float64]] = {}
    unknown: dict[str, NDArray[np.bool_]] = {}
    for replay in replays:
        counts, open_questions = replay.at(settings, own)
        sums[replay.reviewer] = sums.get(replay.reviewer, 0) + counts
        unknown[replay.reviewer] = unknown.get(replay.reviewer, False) | open_questions
    available = measured(config["place"], config["negatives"])
    figures: dict[str, list[dict[str, float | None]]] = {}
    for name, table in sums.items():
        figures[name] = [rates(row, available) for row in table]
        for row, cannot_tell in zip(figures[name], unknown[name].tolist(), strict=True):
            if cannot_tell:
                row[_FALSE_POSITIVES] = None
    cut = len(distances)
    by_distance = {name: rows[:cut] for name, rows in figures.items()}
    by_threshold = {name: rows[cut:] for name, rows in figures.items()}
    return {
        "schema": SCHEMA,
        "run": str(run.path),
        "judge": config["judge"],
        "line_distance": _curves(distances, config["line_distance"], by_distance) if distances else None,
        "threshold": _curves(thresholds, config["threshold"], by_threshold) if thresholds else None,
    }


def _curves(
    values: Sequence[float], at: float, figures: Mapping[str, Sequence[Mapping[str, float | None]]]
) -> dict[str, Any]:
    return {
        "values": list(values),
        "at": at,
        "reviewers": {
            name: {metric: [row[metric] for row in rows] for metric in rows[0]}
            for name, rows in figures.items()
        },
        "ranking": _ranking(values, at, {n: [row[RANKED_BY] for row in rows] for n, rows in figures.items()}),
    }


def _ranking(values: Sequence[float], at: float, f1s: Mapping[str, Sequence[float | None]]) -> dict[str, Any]:
    """The order at the run's own value, and each other value at which somebody overtakes somebody.

    Only strict reversals count: a tie that opens, or a lead that shrinks to a tie, is no change of ranks.
    """
    home = values.index(at)

    def figure(name: str, place: int) -> float:
        value = f1s[name][place]
        return -1.0 if value is None else value

    def order_at(place: int) -> list[str]:
        return sorted(f1s, key=lambda name: (-figure(name, place), name))

    order = order_at(home)
    changes = []
    for place, value in enumerate(values):
        overtakes = [
            [lower, upper]
            for position, upper in enumerate(order)
            for lower in order[position + 1 :]
            if figure(lower, place) > figure(upper, place) and figure(upper, home) > figure(lower, home)
        ]
        if overtakes:
            changes.append({"value": value, "order": order_at(place), "overtakes": overtakes})
    return {"metric": RANKED_BY, "order": order, "stable": not changes, "changes": changes}


def _replays(run: StoredRun) -> Iterator[_Replay]:
    """One for each record that was scored. Pairs and records are stored in the same order."""
    config = run.manifest["config"]
    rules = Rules(
        line_distance=config["line_distance"],
        alignment=config["alignment"],
        place=config["place"],
        meaning=config["judge"] != "none",
        filters=FilterConfig(**config["filters"]),
        negatives=config["negatives"],
    )
    groups = groupby(run.pairs(), key=lambda pair: (pair["pr"], pair["reviewer"]))
    key, group = next(groups, (None, iter(())))
    for record in run.records():
        pairs: list[Pair] = []
        if key == (record["github_pr_url"], record["reviewer"]):
            pairs = list(group)
            key, group = next(groups, (None, iter(())))
        if not record["skipped"]:
            yield _Replay.of(record, pairs, rules, config["judge"])
    if key is not None:
        raise InputError(
            f"pairs without a record ({key[1]} on {key[0]})",
            file=run.path,
            fix="Run the evaluation again with --overwrite.",
        )


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


class _ReplayedCase(Case):
    """Aligns each distinct graph once: most settings change few of a pull request's graphs, if any."""

    def __init__(self, *parts: Any) -> None:
        super().__init__(*parts)
        self._alignments: dict[tuple[bool, bytes, bytes], Alignment] = {}
        # Scores decide between matchings of one size; who is in it matters only where a filter drops references.
        self._only_numbers = self.rules.alignment == "optimal" and not self.rules.filters.drops_comments

    def align(self, graph: Graph, theirs: Sequence[Comment]) -> Alignment:
        edges = np.stack([graph.generated, graph.reference]).tobytes()
        if self._only_numbers:
            graph = Graph(graph.generated, graph.reference, np.ones(len(graph)))
        key = (theirs is self.reference.comments, edges, graph.score.tobytes())
        if key not in self._alignments:
            self._alignments[key] = super().align(graph, theirs)
        return self._alignments[key]


class _Replay:
    """A case built again from its record, and its verdicts from the stored pairs."""

    def __init__(self, case: Case, positive: _Verdicts, negative: _Verdicts, strict: bool) -> None:
        self.case, self.positive, self.negative, self.strict = case, positive, negative, strict
        self.reviewer = case.reviewer
        self.knows_all = False
        """Whether every pair up to 20 lines apart that could matter was judged."""
        self._known: dict[bytes, NDArray[np.float64]] = {}

    @classmethod
    def of(cls, record: Record, pairs: Sequence[Pair], rules: Rules, judge: str) -> _Replay:
        said, reference, negative = (
            Review(
                record["github_pr_url"],
                tuple(_comments(record[name])),
                language=record["language"],
                pr_category=record["pr_category"],
            )
            for name in ("match_details", "reference_comments", "negative_comments")
        )
        case = _ReplayedCase(record["reviewer"], said, reference, negative, replace(rules, reach=FREE_REACH))
        ours = {detail["generated"]: i for i, detail in enumerate(record["match_details"])}
        wide, wide_negatives = case.candidates, case.negative_candidates
        theirs = {comment["reference"]: i for i, comment in enumerate(record["reference_comments"])}
        case.candidates, positive = _stored(wide, pairs, False, ours, theirs, judge)
        theirs = {comment["negative"]: i for i, comment in enumerate(record["negative_comments"])}
        case.negative_candidates, rejected = _stored(wide_negatives, pairs, True, ours, theirs, judge)
        replay = cls(case, positive, rejected, strict=judge == "rouge")
        explained = np.array(sorted(replay._explained(rules.line_distance, None)), np.int64)
        asked = int((~np.isin(wide_negatives.generated, explained)).sum())
        replay.knows_all = len(case.candidates) == len(wide) and len(case.negative_candidates) == asked
        return replay

    def at(self, settings: Sequence[Setting], own: Setting) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
        """A row of counts for each setting, and whether its count of rejected comments cannot be known."""
        rows = np.array([self._counts(*setting) for setting in settings]).reshape(-1, len(COUNTS))
        if not self.case.rules.negatives or not self.case.negative.comments:
            return rows, np.zeros(len(settings), bool)
        explained = self._explained(*own)
        missing = [self._needs_negatives(explained - self._explained(*one), one[0]) for one in settings]
        return rows, np.array(missing)

    def _counts(self, distance: int, threshold: float | None) -> NDArray[np.float64]:
        """Counted once for each distinct set of edges."""
        self.case.rules = replace(self.case.rules, line_distance=distance)
        answer, rejected = self._answers(threshold)
        state = [
            verdicts.match[near].tobytes() + near.tobytes()
            for verdicts, near in (
                (answer, self.case.eligible(self.case.candidates)),
                (rejected, self.case.eligible(self.case.negative_candidates)),
            )
        ]
        key = state[0] + b"|" + state[1]
        if key not in self._known:
            counts = self.case.counts(answer, rejected)
            self._known[key] = np.array([counts.get(name, 0) for name in COUNTS], np.float64)
        return self._known[key]

    def _answers(self, threshold: float | None) -> tuple[Answer, Answer]:
        return self.positive.at(threshold, self.strict), self.negative.at(threshold, self.strict)

    def _explained(self, distance: int, threshold: float | None) -> set[int]:
        """Comments with a full edge, which are not held against negatives."""
        self.case.rules = replace(self.case.rules, line_distance=distance)
        answer, _ = self._answers(threshold)
        same = (answer.match == SAME) & self.case.eligible(self.case.candidates)
        return set(self.case.candidates.generated[same].tolist())

    def _needs_negatives(self, comments: Iterable[int], distance: int) -> bool:
        """Whether one of these comments may match a negative: that pair was never judged."""
        generated, negatives = self.case.generated.comments, self.case.negative.comments
        return any(
            not self.case.rules.place or may_match(generated[comment], negative, distance)
            for comment in comments
            for negative in negatives
        )


def _comments(details: Iterable[Record]) -> Iterator[Comment]:
    return (Comment(**{n: v for n, v in detail.items() if n in _COMMENT_FIELDS}) for detail in details)


def _stored(
    wide: Candidates,
    pairs: Sequence[Pair],
    negative: bool,
    ours: Mapping[int, int],
    theirs: Mapping[int, int],
    judge: str,
) -> tuple[Candidates, _Verdicts]:
    """Of all candidates those that were judged, and their verdicts."""
    stored = {
        (ours[pair["generated"]], theirs[pair["reference"]]): pair
        for pair in pairs
        if pair["negative"] == negative
    }
    places = list(zip(wide.generated.tolist(), wide.reference.tolist(), strict=True))
    judged = wide.only(np.array([place in stored for place in places], bool))
    rows = [stored[place] for place in places if place in stored]
    if len(rows) != len(stored):
        raise InputError("a stored pair that its comments do not explain", fix="Run the evaluation again.")
    moving = ("judge",) if judge == "cascade" else ("judge", "model", "cache")
    return judged, _Verdicts(
        np.array([np.nan if row["score"] is None else row["score"] for row in rows], np.float64),
        np.array([UNDECIDED if row["match"] is None else int(row["match"]) for row in rows], np.int8),
        np.array([row["by"] in moving and row["match"] is not None for row in rows], bool),
    )
