"""Small runs with unlisted issues: reviewers {name: {number: [comments]}} against references {number: [comments]}."""

from metareview.api import evaluate_comments
from metareview.formats.comments import jsonl
from metareview.model.comment import Comment, Review
from metareview.model.label import IssueLabel

LEAK = "The file handle is never closed, so `readAll` leaks a descriptor."
LEAK_AGAIN = "`readAll` leaks a file descriptor: the handle is never closed."
RACE = "`counter` is incremented by several threads without holding the lock."
TYPO = "Spelling: the message says recieve instead of receive."
SLOW = "This loop compiles the same regular expression on every iteration."
STYLE = "Prefer a dataclass over this tuple of five strings."


def pull(number):
    return f"https://github.com/owner/repo/pull/{number}"


def comment(note, line=10, path="a.py", **more):
    return Comment(note=note, path=path, side="right", from_line=line, to_line=line, **more)


def comments(said):
    return tuple(each if isinstance(each, Comment) else comment(each) for each in said)


def make_run(folder, references, reviews, *, stored=True, negatives=None, **options):
    folder.mkdir(exist_ok=True, parents=True)
    (folder / "references.jsonl").write_text(
        jsonl.write([Review(pull(n), comments(said)) for n, said in references.items()])[""]
    )
    (folder / "said.jsonl").write_text(
        jsonl.write(
            [
                Review(pull(n), comments(said), reviewer=name)
                for name, by_number in reviews.items()
                for n, said in by_number.items()
            ]
        )[""]
    )
    if negatives is not None:
        (folder / "negatives.jsonl").write_text(
            jsonl.write([Review(pull(n), comments(said)) for n, said in negatives.items()])[""]
        )
        options["negatives"] = folder / "negatives.jsonl"
    out = folder / "run" if stored else None
    options = {"judge": "exact"} | options
    return evaluate_comments(folder / "said.jsonl", reference=folder / "references.jsonl", out=out, **options)


def label(issue, verdict, name=None, model=None):
    return IssueLabel(issue.id, issue.pr, issue.comments, "note", verdict, "2026-01-01T00:00:00Z", name, model)
