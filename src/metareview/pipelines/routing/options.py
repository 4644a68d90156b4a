"""The options of a routing evaluation: checked once, passed whole."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from pathlib import Path
from typing import Any, TypedDict

from metareview.engines.choice import check_engine
from metareview.errors import UsageError, did_you_mean
from metareview.formats.reader import Paths
from metareview.model.address import parse_address, repository_key
from metareview.model.time import Cutoff, parse_cutoff, parse_span, parse_time
from metareview.pipelines import datasets
from metareview.routing.protocol import RouterSpec
from metareview.routing.summary import RoutingConfig
from metareview.routing.truth import SOURCES, TRUTHS, USUAL_SOURCES
from metareview.sources.datasets import FileProgress

RouterConfigs = Mapping[str, str | Path | Mapping[str, Any]]
"""By router, what its factory is given: a file with a JSON object, or the object."""
REVIEWS_VISIBLE_AT = ("event", "creation")


class RoutingKeywords(TypedDict, total=False):
    """The options as keywords of `evaluate_routing` and of the command; `RoutingOptions` says what each means."""

    routers: Sequence[RouterSpec] | None
    router_config: RouterConfigs | None
    predictions: Paths
    codeowners: str | Path | None
    cutoff: str
    truth: str
    truth_window: str | None
    truth_sources: Sequence[str]
    include_bots: bool
    include_author: bool
    k: Sequence[int]
    merged_within: str | None
    ttfc: bool
    reviews_visible_at: str
    since: str | None
    until: str | None
    repos: Collection[str]
    prs: Collection[int | str]
    limit: int | None
    engine: str
    workers: int | None
    spark_master: str | None


@dataclass(frozen=True)
class RoutingOptions:
    """What a user types for `metareview routing`; `since` is --from, `until` is --to.

    Without `routers` all built-in ones are scored. A wrong option is a UsageError that names it.
    """

    history: Paths
    """A file, a folder, or several of them."""
    routers: Sequence[RouterSpec] | None = None
    router_config: RouterConfigs | None = None
    predictions: Paths = ()
    codeowners: str | Path | None = None
    cutoff: str = "created_at"
    truth: str = "first_response"
    truth_window: str | None = "60m"
    truth_sources: Sequence[str] = USUAL_SOURCES
    include_bots: bool = False
    include_author: bool = False
    k: Sequence[int] = (1, 3, 5)
    merged_within: str | None = None
    ttfc: bool = False
    reviews_visible_at: str = "event"
    since: str | None = None
    until: str | None = None
    repos: Collection[str] = ()
    """Repositories, by owner and name or by address, in any case."""
    prs: Collection[int | str] = ()
    """Pull requests, by number or by address."""
    limit: int | None = None
    engine: str = "local"
    """Where the work runs; no figure depends on it."""
    workers: int | None = None
    """Processes on this machine; None: one per core where that pays."""
    spark_master: str | None = None

    # What the texts above mean: spans and instants in nanoseconds, a span of None without an end.
    cutoff_rule: Cutoff = field(init=False, repr=False)
    truth_span: int | None = field(init=False, repr=False)
    merged_span: int | None = field(init=False, repr=False)
    since_instant: int | None = field(init=False, repr=False)
    until_instant: int | None = field(init=False, repr=False)
    repository_keys: frozenset[str] = field(init=False, repr=False)
    pull_request_choice: frozenset[tuple[str | None, int]] = field(init=False, repr=False)
    """Numbers, each with the key of its repository where an address names one."""

    def __post_init__(self) -> None:
        check_engine(self.engine, self.workers, self.spark_master)
        cutoff = parse_cutoff(self.cutoff)
        for option, choice, known in (
            ("--truth", self.truth, TRUTHS),
            ("--reviews-visible-at", self.reviews_visible_at, REVIEWS_VISIBLE_AT),
        ):
            _check_known(option, choice, known)
        if not self.truth_sources:
            raise UsageError(f"--truth-sources is empty. Give some of {', '.join(SOURCES)}.")
        for source in self.truth_sources:
            _check_known("--truth-sources", source, SOURCES)
        if set(self.truth_sources) != set(USUAL_SOURCES) and self.truth != "first_response":
            raise UsageError(
                f"--truth-sources says what a first response is, and --truth {self.truth} counts reviews. "
                "Drop one of the two."
            )
        if self.reviews_visible_at == "creation" and cutoff != Cutoff("created_at"):
            raise UsageError(
                "--reviews-visible-at creation goes with --cutoff created_at only: at a later cutoff a router "
                "would have learned who reviews the pull request. Drop one of the two."
            )
        if not self.k or min(self.k) < 1:
            typed = ",".join(map(str, self.k))
            raise UsageError(f"--k {typed} is not a list of whole numbers from 1. Give for example 1,3,5.")
        if self.limit is not None and self.limit < 1:
            raise UsageError(f"--limit {self.limit} leaves nothing to score. Give a whole number from 1.")
        endless = self.truth_window is None or self.truth_window == "none"
        parsed = {
            "cutoff_rule": cutoff,
            "truth_span": None if endless else _span("--truth-window", self.truth_window),
            "merged_span": _span("--merged-within", self.merged_within),
            "since_instant": _instant("--from", self.since),
            "until_instant": _instant("--to", self.until),
            "repository_keys": frozenset(map(repository_key, self.repos)),
            "pull_request_choice": frozenset(map(_pull_request, self.prs)),
        }
        for name, value in parsed.items():
            object.__setattr__(self, name, value)

    def with_datasets(self, watch: FileProgress | None = None, tell: datasets.Tell | None = None) -> RoutingOptions:
        """The same, with files in place of a data set's name."""
        return replace(self, history=datasets.histories(self.history, watch, tell))

    def as_sent(self) -> RoutingOptions:
        """For a worker, which is sent the routers themselves, and not what they were made from."""
        return replace(self, routers=None, router_config=None)

    def is_scored(self, repo: str, pr: int, opened: int) -> bool:
        """Whether a pull request is in the cohort; all others are only observed."""
        return (
            (self.since_instant is None or opened >= self.since_instant)
            and (self.until_instant is None or opened < self.until_instant)
            and (not self.repos or repository_key(repo) in self.repository_keys)
            and (not self.prs or not self.pull_request_choice.isdisjoint(((None, pr), (repository_key(repo), pr))))
        )

    def config(self, routers: Sequence[str], router_hashes: Mapping[str, str]) -> RoutingConfig:
        """The options as a run records them: as typed, with the routers' names and hashes of what they are given."""
        typed = {each.name: getattr(self, each.name) for each in fields(RoutingConfig)}
        typed["router_config"] = dict(router_hashes)
        typed["truth_sources"] = tuple(source for source in SOURCES if source in self.truth_sources)
        typed["k"], typed["routers"] = tuple(self.k), tuple(routers)
        typed["repos"], typed["prs"] = tuple(sorted(set(self.repos))), tuple(sorted(set(self.prs), key=_in_order))
        typed["codeowners"] = None if self.codeowners is None else str(self.codeowners)
        return RoutingConfig(**typed)


def _pull_request(chosen: int | str) -> tuple[str | None, int]:
    """The key of the repository, where it is named, and the number."""
    if isinstance(chosen, int) or chosen.strip().isdecimal():
        return None, int(chosen)
    address = parse_address(chosen)
    if address is None or address.is_bare:
        raise UsageError(f"--pr {chosen!r} is no pull request. Give a number, owner/repo#7 or its address.")
    return address.repository.casefold(), address.number


def _in_order(chosen: int | str) -> tuple[bool, int, str]:
    return isinstance(chosen, str), chosen if isinstance(chosen, int) else 0, str(chosen)


def _check_known(option: str, choice: str, known: Sequence[str]) -> None:
    if choice not in known:
        near = did_you_mean(choice, known)
        raise UsageError(f"{option} {choice!r} is not known. Give one of {', '.join(known)}.{near}")


def _span(option: str, text: str | None) -> int | None:
    return None if text is None else parse_span(text, option)


def _instant(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_time(text)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{option} {text!r} is not a time. Give for example 2025-06-01 or 2025-06-01T12:30:00Z."
        ) from None
