"""What became of each pull request, whatever routers say of it: its snapshot, its truth, its waits."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import astuple, dataclass
from functools import partial
from sys import intern
from typing import NamedTuple

from metareview.model.event import Event, PullRequest
from metareview.pipelines.routing.packed import from_bytes, shared_paths, to_bytes
from metareview.pipelines.routing.plan import Plan
from metareview.routing.declarations import declarations_of
from metareview.routing.queue import COMMENTS, REVIEWS, seconds_to_first
from metareview.routing.records import Declarations, Truth, TruthEvent
from metareview.routing.replay import take_snapshots
from metareview.routing.responses import REQUESTED, Request, follow_requests
from metareview.routing.truth import find_truth
from metareview.routing.turnover import Review, first_review


class Course(NamedTuple):
    """The course of one pull request."""

    pull: PullRequest
    truth: Truth
    declarations: Declarations
    ttfr_seconds: float | None
    ttfc_seconds: float | None
    merged: bool
    merged_within: bool | None
    review: Review | None
    """The first after the cutoff, where the replayed period has one."""


@dataclass(frozen=True, slots=True)
class CourseReader:
    """Reads the courses of one repository's pull requests from their events."""

    plan: Plan
    repo: str
    until: int
    """The end of the repository's replayed period."""

    def read(
        self, stories: Mapping[int, Sequence[Event]], cutoffs: Mapping[int, int]
    ) -> tuple[list[Course], Counter[Request]]:
        """The courses by cutoff, those of one instant in the order of `cutoffs`; and what came of review requests.

        `stories` are the events of each pull request, in order.
        """
        options, history, eligible = self.plan.options, self.plan.inputs.history, self.plan.eligible
        has_gaps = self.repo in history.gaps
        pulls = take_snapshots(stories, cutoffs)
        truth_of = partial(
            find_truth,
            policy=options.truth,
            window=options.truth_span,
            eligible=eligible,
            end=history.end,
            sources=frozenset(options.truth_sources),
            reviews_hidden=options.reviews_visible_at == "creation",
            has_gaps=has_gaps,
        )
        follow = partial(
            follow_requests,
            until=history.end if options.truth_span is None else self.until,
            window=options.truth_span,
            end=history.end,
            eligible=eligible,
            has_gaps=has_gaps,
        )
        within = options.merged_span
        courses = []
        for pull, declarations in zip(pulls, declarations_of(pull.body for pull in pulls), strict=True):
            story, author, cutoff = stories[pull.pr], pull.author, pull.cutoff
            merges = [event.at for event in story if event.kind == "merged"]
            courses.append(
                Course(
                    pull,
                    truth_of(story, author, cutoff),
                    declarations,
                    seconds_to_first(REVIEWS, story, author, cutoff, eligible),
                    seconds_to_first(COMMENTS, story, author, cutoff, eligible) if options.ttfc else None,
                    any(at <= cutoff for at in merges),
                    None if within is None else any(at <= cutoff + within for at in merges),
                    first_review(story, pull, self.until, eligible),
                )
            )
        asked = [pull for pull in pulls if REQUESTED in [event.kind for event in stories[pull.pr]]]
        requests = Counter(request for pull in asked for request in follow(stories[pull.pr], pull.author))
        return courses, requests


def pack_courses(courses: Iterable[tuple[int, Course]]) -> bytes:
    """Courses with a number each, for the disk."""
    return to_bytes(
        [
            (
                number,
                tuple(course.pull),
                course.truth.state,
                course.truth.targets,
                [(each.id, each.kind, each.actor, each.at) for each in course.truth.events],
                astuple(course.declarations),
                (course.ttfr_seconds, course.ttfc_seconds, course.merged, course.merged_within),
                None if course.review is None else tuple(course.review),
            )
            for number, course in courses
        ]
    )


def unpack_courses(packed: bytes) -> Iterator[tuple[int, Course]]:
    """The same again. Paths and logins are shared: some of them are kept for each pull request."""
    for number, pull, state, targets, events, declarations, rest, review in from_bytes(packed):
        snapshot = PullRequest(*pull)
        ttfr, ttfc, merged, merged_within = rest
        yield (
            number,
            Course(
                snapshot._replace(files=shared_paths(pull[7])),
                Truth(state, tuple(targets), tuple(TruthEvent(*each) for each in events)),
                Declarations(*declarations),
                ttfr,
                ttfc,
                merged,
                merged_within,
                None if review is None else Review(review[0], intern(review[1]), review[2]),
            ),
        )
