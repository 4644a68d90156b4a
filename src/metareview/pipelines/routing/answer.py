"""Replay each repository: every router's answer for each of its pull requests, held against the truth."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from metareview.model.event import Eligibility, Event, PullRequest
from metareview.pipelines.routing.options import RoutingOptions
from metareview.pipelines.routing.plan import Part, Plan
from metareview.routing.answers import KEPT, AnswerReader
from metareview.routing.declarations import read_declarations
from metareview.routing.queue import COMMENTS, REVIEWS, seconds_to_first
from metareview.routing.records import RouterAnswer, RoutingRecord, Truth
from metareview.routing.replay import replay, take_snapshots, visible_events
from metareview.routing.truth import find_truth


@dataclass(slots=True)
class Answers:
    """The records of all repositories, by cutoff within each, and what can only be counted on the way."""

    recommended: Mapping[str, set[str]]
    """By router, everybody who was ever on one of its lists."""
    records: list[RoutingRecord] = field(default_factory=list)
    need_files: dict[str, None] = field(default_factory=dict)
    """The routers that need files."""
    without_files: int = 0
    """Pull requests that have none."""
    missing: Counter[str] = field(default_factory=Counter)
    """What else routers missed, and on how many pull requests."""


def answer(plan: Plan) -> Answers:
    """Every router's answer for every pull request of the plan."""
    answers = Answers({name: set() for name in plan.names})
    for part in plan.parts:
        _answer_part(part, plan, answers)
    return answers


def _answer_part(part: Part, plan: Plan, answers: Answers) -> None:
    options, history = plan.options, plan.inputs.history
    eligible = Eligibility(history.bots, options.include_bots, options.include_author)
    visible = visible_events(part.events, options.reviews_visible_at)
    pulls = take_snapshots(part.events, part.cutoffs)
    events: dict[int, list[Event]] = {pull.pr: [] for pull in pulls}
    for event in part.events:
        if event.pr in events:
            events[event.pr].append(event)
    truth_of = partial(find_truth, policy=options.truth, window=options.truth_span, eligible=eligible, end=history.end)
    truths = [truth_of(events[pull.pr], pull.author, pull.cutoff) for pull in pulls]
    lists: dict[str, list[RouterAnswer]] = {}
    new_reader = partial(AnswerReader, eligible, history.names, kept=max(KEPT, *options.k))
    for named in plan.routers:
        router, reader = named.fresh(), new_reader()
        rankings = zip(replay(router, visible, pulls), pulls, truths, strict=True)
        lists[named.name] = [reader.read(ranking, pull, truth.targets) for ranking, pull, truth in rankings]
        answers.recommended[named.name].update(reader.recommended())
        answers.missing.update(router.missing)
        if router.needs_files:
            answers.need_files[named.name] = None
    for each in plan.inputs.predictions:
        reader = new_reader()
        lists[each.router] = [
            reader.read_prediction(each.answers.get((pull.repo, pull.pr)), truth.targets)
            for pull, truth in zip(pulls, truths, strict=True)
        ]
        answers.recommended[each.router].update(reader.recommended())
    answers.without_files += sum(not pull.files for pull in pulls)
    for pull, truth, *row in zip(pulls, truths, *lists.values(), strict=True):
        of_routers = dict(zip(lists, row, strict=True))
        answers.records.append(_record(pull, events[pull.pr], truth, of_routers, options, eligible))


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
