"""Location only: pull requests of 500 comments and 500 references, judged by location and aligned one-to-one."""

from __future__ import annotations

import random

from bench.measure import Result, Row, alone, compared
from metareview.comments.case import FREE_REACH, Case, Rules
from metareview.comments.location import candidate_pairs
from metareview.judges.builtin.none import NoJudge
from metareview.model.comment import Comment, Review
from metareview.pipelines.comments.answer import answer_in_batches
from metareview.pipelines.comments.count import records_of

PULL_REQUESTS, COMMENTS = 200, 500
LAYOUTS = {
    "20 files of 1,000 lines": (20, 1000),
    "one file of 1,000 lines": (1, 1000),
    "one file of 50 lines, crowded": (1, 50),
}
COMPARED = 3
"""Pull requests that the plain loop gets: a second of its work."""


def run() -> Result:
    """Each layout in a process of its own, so that the peak of memory is its own."""
    rows = []
    for what, layout in LAYOUTS.items():
        found = alone(_pairs_of, *layout)
        taken, pairs = found.answer
        # The densest layout shows growth; the figure to reach is for files as they are.
        time = Row.below if layout[1] > 50 else _without_target
        rows += [
            time(f"{what}: processor time", taken, "s", 3),
            Row.below(f"{what}: peak memory", found.megabytes, "MB", 500),
            Row(f"{what}: pairs that may match", pairs, "pairs"),
        ]
    title = f"Location only, {PULL_REQUESTS} pull requests of {COMMENTS} x {COMMENTS} comments, one core"
    return Result(title, [*rows, *ratios().rows])


def ratios() -> Result:
    rows = []
    for what, layout in LAYOUTS.items():
        reviews = _reviews(*layout, pull_requests=COMPARED)

        def ours(reviews: Reviews = reviews) -> list[list[tuple[int, int]]]:
            found = (candidate_pairs(ours.comments, theirs.comments, 1) for ours, theirs in reviews)
            return [list(zip(each.generated.tolist(), each.reference.tolist(), strict=True)) for each in found]

        def theirs(reviews: Reviews = reviews) -> list[list[tuple[int, int]]]:
            return [_double_loop(ours.comments, theirs.comments) for ours, theirs in reviews]

        assert ours() == theirs()
        rows.append(Row.ratio(f"pairs in {what}", compared(ours, theirs, rounds=3).ratio, peer="a double loop"))
    return Result("Pairs by location", rows)


Reviews = list[tuple[Review, Review]]


def _double_loop(generated: tuple[Comment, ...], reference: tuple[Comment, ...]) -> list[tuple[int, int]]:
    """Every comment beside every reference: the same file and side, and at most one line between them."""
    found = []
    for g, a in enumerate(generated):
        for r, b in enumerate(reference):
            if a.path != b.path or a.side != b.side:
                continue
            if max(b.from_line - a.to_line, a.from_line - b.to_line) <= 1:
                found.append((g, r))
    return found


def _without_target(what: str, value: float, unit: str, target: float) -> Row:
    return Row(what, value, unit)


def _reviews(files: int, lines: int, pull_requests: int = PULL_REQUESTS) -> Reviews:
    rng = random.Random(0)
    numbers = range(1, pull_requests + 1)
    return [(_review(rng, number, files, lines), _review(rng, number, files, lines)) for number in numbers]


def _review(rng: random.Random, number: int, files: int, lines: int) -> Review:
    comments = []
    for position in range(COMMENTS):
        start = rng.randint(1, lines)
        comments.append(
            Comment(
                note=f"note {position}",
                path=f"src/file_{rng.randrange(files)}.py",
                side="right",
                from_line=start,
                to_line=start + rng.randrange(6),
            )
        )
    return Review(f"https://github.com/owner/repo/pull/{number}", tuple(comments))


def _pairs_of(files: int, lines: int) -> tuple[float, int]:
    """Processor seconds, once the comments are made, and how many pairs may match."""
    import time

    reviews = _reviews(files, lines)
    rules = Rules(meaning=False, reach=FREE_REACH)
    began = time.process_time()
    cases = (Case.of("bench", generated, reference, None, rules) for generated, reference in reviews)
    pairs = sum(len(case.candidates) for case, _, _ in records_of(answer_in_batches(cases, NoJudge())))
    return time.process_time() - began, pairs
