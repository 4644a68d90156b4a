"""Made-up reviews of several reviewers, runs and pull requests, with whatever may need a word in a run's warnings."""

import json
import random
from pathlib import Path

TEXT = """
the cache is never cleared when a user leaves file handle may leak retry loop has no bound index off by one
null check missing lock order can deadlock token compared in plain text query built from input timeout ignored
"""
WORDS = TEXT.split()
LANGUAGES = ["Python", "Go", None]


def _note(rng, size):
    return " ".join(rng.choice(WORDS) for _ in range(size)).capitalize() + "."


def _comment(rng, near=None):
    line = near["from_line"] + rng.randrange(-1, 3) if near else rng.randrange(1, 60)
    own_words = near is None or rng.random() < 0.4
    note = _note(rng, 12) if own_words else near["note"].replace("the", "a") + " " + _note(rng, 3)
    path = near["path"] if near else f"src/{rng.choice(WORDS)}.py"
    return {"path": path, "from_line": max(1, line), "to_line": max(1, line) + 2, "note": note}


def write_reviews(folder: Path, pull_requests: int, *, runs: tuple[str | None, ...] = (None,)) -> None:
    """comments.jsonl by three reviewers, references.jsonl and negatives.jsonl."""
    rng = random.Random(7)
    generated, references, negatives = [], [], []
    for number in range(pull_requests):
        pr = f"https://github.com/acme/shop{number % 3}/pull/{number}"
        known = [{**_comment(rng), "category": rng.choice(["Code Defect", "Performance"])} for _ in range(4)]
        known[0]["neutral"] = number % 5 == 0
        language = rng.choice(LANGUAGES)
        references.append({"pr": pr, "language": language, "author": "ann", "comments": known})
        negatives.append({"pr": pr, "comments": [_comment(rng) for _ in range(2)]})
        for reviewer in ("alpha", "beta", "gamma"):
            for run in runs:
                if rng.random() < 0.15:
                    continue  # Absent.
                said = [_comment(rng, rng.choice([None, *known])) for _ in range(rng.randrange(6))]
                if said and number % 7 == 0:
                    said[0] |= {"path": "/home/ci/" + known[0]["path"], "id": number}
                if said and number % 11 == 0:
                    said.append({"note": "  ", "path": "a.py"})
                if said and number % 13 == 0:
                    said[-1]["note"] = "Die Datei wird nicht geschlossen und das ist ein Fehler"
                line = {"pr": pr, "reviewer": reviewer, "run": run, "comments": said, "tokens": 100 * len(said)}
                generated.append({key: value for key, value in line.items() if value is not None})
    generated.append(
        {"pr": "https://github.com/acme/elsewhere/pull/1", "reviewer": "beta", "run": runs[0], "comments": []}
    )
    generated.append({**generated[0], "comments": [_comment(rng)]})  # A second record of a review.
    references.append({"pr": "https://github.com/acme/unseen/pull/1", "comments": [_comment(rng)]})
    for name, lines in (("comments", generated), ("references", references), ("negatives", negatives)):
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines))
