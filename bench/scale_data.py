"""Data as large as a company's, made quickly and streamed to files: events of many repositories, comments of many
pull requests. The same sizes and seed give the same bytes."""

from __future__ import annotations

import random
from collections.abc import Iterator
from pathlib import Path

import msgspec
import numpy as np

START = 1_672_531_200
"""2023-01-01, in seconds."""
SPAN = 2 * 365 * 86_400
EVENTS_OF_PR = 10
COMMENTS, REFERENCES = 10, 5
NEAR = 0.4
"""The share of comments that say in other words, two thirds of them shared, what a reference says, and close to it."""
_BLOCK = 20_000
"""Pull requests that are made at once."""
_STEMS = """
null cache index parse lock file user time path error list map test value thread buffer token query state event retry
config client server stream batch schema column worker queue signal router header cookie session handler callback mutex
offset cursor region shard replica bucket metric logger policy tenant secret cipher digest vector tensor layout widget
"""
_ENDINGS = """
s er ing ed able check loop size name count leak race bound default handler factory provider manager builder id key
pool limit guard flag mode kind type view model store index cache entry field record group chain link node tree graph
"""
_COMMON = """
the a of to is this and in it that be when not for with should can here will if on are by may before after instead so
because which but has was from then than only also each more still never always where while there these an as or
"""
WORDS = [stem + ending for stem in _STEMS.split() for ending in ("", *_ENDINGS.split())]
COMMON = _COMMON.split()


def write_events(path: Path, events: int, *, repos: int = 2_000, largest: float | None = None, seed: int = 0) -> None:
    """A history in JSON lines, in order of time: about ten events for each pull request, over two years.

    Repositories are unequal, but none has more than about 2 % of the pull requests; with `largest`, the first has this
    share of them. Each has people of its own, more in larger ones, and a few of them do most of the work.
    """
    rng = np.random.default_rng(seed)
    shares = 1 / (np.arange(repos) + 10.0)
    shares /= shares.sum()
    if largest is not None:
        shares[1:] *= (1 - largest) / shares[1:].sum()
        shares[0] = largest
    prs = events // EVENTS_OF_PR
    chance = random.Random(seed)
    people = np.maximum(12, (prs * shares * 0.2).astype(np.int64))
    first_person = np.concatenate([[0], np.cumsum(people)[:-1]])
    carried: list[tuple[int, bytes]] = []
    with path.open("wb") as out:
        for begin in range(0, prs, _BLOCK):
            numbers = np.arange(begin, min(begin + _BLOCK, prs))
            opened = START + numbers * SPAN // prs
            repo = rng.choice(repos, len(numbers), p=shares)
            made = carried + _block(rng, chance, numbers, opened, repo, first_person[repo], people[repo])
            made.sort(key=lambda event: event[0])
            until = START + (begin + _BLOCK) * SPAN // prs
            last = begin + _BLOCK >= prs
            carried = [] if last else [event for event in made if event[0] >= until]
            out.write(b"".join(line for second, line in made if last or second < until))


def _block(
    rng: np.random.Generator,
    chance: random.Random,
    numbers: np.ndarray,
    opened: np.ndarray,
    repo: np.ndarray,
    first_person: np.ndarray,
    people: np.ndarray,
) -> list[tuple[int, bytes]]:
    """Events of these pull requests: opened, eight responses within two hours, merged a day later."""
    steps = EVENTS_OF_PR - 2
    # The square of an even draw: a tenth of the people do a third of the work.
    actors = (first_person[:, None] + people[:, None] * rng.random((len(numbers), EVENTS_OF_PR)) ** 2).astype(np.int64)
    seconds = opened[:, None] + np.concatenate(
        [
            np.zeros((len(numbers), 1), np.int64),
            np.sort(rng.integers(60, 7_200, (len(numbers), steps)), axis=1),
            np.full((len(numbers), 1), 90_000),
        ],
        axis=1,
    )
    instants = np.datetime_as_string(seconds.astype("datetime64[s]"))
    kinds = rng.integers(0, len(_RESPONSES), (len(numbers), steps))
    made: list[tuple[int, bytes]] = []
    columns = (numbers, repo, seconds, instants, actors, kinds, first_person, people)
    for number, at, when, instant, who, kind, first, size in zip(*(each.tolist() for each in columns), strict=True):
        head = f'{{"repo":"org{at % 50}/repo{at}","pr":{number + 1},"at":"'
        asked = first + int(size * chance.random() ** 2)
        words = " ".join(chance.choices(WORDS, k=30))
        body = f'"opened","actor":"dev{who[0]}","actor_type":"User","title":"{words[:50]}",'
        body += f'"body":"{words}\\n\\nFixes #{number}\\ncc @dev{asked}"'
        made.append((when[0], f'{head}{instant[0]}Z","kind":{body}}}\n'.encode()))
        for step, response in enumerate(kind, 1):
            line = f'{head}{instant[step]}Z","kind":{_RESPONSES[response]},"actor":"dev{who[step]}"'
            made.append((when[step], f'{line},"actor_type":"User"}}\n'.encode()))
        line = f'{head}{instant[-1]}Z","kind":"merged","actor":"dev{who[-1]}","actor_type":"User"}}\n'
        made.append((when[-1], line.encode()))
    return made


_RESPONSES = ('"review_submitted","state":"APPROVED"', '"review_comment","path":"src/a.py"', '"comment"')


def write_comments(folder: Path, pull_requests: int, *, seed: int = 0) -> tuple[Path, Path]:
    """Ten comments of one reviewer and five references for each pull request: two files in metareview's format."""
    generated, reference = folder / "generated.jsonl", folder / "reference.jsonl"
    with generated.open("wb") as ours, reference.open("wb") as theirs:
        for pr, comments, references in _pull_requests(pull_requests, random.Random(seed)):
            ours.write(msgspec.json.encode({"pr": pr, "reviewer": "bot", "comments": comments}) + b"\n")
            theirs.write(msgspec.json.encode({"pr": pr, "comments": references}) + b"\n")
    return generated, reference


Comments = list[dict[str, object]]


def _pull_requests(number: int, chance: random.Random) -> Iterator[tuple[str, Comments, Comments]]:
    for pr in range(number):
        files = [f"src/{chance.choice(WORDS)}/{chance.choice(WORDS)}.py" for _ in range(4)]
        notes = [_words(chance, chance.randrange(12, 41)) for _ in range(REFERENCES)]
        lines = [chance.randrange(1, 400) for _ in notes]
        references: Comments = [
            {"path": chance.choice(files), "side": "right", "from_line": line, "to_line": line + chance.randrange(4),
             "note": _sentence(note), "category": "Code Defect"}
            for line, note in zip(lines, notes, strict=True)
        ]  # fmt: skip
        comments: Comments = []
        for _ in range(COMMENTS):
            if chance.random() < NEAR:
                at = chance.randrange(REFERENCES)
                line = max(1, lines[at] + chance.randrange(-2, 3))
                words = chance.sample(notes[at], len(notes[at]) * 2 // 3) + _words(chance, 8)
                path = references[at]["path"]
            else:
                line, path = chance.randrange(1, 400), chance.choice(files)
                words = _words(chance, chance.randrange(12, 41))
            place = {"path": path, "side": "right", "from_line": line, "to_line": line + 1}
            comments.append({**place, "note": _sentence(words)})
        yield f"https://github.com/org{pr % 50}/repo{pr % 2_000}/pull/{pr}", comments, references


def _words(chance: random.Random, number: int) -> list[str]:
    """Half of them are words that every note has."""
    common = round(number * (0.4 + 0.2 * chance.random()))
    words = chance.choices(COMMON, k=common) + chance.choices(WORDS, k=number - common)
    chance.shuffle(words)
    return words


def _sentence(words: list[str]) -> str:
    return " ".join(words).capitalize() + "."
