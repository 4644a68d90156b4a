"""Score routers on a history: the pure function behind `metareview routing` and `evaluate_routing`."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from metareview.errors import UsageError
from metareview.formats.codeowners import OwnersByCommit
from metareview.formats.registry import paused_garbage_collection
from metareview.model.event import History
from metareview.model.prediction import Predictions
from metareview.model.words import plural
from metareview.routing.options import Options, make_options, show_options
from metareview.routing.records import Record, summarise
from metareview.routing.replay import cutoffs
from metareview.routing.repository import Part, PartResult, score_part
from metareview.routing.routers import ROUTERS, NamedRouter, Router, make_router
from metareview.routing.routers.codeowners import CodeOwnersRouter

SCHEMA = "metareview.routing/1"


@dataclass(frozen=True, slots=True)
class RoutingResult:
    """One record a pull request, by cutoff within each repository, and the summary that `--json` prints."""

    records: list[Record]
    summary: dict[str, Any]


Spec = str | Router | Callable[[], Router]


def score_history(
    history: History,
    routers: Sequence[Spec] | None = None,
    *,
    predictions: Sequence[Predictions] = (),
    codeowners: str | Path | None = None,
    seed: int = 0,
    cutoff: str = "created_at",
    truth: str = "first_response",
    truth_window: str | None = "60m",
    include_bots: bool = False,
    include_author: bool = False,
    k: Sequence[int] = (1, 3, 5),
    merged_within: str | None = None,
    ttfc: bool = False,
    reviews_visible_at: str = "event",
    since: str | None = None,
    until: str | None = None,
    repos: Collection[str] = (),
    prs: Collection[int] = (),
    limit: int | None = None,
) -> RoutingResult:
    """Replay the history and score each router (default: all built-in) on each pull request of the cohort.

    The options are those of `metareview routing`; `since` and `until` are --from and --to. UsageError for a
    wrong option, for a router that cannot be made or answers nonsense, and for a cohort that nobody is in.
    """
    typed = {
        "cutoff": cutoff,
        "truth": truth,
        "truth_window": truth_window,
        "include_bots": include_bots,
        "include_author": include_author,
        "k": tuple(k),
        "merged_within": merged_within,
        "ttfc": ttfc,
        "reviews_visible_at": reviews_visible_at,
        "since": since,
        "until": until,
        "repos": frozenset(repos),
        "prs": frozenset(prs),
        "limit": limit,
    }
    options = make_options(**typed)  # type: ignore[arg-type]
    warnings = list(history.warnings)
    chosen = choose_routers(routers, codeowners, warnings)
    check_names(chosen, predictions)
    parts, unready = split_history(history, options)
    if unready:
        warnings.append(
            f"{plural(unready, 'pull request')} left out: drafts that never became ready for review"
        )
    # A user's router may well make cycles, and must not be kept from having them collected.
    with paused_garbage_collection(all(router.ours for router in chosen)):
        results = [score_part(part, chosen, predictions, options) for part in parts]
    warnings += result_warnings(history, parts, results, predictions, options)
    names = [router.name for router in chosen] + [each.router for each in predictions]
    records = [record for result in results for record in result.records]
    recommended: dict[str, set[str]] = {
        name: set().union(*(result.recommended[name] for result in results)) for name in names
    }
    config = show_options(typed) | {
        "routers": names,
        "codeowners": None if codeowners is None else str(codeowners),
    }
    return RoutingResult(
        records,
        {
            "schema": SCHEMA,
            "config": config,
            **summarise(
                records,
                recommended,
                k=options.k,
                ttfc=ttfc,
                merged_within=merged_within is not None,
                seed=seed,
            ),
            "warnings": warnings,
        },
    )


def choose_routers(
    specs: Sequence[Spec] | None, codeowners: str | Path | None, warnings: list[str]
) -> list[NamedRouter]:
    """The routers to score; `codeowners` only with a file, and with a warning without one."""
    chosen = []
    source = None if codeowners is None else OwnersByCommit(codeowners)
    for spec in list(ROUTERS) if specs is None else specs:
        if spec != "codeowners":
            chosen.append(make_router(spec))
        elif source is None:
            warnings.append("codeowners left out: it needs --codeowners FILE")
        else:
            chosen.append(NamedRouter("codeowners", partial(CodeOwnersRouter, source), True))
    return chosen


def check_names(routers: Sequence[NamedRouter], predictions: Sequence[Predictions]) -> None:
    """UsageError where there is nobody to score, or two have one name."""
    names = [router.name for router in routers] + [each.router for each in predictions]
    if not names:
        raise UsageError(
            "there is no router to score. Give --router or --predictions; codeowners needs --codeowners FILE."
        )
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise UsageError(f"two routers are named {twice}. Give each its own name.")


def split_history(history: History, options: Options) -> tuple[list[Part], int]:
    """One part a repository, with the cutoffs of its pull requests in the cohort; and how many have none."""
    parts = []
    unready = 0
    left = options.cohort.limit
    events_of = history.by_repository()
    chosen: dict[str, dict[int, int]] = {}
    answers = {repo: cutoffs(events, options.cutoff) for repo, events in events_of.items()}
    for event in history.events:
        if event.kind != "opened" or not options.cohort.holds(event.repo, event.pr, event.at):
            continue
        at = answers[event.repo].get(event.pr)
        if at is None:
            unready += 1
        elif left is None or left > 0:
            chosen.setdefault(event.repo, {})[event.pr] = at
            left = None if left is None else left - 1
    for repo, asked in chosen.items():
        parts.append(Part(repo, events_of[repo], asked, history.end, history.bots, history.names))
    if not parts:
        raise UsageError("no pull request is in the cohort. Widen --from, --to, --repo, --pr or --cutoff.")
    return parts, unready


def result_warnings(
    history: History,
    parts: Sequence[Part],
    results: Sequence[PartResult],
    predictions: Sequence[Predictions],
    options: Options,
) -> list[str]:
    """What a reader of the figures should know, each with its number."""
    warnings = []
    prs = sum(len(part.cutoffs) for part in parts)
    if options.reviews_visible_at == "creation":
        warnings.append(
            "reviews were shown to routers from their pull request's opening on: figures are not leak-free"
        )
    needy = list(dict.fromkeys(name for result in results for name in result.need_files))
    without = sum(result.without_files for result in results)
    if needy and without:
        warnings.append(
            f"{without} of {prs} pull requests have no files at their cutoff, which {', '.join(needy)} need"
        )
    without_rules = sum(result.without_rules for result in results)
    if without_rules:
        warnings.append(
            f"{without_rules} of {prs} pull requests have no CODEOWNERS file for their base commit"
        )
    known = (
        {(event.repo, event.pr) for event in history.events if event.kind == "opened"}
        if predictions
        else set()
    )
    for each in predictions:
        strange = sum(key not in known for key in each.answers)
        if strange:
            warnings.append(
                f"{each.router}: {plural(strange, 'prediction')} left out: "
                "no such pull request in the history"
            )
        missing = sum((part.repo, pr) not in each.answers for part in parts for pr in part.cutoffs)
        if missing:
            warnings.append(
                f"{each.router}: {missing} of {prs} pull requests have no prediction and count as misses"
            )
    if options.merged_within is not None:
        late = [
            at for part in parts for at in part.cutoffs.values() if at + options.merged_within > history.end
        ]
        if late:
            warnings.append(
                f"{len(late)} of {prs} pull requests: --merged-within runs past the end of the history; "
                "a later merge is not seen"
            )
    return warnings
