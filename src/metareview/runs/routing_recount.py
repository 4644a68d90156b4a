"""The figures of a run of routing, counted anew from its records."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from metareview.model.event import fold
from metareview.routing.expertise import RouterExpertise, router_expertise
from metareview.routing.list_measures import SEVERAL, Places
from metareview.routing.rank_figures import RankFigures
from metareview.routing.summary import RouterSummary, RoutingSummary
from metareview.routing.sums import Expert, Ranked
from metareview.runs.files import JsonObject
from metareview.runs.recount import OtherFiguresError, hold, hold_names, hold_rates


def check_routing_record(line: JsonObject) -> None:
    """OtherFiguresError where a rank is not the place of the first target, as far as the list is kept."""
    targets = set(map(fold, line["truth"]["targets"]))
    for name, answer in line["routers"].items():
        candidates, rank = answer["candidates"], answer["rank"] or 0
        found = (place for place, login in enumerate(candidates, 1) if fold(login) in targets)
        place = next(found, 0) if targets else 0
        if (0 if rank > len(candidates) else rank) != place:
            hold(f"the rank by {name} on {line['repo']}#{line['pr']}", rank, place)


def check_routing(summary: RoutingSummary, lines: Iterable[JsonObject]) -> None:
    """OtherFiguresError where a figure is not that of the records, which are read once."""
    names, several = summary.config.routers, summary.config.truth == SEVERAL
    hold_names("router", summary.routers, names)
    states: Counter[str] = Counter()
    answered: Counter[str] = Counter()
    ranked: dict[str, Counter[Ranked]] = {name: Counter() for name in names}
    experts: dict[str, Counter[Expert]] = {name: Counter() for name in names}
    expertise = [(k, f"expertise@{k}") for k in summary.config.ks]
    for line in lines:
        truth, answers = line["truth"], line["routers"]
        observed = truth["state"] == "observed"
        targets = len(truth["targets"])
        states[truth["state"]] += 1
        for name in names:
            answer = answers[name]
            answered[name] += answer["listed"] > 0
            ranks = tuple(answer.get("ranks") or ()) if several else ()
            places = ranks or ((answer["rank"],) if answer["rank"] else ())
            ranked[name][Ranked(0, "", observed, Places(places, targets if several else int(observed)))] += 1
            if line.get("files", 0) > 0:
                first = next((k for k, figure in expertise if answer.get(figure)), 0)
                experts[name][Expert(0, "", observed, first)] += 1
    hold("pull requests", summary.prs, states.total())
    for state in ("observed", "no_response", "unknown"):
        hold(f"pull requests with the truth {state}", getattr(summary.truth, state), states[state])
    for name, router in summary.routers.items():
        hold(f"{name}: answered", router.answered, answered[name])
        hold(f"{name}: pull requests with a truth", router.observed_prs, states["observed"])
        _check_router(name, router, RankFigures(ranked[name], summary.config.measures))
        if router.expertise is not None and router.not_applicable is None:
            _check_expertise(name, router.expertise, router_expertise(experts[name], summary.config.ks))


def _check_router(name: str, router: RouterSummary, figures: RankFigures) -> None:
    absent = figures.absent()
    lacking = router.not_applicable is not None
    hold_rates(name, router.metrics, absent if lacking else figures.means())
    hold_rates(f"{name}, with a truth", router.observed_metrics, absent if lacking else figures.means(observed=True))


def _check_expertise(name: str, told: RouterExpertise, counted: RouterExpertise | None) -> None:
    if counted is None:
        raise OtherFiguresError(f"{name}: expertise is told, and no record has files")
    hold_rates(name, told.metrics, counted.metrics)
    hold_rates(f"{name}, with a truth", told.observed_metrics, counted.observed_metrics)
