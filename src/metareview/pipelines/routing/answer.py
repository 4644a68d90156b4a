"""Replay each repository: every router's answer for each of its pull requests, held against the truth."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial

from metareview.formats.source import Progress
from metareview.model.event import Eligibility, Event, PullRequest, fold
from metareview.pipelines.routing.options import RoutingOptions
from metareview.pipelines.routing.plan import Part, Plan
from metareview.pipelines.routing.tally import outcomes_of
from metareview.routing.answers import KEPT, AnswerReader, Worth, places_worth
from metareview.routing.declarations import declarations_of
from metareview.routing.expertise import first_expert
from metareview.routing.knowledge import Knowledge, find_experts
from metareview.routing.list_measures import Places, measures_of
from metareview.routing.protocol import Ranking
from metareview.routing.queue import COMMENTS, REVIEWS, seconds_to_first
from metareview.routing.records import Declarations, RouterAnswer, RoutingRecord, Truth
from metareview.routing.replay import by_pull_request, replay, take_snapshots, visible_events
from metareview.routing.sums import Missing, Outcomes
from metareview.routing.truth import find_truth

FILES, BODY = "files at their cutoff", "body at their cutoff"
_TOLD_EVERY = 0.1
"""Seconds."""


@dataclass(slots=True)
class Answers:
    """The records of repositories, by cutoff within each, and what can only be counted on the way."""

    records: list[RoutingRecord] = field(default_factory=list)
    outcomes: Outcomes = field(default_factory=Outcomes)


class Ticker:
    """Tells of progress now and then, however quick a step is."""

    def __init__(self, total: int, progress: Progress | None) -> None:
        self._total, self._progress = total, progress
        self._done, self._told = 0, time.monotonic()

    def ticking(self, rankings: Iterable[Ranking]) -> Iterator[Ranking]:
        """The same, each of which is a step."""
        for ranking in rankings:
            yield ranking
            self._done += 1
            if self._progress is not None and (now := time.monotonic()) - self._told >= _TOLD_EVERY:
                self._told = now
                self._progress(self._done, self._total)


def answer(plan: Plan, progress: Progress | None = None) -> Answers:
    """Every router's answer for every pull request of the plan."""
    answers = Answers()
    ticker = Ticker(len(plan.routers) * sum(len(part.cutoffs) for part in plan.parts), progress)
    for part in plan.parts:
        answer_part(part, plan, answers, ticker)
    return answers


@lru_cache(maxsize=8)
def _worth(ks: tuple[int, ...], truth: str) -> Worth:
    return places_worth(measures_of(ks, truth), ks)


def answer_part(part: Part, plan: Plan, answers: Answers, ticker: Ticker) -> None:
    """Add those of one repository. Of the plan, neither its other parts nor its history's events are looked at."""
    options, history = plan.options, plan.inputs.history
    worth = _worth(tuple(sorted(set(options.k))), options.truth)
    eligible = plan.eligible
    visible = visible_events(part.events, options.reviews_visible_at)
    stories = by_pull_request(part.events, part.cutoffs)
    pulls = take_snapshots(stories, part.cutoffs)
    truth_of = partial(
        find_truth,
        policy=options.truth,
        window=options.truth_span,
        eligible=eligible,
        end=history.end,
        sources=frozenset(options.truth_sources),
        reviews_hidden=options.reviews_visible_at == "creation",
        has_gaps=part.repo in history.gaps,
    )
    truths = [truth_of(stories[pull.pr], pull.author, pull.cutoff) for pull in pulls]
    lists: dict[str, list[RouterAnswer]] = {}
    missing: Counter[Missing] = Counter()
    new_reader = partial(AnswerReader, eligible, history.names, worth=worth, kept=max(KEPT, *options.k))
    for named in plan.routers:
        router = named.fresh()
        rankings = ticker.ticking(replay(router, visible, pulls))
        lists[named.name] = list(new_reader().read_all(rankings, pulls, truths))
        missing.update({Missing(named.name, what): number for what, number in router.missing.items()})
        if router.needs_files:
            missing[Missing(named.name, FILES)] += sum(not pull.files for pull in pulls)
        if router.needs_bodies:
            missing[Missing(named.name, BODY)] += sum(not pull.body for pull in pulls)
    for each in plan.inputs.predictions:
        reader = new_reader()
        lists[each.router] = [
            reader.read_prediction(each.answers.get((pull.repo, pull.pr)), truth.targets)
            for pull, truth in zip(pulls, truths, strict=True)
        ]
    declared = declarations_of(pull.body for pull in pulls)
    knowledge = Knowledge()
    experts = find_experts(knowledge, visible, pulls, plan.until(part))
    spelled = {each.router: history.names for each in plan.inputs.predictions}
    for pull, truth, declarations, known, *row in zip(pulls, truths, declared, experts, *lists.values(), strict=True):
        of_routers = dict(zip(lists, row, strict=True))
        if known is not None:
            of_routers = {
                name: _with_expertise(each, truth, _expert(each, known, max(options.k), spelled.get(name)), worth)
                for name, each in of_routers.items()
            }
        told = None if known is None or not truth.targets else not known.isdisjoint(truth.targets)
        record = _record(pull, stories[pull.pr], truth, declarations, of_routers, told, options, eligible)
        answers.records.append(record)
    answers.outcomes += outcomes_of(part, plan, pulls, stories, lists, knowledge) + Outcomes(missing=missing)


def _expert(answer: RouterAnswer, experts: Collection[str], most: int, names: Mapping[str, str] | None) -> int:
    """Where the first expert is among the most that any k asks for. `names`: predictions may spell people otherwise."""
    listed = answer.candidates[:most]
    return first_expert(listed if names is None else [names.get(fold(each), each) for each in listed], experts)


def _with_expertise(answer: RouterAnswer, truth: Truth, expert: int, worth: Worth) -> RouterAnswer:
    ranks = answer.ranks or ((answer.rank,) if answer.rank else ())
    return answer.with_figures(worth(Places(ranks, len(truth.targets)), expert))


def _record(
    pull_request: PullRequest,
    events: Sequence[Event],
    truth: Truth,
    declarations: Declarations,
    answers: Mapping[str, RouterAnswer],
    truth_expertise: bool | None,
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
        declarations=declarations,
        merged=any(at <= cutoff for at in merges),
        merged_within=None if within is None else any(at <= cutoff + within for at in merges),
        answers=answers,
        files=len(pull_request.files),
        truth_expertise=truth_expertise,
    )
