"""Replay one repository: every router's answer for each of its pull requests, held against the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from metareview.model.event import Eligibility, Event, PullRequest
from metareview.pipelines.routing.options import RoutingOptions
from metareview.pipelines.routing.plan import Part
from metareview.routing.answers import KEPT, AnswerReader
from metareview.routing.declarations import read_declarations
from metareview.routing.queue import COMMENTS, REVIEWS, seconds_to_first
from metareview.routing.records import RouterAnswer, RoutingRecord, Truth
from metareview.routing.registry import NamedRouter
from metareview.routing.replay import replay, take_snapshots, visible_events
from metareview.routing.truth import find_truth


@dataclass(frozen=True, slots=True)
class PartAnswers:
    """The records of a repository by cutoff, and what can only be counted on the way."""

    records: list[RoutingRecord]
    recommended: Mapping[str, set[str]]
    """By router, everybody who was ever on one of its lists."""
    need_files: list[str]
    """The routers that need files."""
    without_files: int
    """Pull requests that have none."""
    missing: Counter[str]
    """What else routers missed, and on how many pull requests."""


def answer(part: Part, routers: Sequence[NamedRouter], options: RoutingOptions) -> PartAnswers:
    """Every router's answer for every pull request of the part. A pure function: parts may be done anywhere."""
    eligible = Eligibility(part.bots, options.include_bots, options.include_author)
    visible = visible_events(part.events, options.reviews_visible_at)
    snapshots = take_snapshots(part.events, visible, part.cutoffs)
    pulls = [snapshot.pull_request for snapshot in snapshots]
    events: dict[int, list[Event]] = {pull.pr: [] for pull in pulls}
    for event in part.events:
        if event.pr in events:
            events[event.pr].append(event)
    truths = [
        find_truth(
            events[pull.pr],
            pull.author,
            pull.cutoff,
            policy=options.truth,
            window=options.truth_span,
            eligible=eligible,
            end=part.end,
        )
        for pull in pulls
    ]
    answers: dict[str, list[RouterAnswer]] = {}
    recommended: dict[str, set[str]] = {}
    need_files: list[str] = []
    missing: Counter[str] = Counter()
    kept = max(KEPT, *options.k)
    for named in routers:
        router = named.fresh()
        reader = AnswerReader(eligible, part.names, kept=kept)
        rankings = replay(router, visible, snapshots)
        answers[named.name] = [
            reader.read(ranking, pull, truth.targets)
            for ranking, pull, truth in zip(rankings, pulls, truths, strict=True)
        ]
        recommended[named.name] = reader.recommended()
        missing.update(router.missing)
        if router.needs_files:
            need_files.append(named.name)
    for name, predictions in part.predictions.items():
        reader = AnswerReader(eligible, part.names, kept=kept)
        answers[name] = [
            reader.read_prediction(predictions.get(pull.pr), truth.targets)
            for pull, truth in zip(pulls, truths, strict=True)
        ]
        recommended[name] = reader.recommended()
    records = [
        _record(pull, events[pull.pr], truth, dict(zip(answers, lists, strict=True)), options, eligible)
        for pull, truth, *lists in zip(pulls, truths, *answers.values(), strict=True)
    ]
    return PartAnswers(records, recommended, need_files, sum(not pull.files for pull in pulls), missing)


def _record(
    pull_request: PullRequest,
    events: Sequence[Event],
    truth: Truth,
    answers: Mapping[str, RouterAnswer],
    options: RoutingOptions,
    eligible: Eligibility,
) -> RoutingRecord:
    author, cutoff, within = pull_request.author, pull_request.cutoff, options.merged_span
    merges = [event.at for event in events if event.kind == "merged"]
    return RoutingRecord(
        repo=pull_request.repo,
        pr=pull_request.pr,
        author=author,
        created_at=pull_request.created_at,
        cutoff=cutoff,
        truth=truth,
        ttfr_seconds=seconds_to_first(REVIEWS, events, author, cutoff, eligible),
        ttfc_seconds=seconds_to_first(COMMENTS, events, author, cutoff, eligible) if options.ttfc else None,
        declarations=read_declarations(pull_request.body),
        merged=any(at <= cutoff for at in merges),
        merged_within=None if within is None else any(at <= cutoff + within for at in merges),
        answers=answers,
    )
