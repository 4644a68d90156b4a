"""Helpers of the tests of judges that ask a model."""

import json
import subprocess
import sys
import time
from itertools import product

import numpy as np

from metareview.judges.protocol import Question
from metareview.judges.remote.addressed import AddressedModel, AddressedQuestion
from metareview.judges.remote.llm import LlmJudge, PairPrompt
from metareview.judges.remote.validity import ValidityModel, ValidityQuestion
from metareview.model.comment import Comment
from model_server import chat, matches, verdict


def read_pair_answer(text, notes=("", "")):
    """The verdict on a pair of notes in what a model wrote."""
    return PairPrompt().parse(text, tuple(notes))


def word_answer(word, reason="because"):
    """The reply of a model whose answer is one word."""
    return chat(json.dumps({"verdict": word, "reason": reason}))


def question(generated, reference, pairs=None):
    """A question about these pairs, or about all."""
    pairs = list(product(range(len(generated)), range(len(reference)))) if pairs is None else pairs
    return Question(generated, reference, np.array(pairs, dtype=np.int64).reshape(-1, 2))


def same_number(exchange, *more):
    """A script that says yes where two notes end in the same number; `more` are further entries of a list's answer."""
    if not exchange.is_list:
        generated, reference = exchange.notes
        return verdict(generated.split()[-1] == reference.split()[-1], 0.8)
    references, comments = exchange.listed
    found = [
        (r, c)
        for (r, reference), (c, comment) in product(enumerate(references), enumerate(comments))
        if reference.split()[-1] == comment.split()[-1]
    ]
    return matches(*found, *more, confidence=0.8)


KINDS = ("pair", "review", "addressed", "validity")
_MATCH = {None: -1, "fully": 1, "valid": 1, "not": 0, "invalid": 0}


def verdicts_on(kind, settings, notes, reference, **options):
    """1, 0 or -1 (undecided) for each note, in a question of this kind with a reference; of `addressed` in the patch,
    whose author wants it called done."""
    options = {"backoff": 0.0001, **options}
    if kind in ("pair", "review"):
        with LlmJudge(settings, ask=kind, **options) as judge:
            answers = judge.judge([question([note], [reference]) for note in notes])
        return [int(answer.match[0]) for answer in answers]
    if kind == "addressed":
        with AddressedModel(settings, **options) as model:
            found = model.ask([AddressedQuestion.of(Comment(reference), "", f"+# {note}") for note in notes])
        return [_MATCH[each.verdict] for each in found]
    with ValidityModel(settings, **options) as model:
        found = model.ask([ValidityQuestion.of([note], [reference]) for note in notes])
    return [_MATCH[each.answer and each.answer.verdict] for each in found]


def start(code, *words):
    """A Python process that has printed "ready"."""
    command = [sys.executable, "-c", code, *map(str, words)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    return child


def wait_for(server, requests, child):
    while len(server.log) < requests and child.poll() is None:
        time.sleep(0.001)
