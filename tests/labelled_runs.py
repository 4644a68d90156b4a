"""Runs of a judge that is often wrong, beside what people would say: the same issue is named by the same word."""

import numpy as np

from metareview.api import evaluate_comments
from metareview.comments.blocks import Block
from metareview.comparison.frame import open_frame
from metareview.judges.protocol import DIFFERENT, SAME, Answer, Judge
from metareview.model.label import PairLabel
from metareview.runs.labels import LabelFile
from metareview.runs.run import load_run


def issue_of(note):
    return note.split()[0]


class People(Judge):
    """Who is right."""

    name = "people"

    def judge(self, questions):
        return [self._answer(question) for question in questions]

    def _answer(self, question):
        same = [issue_of(question.generated[g]) == issue_of(question.reference[r]) for g, r in question.pairs]
        return Answer(np.array(same, float), np.where(same, SAME, DIFFERENT).astype(np.int8))


class Lenient(Judge):
    """Says yes to nearly everything, by the length of the notes."""

    name = "lenient"

    def judge(self, questions):
        return [self._answer(question) for question in questions]

    def _answer(self, question):
        lengths = [len(question.generated[g]) + len(question.reference[r]) for g, r in question.pairs]
        score = np.array([0.35 + (7 * length % 13) / 20 for length in lengths])
        return Answer(score, np.where(score >= 0.45, SAME, DIFFERENT).astype(np.int8))


def note(rng, line, issue=None):
    words = " ".join(rng.choice(["null", "lock", "slow", "loop", "typo"], int(rng.integers(1, 9))))
    name = issue or f"i{rng.integers(0, 3)}"
    return {"path": "a.py", "from_line": int(line), "to_line": int(line), "note": f"{name} {words}"}


def records(prs=24, reviewers=("x",), seed=0, places=4):
    """Reviews and references: on each pull request some places, with one or two comments and references at each."""
    rng = np.random.default_rng(seed)
    references, reviews = [], {name: [] for name in reviewers}
    for number in range(1, prs + 1):
        pr = f"https://github.com/o/r/pull/{number}"
        lines = [100 * place for place in range(1, places + 1) for _ in range(int(rng.integers(1, 3)))]
        references.append({"pr": pr, "comments": [note(rng, line) for line in lines]})
        for name, of_one in reviews.items():
            said = [note(rng, 100 * place) for place in range(1, places + 2) for _ in range(int(rng.integers(0, 3)))]
            of_one.append({"pr": pr, "reviewer": name, "comments": said})
    return [review for of_one in reviews.values() for review in of_one], references


def make_run(folder, judge=None, **options):
    reviews, references = records(**options)
    evaluate_comments(reviews, reference=references, judge=judge or Lenient(), out=folder)
    return load_run(folder)


def label_all(run, *, name=None, only=None, budget=None, at="2026-01-01T00:00:00+00:00"):
    """Everything that a person would be asked, answered as people would; `only`: so many of the drawn blocks."""
    frame = open_frame(run, budget=budget)
    records = {record.key: record for record in run.read_records()}
    labels = [
        label
        for _, block in frame.drawn[: len(frame.drawn) if only is None else only]
        for label in labels_of_block(block, records[block.pr, block.reviewer], name, at)
    ]
    LabelFile(run.folder).append(labels)
    return frame


def labels_of_block(block: Block, record, name, at):
    ours = {each.position: each.comment.note for each in record.comments}
    theirs = {each.position: each.comment.note for each in record.references}
    for generated, reference in block.pairs:
        a, b = theirs[reference], ours[generated]
        same = issue_of(a) == issue_of(b)
        yield PairLabel(block.pr, block.reviewer, generated, reference, b, a, same, at, name)
