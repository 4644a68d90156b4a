"""Location only: 200 pull requests of 500 comments and 500 references, judged by location and aligned one-to-one."""

import random
import resource
import subprocess
import sys
import time
from typing import Any

from metareview.comments.case import FREE_REACH, Case, Rules
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


def run() -> dict[str, Any]:
    """Each layout in a process of its own, so that the peak of memory is its own."""
    rows = []
    for what, layout in LAYOUTS.items():
        answer = subprocess.run(
            [sys.executable, "-m", "bench.location", *map(str, layout)], check=True, capture_output=True, text=True
        )
        pairs, seconds, megabytes = map(float, answer.stdout.split())
        # The densest layout shows growth; the figure to reach is for files as they are.
        judged = layout[1] > 50
        rows += [
            {"what": f"{what}: processor time", "value": seconds, "unit": "s",
             "target": "< 3" if judged else None, "met": seconds < 3 if judged else None},
            {"what": f"{what}: peak memory", "value": megabytes, "unit": "MB",
             "target": "< 500", "met": megabytes < 500},
            {"what": f"{what}: pairs that may match", "value": pairs, "unit": "pairs"},
        ]  # fmt: skip
    return {"title": "Location only, 200 pull requests of 500 x 500 comments, one core", "rows": rows}


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


def _measure(files: int, lines: int) -> None:
    rng = random.Random(0)
    reviews = [
        (_review(rng, number, files, lines), _review(rng, number, files, lines))
        for number in range(1, PULL_REQUESTS + 1)
    ]
    rules = Rules(meaning=False, reach=FREE_REACH)
    began = time.process_time()
    cases = (Case.of("bench", generated, reference, None, rules) for generated, reference in reviews)
    pairs = 0
    for case, _, _ in records_of(answer_in_batches(cases, NoJudge())):
        pairs += len(case.candidates)
    seconds = time.process_time() - began
    print(pairs, seconds, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1000)


if __name__ == "__main__":
    _measure(int(sys.argv[1]), int(sys.argv[2]))
