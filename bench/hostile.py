"""How the work grows on data that is made to be slow: each case at some size and at twice that size, on one core.

Where every two of something are looked at, twice as many are four times the work; a text is read in twice the time.
"""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from bench.measure import Result, Row, seconds
from bench.simulation import difficulty, review
from metareview import evaluate_comments
from metareview.benchmark.calibrate import calibrate
from metareview.benchmark.run_labels import people_pairs
from metareview.comments.measures import positive_match_rate
from metareview.formats.codeowners import CodeOwners
from metareview.formats.labels import NotePairLabel
from metareview.formats.reader import read_inputs
from metareview.judges.offline.judge import OfflineJudge
from metareview.model.address import parse_address, repository_key
from metareview.model.comment import ChangedFile, Comment, Commit, Review
from metareview.model.event import Event, make_history
from metareview.model.label import Labels, PairLabel
from metareview.outcomes.conversation import Threads
from metareview.outcomes.lines import Changes
from metareview.outcomes.measures import COLUMNS, MEASURES
from metareview.pipelines.routing import Inputs, RoutingOptions, score
from metareview.routing.assistants import says_assisted
from metareview.text.sentences import sentences
from metareview.text.tokens import tokens
from metareview.ties import pairwise_tests, tie_letters
from metareview.unpaired import Sample, independent_pairs

START = 1_700_000_000
LINEAR, SQUARE = 3.0, 6.0
"""How many times as long twice the size may take: two or four times, and what caches and a busy machine add."""

Work = Callable[[], object]


class Case(NamedTuple):
    """`make` gives the work on data of a size, made before the clock starts."""

    what: str
    size: int
    make: Callable[[int], Work]
    target: float
    """Seconds at twice the size."""
    growth: float = LINEAR


def run() -> Result:
    with tempfile.TemporaryDirectory(prefix="metareview-bench-") as folder:
        return Result("Data that is made to be slow", [row for case in _cases(Path(folder)) for row in _rows(case)])


def _rows(case: Case) -> Iterator[Row]:
    # One round: patterns are kept, and a second one would find them.
    half, whole = (seconds(case.make(size), 1) for size in (case.size, 2 * case.size))
    what = case.what.format(f"{2 * case.size:,}")
    yield Row.below(f"{what}: processor time", whole, "s", case.target)
    yield Row.below(f"{what}: times as long as half of it", whole / half, "", case.growth)


def _cases(folder: Path) -> list[Case]:
    return [
        Case("letters of {} reviewers on 100 pull requests", 50, _letters, 10, SQUARE),
        Case("letters of {} reviewers of outcomes, 50 to 74 pull requests each", 50, _outcome_letters, 10, SQUARE),
        Case("{} subfolders with a reviewer each, read", 1_000, lambda size: _subfolders(folder, size), 5),
        Case("{} comments on one line against as many references, exact", 1_000, _one_line, 10, SQUARE),
        Case("{} comments on one line against one reference, offline", 10_000, _one_reference, 20, SQUARE),
        Case("{} labels in one group, offline", 4_000, _one_group, 20, SQUARE),
        Case("revfinder on {} folders of 200 pull requests", 2_000, _folders, 10, SQUARE),
        Case("all routers but codeowners, 50 repositories, {} events", 10_000, _routers, 10),
        Case("an address of {} times /pull/1x", 50_000, _address, 1),
        Case("a repository with {} slashes", 500_000, _slashes, 1),
        Case("one CODEOWNERS segment of {} characters", 200_000, _segment, 5),
        Case("one CODEOWNERS segment of {} backslashes", 200_000, _backslashes, 5),
        Case("{} full stops without a sentence", 500_000, _full_stops, 1),
        Case("{} underscores within a word", 500_000, _underscores, 1),
        Case("{} combining marks in a row", 200_000, _marks, 2),
        Case("{} people who label one pair", 10_000, _people, 2),
        Case("a chain of {} replies", 20_000, _replies, 2),
        Case("a suggestion of {} equal lines in a place of equal lines", 2_400, _equal_lines, 2, SQUARE),
    ]


def _letters(reviewers: int) -> Work:
    rng = np.random.default_rng(0)
    right = difficulty(rng, 100, 0.4)
    tables = {str(n): review(rng, np.clip(right * (0.3 + n / reviewers), 0, 1), 6.0) for n in range(reviewers)}

    def work() -> None:
        tests = pairwise_tests(tables, positive_match_rate)
        tie_letters(list(tables), [pair for pair, test in tests.items() if test.separated])

    return work


def _outcome_letters(reviewers: int) -> Work:
    rng = np.random.default_rng(0)

    def sample(number: int) -> Sample:
        size = 50 + number * 7 % 25
        counts = np.zeros((size, COLUMNS))
        counts[:, 1] = 6
        counts[:, 0] = rng.binomial(6, 0.1 + 0.8 * number / reviewers, size)
        return Sample([f"{number}#{pr}" for pr in range(size)], counts)

    samples = {str(number): sample(number) for number in range(reviewers)}
    return lambda: independent_pairs(samples, MEASURES[0])


def _subfolders(folder: Path, reviewers: int) -> Work:
    root = folder / str(reviewers)
    for number in range(reviewers):
        own = root / f"reviewer{number}"
        own.mkdir(parents=True)
        said = {"pr": "octo/shop#7", "comments": [{"path": "a.py", "from_line": 1, "to_line": 1, "note": str(number)}]}
        (own / "said.jsonl").write_text(json.dumps(said), "utf-8")
    return lambda: read_inputs(root)


def _one_line(comments: int) -> Work:
    place = {"path": "a.py", "side": "right", "from_line": 10, "to_line": 10}
    said, known = (
        [{"pr": "octo/shop#7", "comments": [{**place, "note": f"{each % most}"} for each in range(comments)]}]
        for most in (comments, comments // 2)
    )
    return lambda: evaluate_comments(said, reference=known, judge="exact")


def _one_reference(comments: int) -> Work:
    rng = random.Random(0)
    place = {"path": "a.py", "side": "right", "from_line": 10, "to_line": 10}
    said = [{"pr": "octo/shop#7", "comments": [{**place, "note": _note(rng)} for _ in range(comments)]}]
    known = [{"pr": "octo/shop#7", "comments": [{**place, "note": _note(rng)}]}]
    return lambda: evaluate_comments(said, reference=known, judge="offline")


def _one_group(labels: int) -> Work:
    rng = random.Random(0)
    found = [NotePairLabel(_note(rng), _note(rng), each % 3 == 0, group="octo/shop#7") for each in range(labels)]
    return lambda: calibrate(found, OfflineJudge())


def _note(rng: random.Random) -> str:
    """Some thirty words of which few are common, as in a language."""
    return " ".join(f"word{int(rng.paretovariate(0.7)) % 5_000}" for _ in range(rng.randint(15, 45)))


def _folders(folders: int) -> Work:
    of_pr = folders // 200
    events = []
    for pr in range(200):
        numbers = range(pr * of_pr, (pr + 1) * of_pr)
        files = tuple(f"src/module{each % 97}/package{each % 1009}/folder{each}/a{each}.py" for each in numbers)
        second = START + 3_600 * pr
        events.append(_event("octo/shop", pr, second, "opened", "author", files))
        events.append(_event("octo/shop", pr, second + 600, "review_submitted", f"dev{pr % 50}"))
    return _replayed(events, ["revfinder"])


def _routers(events: int) -> Work:
    rng = random.Random(0)
    made = []
    for pr in range(events // 10):
        repo, second = f"octo/shop{pr % 50}", START + 3_600 * pr
        people = [f"dev{int(120 * rng.random() ** 2)}" for _ in range(10)]
        files = tuple(f"src/m{rng.randrange(12)}/p{rng.randrange(40)}/a{rng.randrange(60)}.py" for _ in range(4))
        made.append(_event(repo, pr, second, "opened", people[0], files, f"Fixes #{pr}, cc @{people[1]}"))
        kinds = ("review_submitted", "review_comment", "comment")
        made += [_event(repo, pr, second + 60 * n, kinds[n % 3], people[n]) for n in range(1, 9)]
        made.append(_event(repo, pr, second + 1_800, "merged", people[9]))
    return _replayed(made, ["popularity", "recency", "mentions", "chrev", "revfinder"])


def _event(
    repo: str,
    pr: int,
    second: int,
    kind: str,
    actor: str,
    files: tuple[str, ...] | None = None,
    body: str | None = None,
) -> Event:
    return Event(repo, pr + 1, second * 1_000_000_000, kind, actor, "User", body=body, files=files)


def _replayed(events: Sequence[Event], routers: list[str]) -> Work:
    history = make_history(list(events), source="made up")
    return lambda: score(Inputs(history), RoutingOptions("in memory", routers=routers))


def _address(times: int) -> Work:
    text = "/pull/1x" * times
    return lambda: parse_address.__wrapped__(text)


def _slashes(times: int) -> Work:
    text = "octo" + "/" * times + "x"
    return lambda: repository_key.__wrapped__(text)


def _segment(size: int) -> Work:
    text = "a" * size
    return lambda: CodeOwners(f"{text}{size} @ada").owners(text)


def _backslashes(size: int) -> Work:
    text = "\\" * size
    return lambda: CodeOwners(f"{text} @ada").owners(text)


def _full_stops(size: int) -> Work:
    text = "\u3002" * size
    return lambda: sentences(text)


def _underscores(size: int) -> Work:
    text = f"written a{'_' * size}a"
    return lambda: says_assisted(text)


def _marks(size: int) -> Work:
    text = "a" + "\u0301" * (size // 2) + "\u0323" * (size // 2)
    return lambda: tokens(text)


def _people(people: int) -> Work:
    labels = [PairLabel("octo/shop#7", "bot", 0, 0, "a", "b", each % 3 == 0, "", f"{each}") for each in range(people)]
    return lambda: people_pairs(Labels(labels))


def _replies(size: int) -> Work:
    chain = tuple(Comment("no", id=f"{each + 1}", in_reply_to=f"{each}", author="ann") for each in range(size))
    return lambda: Threads([Review("octo/shop#7", chain, "bot")], known=True)


def _equal_lines(size: int) -> Work:
    before = ChangedFile("a.py", patch="@@ -1,2 +1,3 @@\n a\n+b\n c")
    after = ChangedFile("a.py", patch=f"@@ -2,1 +2,{2 * size} @@\n-b\n" + "+x\n" * 2 * size)
    commits = [Commit("c100000", "2026-01-01T00:00:00Z", "ann", ("b000000",), (before,))]
    commits += [Commit("c200000", "2026-01-03T00:00:00Z", "ann", ("c100000",), (after,))]
    note = "```suggestion\n" + "x\n" * (size - 1) + "y\n```"
    comment = Comment(note, "a.py", from_line=2, to_line=2, commit="c100000", at="2026-01-02T00:00:00Z")
    return lambda: Changes(commits).fate(comment, reviewer="bot", pr_author="ann")
