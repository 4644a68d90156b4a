"""One repository's share of the work: what the engines map over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from metareview.errors import UsageError
from metareview.model.event import Eligibility, Event
from metareview.model.prediction import Predictions
from metareview.routing.answers import KEPT, Answer, Reader
from metareview.routing.declarations import read_gates
from metareview.routing.options import Options
from metareview.routing.queue import COMMENTS, REVIEWS, seconds_to_first
from metareview.routing.records import Record
from metareview.routing.replay import Question, Visible, questions, replay, visible_events
from metareview.routing.routers import NamedRouter
from metareview.routing.truth import Truth, find_truth


@dataclass(frozen=True, slots=True)
class Part:
    """A repository's events, the cutoffs of the pull requests to score, and what the whole history says."""

    repo: str
    events: Sequence[Event]
    cutoffs: Mapping[int, int]
    end: int
    bots: frozenset[str]
    names: Mapping[str, str]


@dataclass(slots=True)
class PartResult:
    """The records of a repository by cutoff, and what can only be counted while scoring."""

    records: list[Record] = field(default_factory=list)
    recommended: dict[str, set[str]] = field(default_factory=dict)
    need_files: list[str] = field(default_factory=list)
    without_files: int = 0
    without_rules: int = 0


def score_part(
    part: Part, routers: Sequence[NamedRouter], predictions: Sequence[Predictions], options: Options
) -> PartResult:
    """Ask every router about every pull request of the part, and hold the answers against the truth."""
    result = PartResult()
    eligible = Eligibility(part.bots, options.include_bots, options.include_author)
    visible = visible_events(part.events, options.reviews_visible_at)
    asked = questions(part.events, visible, part.cutoffs)
    result.without_files = sum(not question.pull_request.files for question in asked)
    by_pr: dict[int, list[Event]] = {question.pull_request.pr: [] for question in asked}
    for event in part.events:
        if event.pr in by_pr:
            by_pr[event.pr].append(event)
    truths = [_truth(question, by_pr, options, eligible, part.end) for question in asked]
    answers: list[dict[str, Answer]] = [{} for _ in asked]
    kept = max(KEPT, *options.k)
    for named in routers:
        reader = Reader(named.name, eligible, part.names, trusted=named.ours, kept=kept)
        _ask(named, reader, visible, asked, truths, answers, result)
        result.recommended[named.name] = reader.recommended()
    for each in predictions:
        reader = Reader(each.router, eligible, part.names, kept=kept)
        for question, truth, answer in zip(asked, truths, answers, strict=True):
            prediction = each.answers.get((part.repo, question.pull_request.pr))
            answer[each.router] = reader.predicted(prediction, truth.targets)
        result.recommended[each.router] = reader.recommended()
    for question, truth, answer in zip(asked, truths, answers, strict=True):
        events = by_pr[question.pull_request.pr]
        result.records.append(_record(question, events, truth, answer, options, eligible))
    return result


def _truth(
    question: Question, by_pr: Mapping[int, list[Event]], options: Options, eligible: Eligibility, end: int
) -> Truth:
    pull_request = question.pull_request
    return find_truth(
        by_pr[pull_request.pr],
        pull_request.author,
        pull_request.cutoff,
        policy=options.truth,
        window=options.truth_window,
        eligible=eligible,
        end=end,
    )


def _ask(
    named: NamedRouter,
    reader: Reader,
    visible: Visible,
    asked: Sequence[Question],
    truths: Sequence[Truth],
    answers: Sequence[dict[str, Answer]],
    result: PartResult,
) -> None:
    router = named.fresh()
    if getattr(router, "needs_files", False):
        result.need_files.append(named.name)
    try:
        rankings = replay(router, visible, asked)
        for (question, ranking), truth, answer in zip(rankings, truths, answers, strict=True):
            answer[named.name] = reader.read(ranking, question.pull_request, truth.targets)
    except UsageError:
        raise
    except (Exception, SystemExit) as error:  # A router that exits must not end the run as if it were done.
        if named.ours:
            raise
        where = next(
            (q.pull_request for q, a in zip(asked, answers, strict=True) if named.name not in a), None
        )
        place = "" if where is None else f" before or at {where.repo}#{where.pr}"
        raise UsageError(
            f"router {named.name} raised {type(error).__name__}: {error}{place}. Mend the router."
        ) from error
    result.without_rules += int(getattr(router, "without_rules", 0))


def _record(
    question: Question,
    events: Sequence[Event],
    truth: Truth,
    answers: dict[str, Answer],
    options: Options,
    eligible: Eligibility,
) -> Record:
    pull_request = question.pull_request
    author, cutoff = pull_request.author, pull_request.cutoff
    merges = [event.at for event in events if event.kind == "merged"]
    within = options.merged_within
    return Record(
        repo=pull_request.repo,
        pr=pull_request.pr,
        author=author,
        created_at=pull_request.created_at,
        cutoff=cutoff,
        truth=truth,
        ttfr_seconds=seconds_to_first(REVIEWS, events, author, cutoff, eligible),
        ttfc_seconds=seconds_to_first(COMMENTS, events, author, cutoff, eligible) if options.ttfc else None,
        gates=read_gates(pull_request.body),
        merged=any(at <= cutoff for at in merges),
        merged_within=None if within is None else any(at <= cutoff + within for at in merges),
        answers=answers,
    )
