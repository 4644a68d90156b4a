"""Helpers of the tests of judges that ask a model."""

import subprocess
import sys
import time
from itertools import product

import numpy as np

from metareview.judges.protocol import Question
from metareview.judges.remote.llm import PairPrompt
from model_server import matches, verdict


def read_pair_answer(text, notes=("", "")):
    """The verdict on a pair of notes in what a model wrote."""
    return PairPrompt().parse(text, tuple(notes))


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


def start(code, *words):
    """A Python process that has printed "ready"."""
    command = [sys.executable, "-c", code, *map(str, words)]
    child = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert child.stdout.readline() == "ready\n"
    return child


def wait_for(server, requests, child):
    while len(server.log) < requests and child.poll() is None:
        time.sleep(0.001)
