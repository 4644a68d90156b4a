"""Code Review Bench as questions with a model's verdicts, and how the tools rank by one judge's verdicts or another's.

A pair is positive if it is a listed match, negative if its candidate is a listed false positive or its golden
comment a false negative, and unknown otherwise.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from metareview.judges.protocol import Question

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Labelled:
    """One tool on one pull request, with the model's verdicts: 1, 0 or -1 (unknown) for each pair."""

    pull: str
    repo: str
    tool: str
    question: Question
    label: NDArray[np.int64]


def read_martian(folder: Path) -> list[Labelled]:
    """Every tool on every pull request. Where candidates.json lacks a tool, its listed candidates count."""
    verdicts = json.loads((folder / "evaluations.json").read_text("utf-8"))
    candidates = json.loads((folder / "candidates.json").read_text("utf-8"))
    out = []
    for file in sorted(folder.glob("golden_*.json")):
        for pull in json.loads(file.read_text("utf-8")):
            golden = [c["comment"] for c in pull["comments"]]
            for tool, result in sorted(verdicts[pull["url"]].items()):
                wrong = {c["candidate"] for c in result["false_positives"]}
                missed = {c["golden_comment"] for c in result["false_negatives"]}
                right = {(c["matched_candidate"], c["golden_comment"]) for c in result["true_positives"]}
                listed = candidates[pull["url"]].get(tool)
                notes = sorted(wrong) if listed is None else [c["text"] for c in listed]
                label = [
                    [1 if (n, g) in right else 0 if n in wrong or g in missed else -1 for g in golden] for n in notes
                ]
                pairs = np.array([(i, j) for i in range(len(notes)) for j in range(len(golden))], np.int64)
                question = Question(notes, golden, pairs.reshape(-1, 2))
                repo = file.stem.removeprefix("golden_")
                out.append(Labelled(pull["url"], repo, tool, question, np.array(label, np.int64).ravel()))
    return out


def tool_counts(questions: list[Labelled], edge: NDArray[np.bool_], one_to_one: bool) -> Floats:
    """(tools, pull requests, 4): comments matched, references covered, comments, references.

    `edge`: for each pair of each question in turn, whether it counts as the same.
    """
    tools = {tool: i for i, tool in enumerate(sorted({q.tool for q in questions}))}
    pulls = {pull: i for i, pull in enumerate(dict.fromkeys(q.pull for q in questions))}
    out = np.zeros((len(tools), len(pulls), 4))
    start = 0
    for q in questions:
        shape = (len(q.question.generated), len(q.question.reference))
        matrix = edge[start : start + len(q.label)].reshape(shape)
        start += len(q.label)
        matched, covered = matrix.any(1).sum(), matrix.any(0).sum()
        if one_to_one and matrix.size:
            matched = covered = (maximum_bipartite_matching(csr_array(matrix)) >= 0).sum()
        out[tools[q.tool], pulls[q.pull]] = matched, covered, *shape
    return out


def f1(count: Floats) -> Floats:
    """Of counts as above, summed over pull requests."""
    precision = count[..., 0] / np.maximum(count[..., 2], 1)
    recall = count[..., 1] / np.maximum(count[..., 3], 1)
    return 2 * precision * recall / np.maximum(precision + recall, 1e-12)


def reversals(model: Floats, judge: Floats, draws: int = 2000) -> tuple[int, int]:
    """Pairs of tools that the model separates (paired permutation over pull requests, p < 0.05), and how many
    of them the judge reverses."""
    swap = np.random.default_rng(0).random((draws, model.shape[1])) < 0.5
    separated = reverse = 0
    for a in range(len(model)):
        for b in range(a):
            observed = f1(model[a].sum(0)) - f1(model[b].sum(0))
            delta = np.tensordot(swap.astype(float), model[b] - model[a], 1)
            drawn = f1(model[a].sum(0) + delta) - f1(model[b].sum(0) - delta)
            if (1 + (np.abs(drawn) >= abs(observed) - 1e-12).sum()) / (1 + draws) < 0.05:
                separated += 1
                reverse += bool(np.sign(f1(judge[a].sum(0)) - f1(judge[b].sum(0))) == -np.sign(observed))
    return separated, reverse
