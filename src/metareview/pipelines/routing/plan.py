"""Decide which routers rank which pull requests, and when: nothing is replayed yet."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from metareview.errors import UsageError, did_you_mean
from metareview.formats.reader import several
from metareview.model.event import Eligibility, Event, History
from metareview.model.words import plural
from metareview.pipelines.routing.options import RoutingOptions
from metareview.pipelines.routing.read import Inputs
from metareview.routing.harness_router import TOP_K, looks_ahead
from metareview.routing.registry import NamedRouter, built_in_routers, configured, make_router
from metareview.routing.replay import cutoffs
from metareview.routing.routers.codeowners import CodeOwnersRouter
from metareview.routing.turnover import last_instant


@dataclass(frozen=True, slots=True)
class Part:
    """One repository with pull requests to score: its events, and their cutoffs."""

    repo: str
    events: Sequence[Event]
    cutoffs: Mapping[int, int]


@dataclass(frozen=True, slots=True)
class Plan:
    """What is to be done, and what to warn of before it begins."""

    options: RoutingOptions
    inputs: Inputs
    routers: tuple[NamedRouter, ...]
    names: tuple[str, ...]
    """Of the routers, and then of those that gave predictions."""
    parts: tuple[Part, ...]
    warnings: tuple[str, ...]

    @property
    def eligible(self) -> Eligibility:
        return Eligibility(self.inputs.history.bots, self.options.include_bots, self.options.include_author)

    def until(self, part: Part) -> int:
        """The end of a repository's replayed period."""
        return last_instant(part.cutoffs.values(), self.options.truth_span, self.inputs.history.end)

    @property
    def pull_requests(self) -> list[tuple[str, int]]:
        """Those that are scored."""
        return [(part.repo, pr) for part in self.parts for pr in part.cutoffs]


def plan_cohort(plan: Plan) -> Plan:
    """The plan of the routers with the pull requests to score; UsageError where there are none."""
    parts, unready = _choose_pull_requests(plan.inputs.history, plan.options)
    if not parts:
        raise empty_cohort()
    return replace(plan, parts=parts, warnings=(*plan.warnings, *unready_warning(unready)))


def plan_routers(inputs: Inputs, options: RoutingOptions) -> Plan:
    """Who ranks, and nothing yet of whom; UsageError for a router that cannot be made, and two of one name."""
    warnings = [*inputs.history.warnings, *(line for each in inputs.predictions for line in each.warnings)]
    routers: list[NamedRouter] = []
    lookup = {"data_dir": _data_dir(options), "top_k": max(TOP_K, *options.k)}
    for spec in built_in_routers() if options.routers is None else options.routers:
        if spec != "codeowners":
            routers.append(make_router(spec, inputs.router_config, lookup))
            if routers[-1].looks_up:
                warnings.append(looks_ahead(routers[-1].name))
        elif inputs.codeowners is None:
            warnings.append("codeowners left out: it needs --codeowners FILE")
        else:
            owners = NamedRouter(spec, partial(CodeOwnersRouter, inputs.codeowners), built_in=True)
            routers.append(configured(owners, inputs.router_config))
    names = (*(each.name for each in routers), *(each.router for each in inputs.predictions))
    if not names:
        raise UsageError(
            "there is no router to score. Give --router or --predictions; codeowners needs --codeowners FILE."
        )
    if twice := [name for name in names if names.count(name) > 1]:
        raise UsageError(f"two routers are named {twice[0]}. Give each its own name.")
    known = [each.name for each in routers]
    for name in inputs.router_config:
        if name not in known:
            raise UsageError(
                f"--router-config {name}: no such router in this run. The routers are {', '.join(known)}."
                f"{did_you_mean(name, known)}"
            )
    return Plan(options, inputs, tuple(routers), names, (), tuple(warnings))


def empty_cohort() -> UsageError:
    return UsageError("no pull request is in the cohort. Widen --from, --to, --repo, --pr or --cutoff.")


def unready_warning(unready: int) -> list[str]:
    count = plural(unready, "pull request")
    return [f"{count} left out: drafts that never became ready for review"] if unready else []


def _data_dir(options: RoutingOptions) -> Path | None:
    """Where routers of the routing harness look things up, if the history is in `DATA_DIR/github/OWNER/NAME`."""
    for path in (Path(path).absolute() for path in several(options.history)):
        if (path / "github").is_dir():
            return path
        for folder in path.parents if path.name != "github" else (path,):
            if folder.name == "github":
                return folder.parent
    return None


def _choose_pull_requests(history: History, options: RoutingOptions) -> tuple[tuple[Part, ...], int]:
    """The cohort, and how many of it have no cutoff."""
    events = history.by_repository()
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
    return tuple(Part(repo, events[repo], at) for repo, at in chosen.items()), unready


def choose_of_one(events: Iterable[Event], options: RoutingOptions) -> tuple[dict[int, int], int]:
    """The cutoffs of one repository's pull requests in the cohort, in order of opening, and how many have none.

    Events are looked at once, and all of them.
    """
    scored: list[int] = []

    def noted() -> Iterator[Event]:
        for event in events:
            if event.kind == "opened" and options.is_scored(event.repo, event.pr, event.at):
                scored.append(event.pr)
            yield event

    known = cutoffs(noted(), options.cutoff_rule)
    chosen = {pr: known[pr] for pr in scored if pr in known}
    return chosen, len(scored) - len(chosen)
