"""The options of a routing evaluation, checked: whatever is wrong with one is a UsageError that names it."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from metareview.errors import UsageError
from metareview.model.time import Cutoff, parse_cutoff, parse_span, parse_time
from metareview.routing.truth import TRUTHS

REVIEWS_VISIBLE_AT = ("event", "creation")


class Cohort(NamedTuple):
    """Which pull requests are scored; all are observed. Opened from `since` on, and before `until`."""

    since: int | None = None
    until: int | None = None
    repos: frozenset[str] = frozenset()
    prs: frozenset[int] = frozenset()
    limit: int | None = None

    def holds(self, repo: str, pr: int, opened: int) -> bool:
        return (
            (self.since is None or opened >= self.since)
            and (self.until is None or opened < self.until)
            and (not self.repos or repo in self.repos)
            and (not self.prs or pr in self.prs)
        )


@dataclass(frozen=True, slots=True)
class Options:
    """Spans and instants in nanoseconds; a window of None has no end."""

    cutoff: Cutoff
    truth: str
    truth_window: int | None
    include_bots: bool
    include_author: bool
    k: tuple[int, ...]
    merged_within: int | None
    ttfc: bool
    reviews_visible_at: str
    cohort: Cohort


def make_options(
    *,
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
) -> Options:
    """Options from what a user types for `metareview routing`; `since` is --from, `until` is --to."""
    when = parse_cutoff(cutoff)
    _one_of("--truth", truth, TRUTHS)
    _one_of("--reviews-visible-at", reviews_visible_at, REVIEWS_VISIBLE_AT)
    if reviews_visible_at == "creation" and (when.policy, when.delay) != ("created_at", 0):
        raise UsageError(
            "--reviews-visible-at creation goes with --cutoff created_at only: at a later cutoff a router "
            "would have been told who reviews the pull request. Drop one of the two."
        )
    ks = tuple(sorted(set(k)))
    if not ks or ks[0] < 1:
        raise UsageError(
            f"--k {','.join(map(str, k))} is not a list of whole numbers from 1. Give for example 1,3,5."
        )
    if limit is not None and limit < 1:
        raise UsageError(f"--limit {limit} leaves nothing to score. Give a whole number from 1.")
    return Options(
        cutoff=when,
        truth=truth,
        truth_window=None if truth_window in (None, "none") else parse_span(truth_window, "--truth-window"),
        include_bots=include_bots,
        include_author=include_author,
        k=ks,
        merged_within=None if merged_within is None else parse_span(merged_within, "--merged-within"),
        ttfc=ttfc,
        reviews_visible_at=reviews_visible_at,
        cohort=Cohort(
            _instant("--from", since), _instant("--to", until), frozenset(repos), frozenset(prs), limit
        ),
    )


def _one_of(option: str, value: str, known: tuple[str, ...]) -> None:
    if value not in known:
        raise UsageError(f"{option} {value!r} is not known. Give one of {', '.join(known)}.")


def _instant(option: str, text: str | None) -> int | None:
    if text is None:
        return None
    try:
        return parse_time(text)
    except (ValueError, OverflowError):
        raise UsageError(
            f"{option} {text!r} is not a time. Give for example 2025-06-01 or 2025-06-01T12:30:00Z."
        ) from None


def show_options(given: dict[str, Any]) -> dict[str, Any]:
    """The options as a run records them: as typed, collections as sorted lists."""
    return {
        name: sorted(value)
        if isinstance(value, (set, frozenset))
        else list(value)
        if isinstance(value, tuple)
        else value
        for name, value in given.items()
    }
