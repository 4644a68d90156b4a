"""Decide which routers rank which pull requests, and when: nothing is replayed yet."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from metareview.errors import UsageError
from metareview.model.event import Event, History
from metareview.model.prediction import Prediction
from metareview.model.words import plural
from metareview.pipelines.routing.options import RoutingOptions
from metareview.pipelines.routing.read import Inputs
from metareview.routing.registry import NamedRouter, built_in_routers, make_router
from metareview.routing.replay import cutoffs
from metareview.routing.routers.codeowners import CodeOwnersRouter


@dataclass(frozen=True, slots=True)
class Part:
    """One repository: its events, the cutoffs of its pull requests to score, and what the whole history says."""

    repo: str
    events: Sequence[Event]
    cutoffs: Mapping[int, int]
    predictions: Mapping[str, Mapping[int, Prediction]]
    """By router, then by pull request."""
    end: int
    bots: frozenset[str]
    names: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, and what to warn of before it begins."""

    routers: tuple[NamedRouter, ...]
    names: tuple[str, ...]
    """Of the routers, and then of those that gave predictions."""
    parts: tuple[Part, ...]
    warnings: tuple[str, ...]


def make_plan(inputs: Inputs, options: RoutingOptions) -> Plan:
    """UsageError for a router that cannot be made, two of one name, and a cohort that nobody is in."""
    warnings = list(inputs.history.warnings)
    routers = _choose_routers(inputs, options, warnings)
    names = _check_names([*(each.name for each in routers), *(each.router for each in inputs.predictions)])
    events = inputs.history.by_repository()
    chosen = _choose_pull_requests(inputs.history, events, options, warnings)
    return Plan(routers, names, _split(inputs, events, chosen), tuple(warnings))


def _choose_routers(inputs: Inputs, options: RoutingOptions, warnings: list[str]) -> tuple[NamedRouter, ...]:
    """The routers to score; `codeowners` only with a file, and with a warning without one."""
    routers = []
    for spec in built_in_routers() if options.routers is None else options.routers:
        if spec != "codeowners":
            routers.append(make_router(spec))
        elif inputs.codeowners is None:
            warnings.append("codeowners left out: it needs --codeowners FILE")
        else:
            routers.append(NamedRouter(spec, partial(CodeOwnersRouter, inputs.codeowners), built_in=True))
    return tuple(routers)


def _check_names(names: Sequence[str]) -> tuple[str, ...]:
    if not names:
        raise UsageError(
            "there is no router to score. Give --router or --predictions; codeowners needs --codeowners FILE."
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two routers are named {twice}. Give each its own name.")
    return tuple(names)


def _choose_pull_requests(
    history: History, events: Mapping[str, Sequence[Event]], options: RoutingOptions, warnings: list[str]
) -> dict[str, dict[int, int]]:
    """By repository, the cutoff of each pull request of the cohort; those without one are warned of."""
    known = {repo: cutoffs(part, options.cutoff_rule) for repo, part in events.items()}
    chosen: dict[str, dict[int, int]] = {}
    scored = unready = 0
    for event in history.events:
        if event.kind != "opened" or not options.is_scored(event.repo, event.pr, event.at):
            continue
        cutoff = known[event.repo].get(event.pr)
        if cutoff is None:
            unready += 1
        elif options.limit is None or scored < options.limit:
            chosen.setdefault(event.repo, {})[event.pr] = cutoff
            scored += 1
    if unready:
        warnings.append(f"{plural(unready, 'pull request')} left out: drafts that never became ready for review")
    if not chosen:
        raise UsageError("no pull request is in the cohort. Widen --from, --to, --repo, --pr or --cutoff.")
    return chosen


def _split(
    inputs: Inputs, events: Mapping[str, Sequence[Event]], chosen: Mapping[str, Mapping[int, int]]
) -> tuple[Part, ...]:
    """One part per repository that has a pull request to score."""
    history = inputs.history
    predictions: dict[str, dict[str, dict[int, Prediction]]] = {
        repo: {each.router: {} for each in inputs.predictions} for repo in chosen
    }
    for each in inputs.predictions:
        for (repo, pr), prediction in each.answers.items():
            if pr in chosen.get(repo, ()):
                predictions[repo][each.router][pr] = prediction
    return tuple(
        Part(repo, events[repo], cut, predictions[repo], history.end, history.bots, history.names)
        for repo, cut in chosen.items()
    )
