"""Whether people who were asked for a review responded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import NamedTuple

from metareview.model.event import RESPONSES, Eligibility, Event, fold

RESPONDED, LATE, WITHDRAWN, NO_RESPONSE, UNKNOWN = "responded", "responded_late", "withdrawn", "no_response", "unknown"
TEAM, NOT_ELIGIBLE = "teams", "not_eligible"
REQUESTED, REMOVED = "review_requested", "review_request_removed"


class Request(NamedTuple):
    """One request, and what became of it."""

    person: str
    """Folded; empty where it was for nobody who counts."""
    state: str


@dataclass(frozen=True, slots=True)
class RequestCounts:
    """Requests by what became of them; each is in one of these.

    `responded` within the window after the request, `responded_late` after it, `no_response` where the window passed
    and nothing came, `withdrawn` before either, `unknown` where the history ends first or has gaps.
    """

    responded: int = 0
    responded_late: int = 0
    no_response: int = 0
    withdrawn: int = 0
    unknown: int = 0

    @property
    def requests(self) -> int:
        return sum(getattr(self, each.name) for each in fields(RequestCounts))

    @property
    def known(self) -> int:
        """What the rates are over: neither withdrawn nor unknown."""
        return self.responded + self.responded_late + self.no_response

    @property
    def rate(self) -> float | None:
        return self.responded / self.known if self.known else None

    @property
    def rate_ever(self) -> float | None:
        return (self.responded + self.responded_late) / self.known if self.known else None


@dataclass(frozen=True, slots=True)
class PersonResponses:
    """The requests of one person."""

    login: str
    counts: RequestCounts


@dataclass(frozen=True, slots=True)
class Responses:
    """All requests on the scored pull requests, and those of each person, the most asked first."""

    counts: RequestCounts
    teams: int
    """Requests for a team, which are nobody's."""
    not_eligible: int
    """Requests for the author, for a bot, or for nobody who is named."""
    people: tuple[PersonResponses, ...] = ()


def follow_requests(
    story: Sequence[Event],
    author: str | None,
    *,
    until: int,
    window: int | None,
    end: int,
    eligible: Eligibility,
    has_gaps: bool = False,
) -> Iterator[Request]:
    """What became of each request on one pull request up to `until`, from its events in order.

    A request is open until its person responds (a review, a review comment or a comment) or it is withdrawn; asking
    again meanwhile is the same request. `window` counts from the request; None: it has no end. `end` is the history's.
    """
    waiting: dict[str, int] = {}

    def close(person: str, at: int, in_time: str, late: str) -> Iterator[Request]:
        asked = waiting.pop(person, None)
        if asked is not None:
            yield Request(person, in_time if window is None or at <= asked + window else late)

    for event in story:
        if event.kind == REQUESTED and event.at <= until:
            target = event.target
            if target is not None and "/" in target:
                yield Request("", TEAM)
            elif target is None or not eligible(target, author):
                yield Request("", NOT_ELIGIBLE)
            else:
                waiting.setdefault(fold(target), event.at)
        elif event.kind == REMOVED and event.target is not None:
            yield from close(fold(event.target), event.at, WITHDRAWN, NO_RESPONSE)
        elif waiting and event.kind in RESPONSES and event.actor is not None:
            yield from close(fold(event.actor), event.at, RESPONDED, LATE)
    for person, asked in waiting.items():
        open_still = has_gaps or (window is not None and asked + window > end)
        yield Request(person, UNKNOWN if open_still else NO_RESPONSE)


def add_up(requests: Counter[Request], names: Mapping[str, str]) -> Responses:
    """From how many requests there are of each kind. `names`: from folded login to the login as shown."""
    by_person: dict[str, Counter[str]] = {}
    left_out: Counter[str] = Counter()
    for (person, state), number in requests.items():
        if person:
            by_person.setdefault(person, Counter())[state] += number
        else:
            left_out[state] += number
    people = [PersonResponses(names.get(login, login), RequestCounts(**states)) for login, states in by_person.items()]
    total = RequestCounts(**sum(by_person.values(), Counter()))
    people.sort(key=lambda each: (-each.counts.requests, fold(each.login), each.login))
    return Responses(total, left_out[TEAM], left_out[NOT_ELIGIBLE], tuple(people))
