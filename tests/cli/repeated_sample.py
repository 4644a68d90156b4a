"""Three runs of a reviewer on three pull requests, and one run of a steady one. By run: comments, matches, references.

          pull request 1   2        3        F1
run-1     2, 2, 2          1, 1, 1  1, 0, 1  6/8
run-2     2, 1, 2          0, 0, 1  1, 1, 1  4/7
run-3     1, 1, 2          1, 0, 1  2, 0, 1  2/8
mean      5/3, 4/3, 2      2/3, 1/3  4/3, 1/3  P = 2 / (11/3), R = 2/4, F1 = 4 / (23/3)
"""

from review_sample import lines

PRS = [f"https://github.com/octo/shop/pull/{number}" for number in (1, 2, 3)]
CLOSE, NAME, CHECK, VALIDATE = "Close the file", "Name the number", "Check the error", "Validate the length"


def said(note, line, **more):
    return {"note": note, "path": "a.py", "from_line": line, "to_line": line, **more}


REFERENCES = [
    {"pr": PRS[0], "language": "Go", "comments": [said(CLOSE, 3), said(NAME, 30)]},
    {"pr": PRS[1], "language": "Go", "comments": [said(CHECK, 9)]},
    {"pr": PRS[2], "language": "C", "comments": [said(VALIDATE, 5, severity="high")]},
]
RUNS = {
    "run-1": ([said(CLOSE, 3), said(NAME, 30)], [said(CHECK, 9)], [said("Looks odd", 70)]),
    "run-2": ([said(CLOSE, 3), said("Looks odd", 60)], [], [said(VALIDATE, 5)]),
    "run-3": ([said(CLOSE, 3)], [said("Rename it", 9)], [said("Looks odd", 70), said("Too long", 80)]),
}
STEADY = ([said(CLOSE, 3), said("Why so", 50)], [said(CHECK, 9)], [])


def records(run, reviewer=None):
    """A run as records that name it, or with a reviewer as those of that reviewer."""
    named = {} if reviewer is None else {"reviewer": reviewer, "run": run}
    return [{"pr": pr, "comments": list(of_pr), **named} for pr, of_pr in zip(PRS, RUNS[run], strict=True)]


def flat(runs=RUNS):
    """All runs in one list of records."""
    return [record for run in runs for record in records(run, "claude")]


def write(folder):
    """`reviews/claude/run-1` … and `reviews/steady`, and the references."""
    for run in RUNS:
        (folder / "reviews/claude" / run).mkdir(parents=True)
        (folder / "reviews/claude" / run / "all.jsonl").write_text(lines(*records(run)))
    (folder / "reviews/steady").mkdir()
    steady = [{"pr": pr, "comments": list(of_pr)} for pr, of_pr in zip(PRS, STEADY, strict=True)]
    (folder / "reviews/steady/all.jsonl").write_text(lines(*steady))
    (folder / "ref.jsonl").write_text(lines(*REFERENCES))
