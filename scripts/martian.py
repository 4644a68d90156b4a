"""Code Review Bench as questions with three models' verdicts, and how tools rank by one judge or another.

A pair is positive if it is a listed match. It is negative if its golden comment is a listed false negative, or its
candidate a listed false positive; of these the *forced* ones, whose golden comment another candidate of the same tool
matched, are doubtful: only the surest match of a golden comment was kept. All others are unknown.
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
Bools = NDArray[np.bool_]

NEARLY_EMPTY = frozenset({"linearb", "sentry"})
"""Tools with next to no comments."""
_FAMILIES = {
    "claude": ["claude-code"],
    "cubic": ["cubic-dev", "cubic-v2"],
    "greptile": ["greptile-v4"],
    "kodus": ["kodus-v2"],
    "mra": ["mra-a", "mra-b", "mra-max", "mra-nano", "mra-ultra"],
    "qodo": ["qodo-v2", "qodo-v2-2", "qodo-v22", "qodo-extended", "qodo-extended-summary"],
}
_FAMILY = {tool: family for family, tools in _FAMILIES.items() for tool in tools}


def family(tool: str) -> str:
    """The family of a tool: its name without a version."""
    return _FAMILY.get(tool, tool)


@dataclass(frozen=True)
class Labelled:
    """One tool on one pull request, with one model's verdicts: 1, 0 or -1 (unknown) for each pair."""

    pull: str
    repo: str
    tool: str
    model: str
    question: Question
    label: NDArray[np.int64]
    forced: Bools
    """True if another candidate of the tool matched the pair's golden comment, so that its no is weak evidence."""
    severity: tuple[str, ...]
    """Of each golden comment."""


def read_martian(folder: Path, tools: int = 36) -> list[Labelled]:
    """Every tool with comments on every pull request, by every model; `tools`: those of which file, 12 or 36.

    Notes are in the order of their text: their position in the files depends on the verdict.
    """
    golden = {}
    for file in sorted(folder.glob("golden_*.json")):
        for pull in json.loads(file.read_text("utf-8")):
            golden[pull["url"]] = file.stem.removeprefix("golden_"), pull["comments"]
    out = []
    for file in sorted((folder / "verdicts").glob(f"{tools}-tools-*.json")):
        for url, results in json.loads(file.read_text("utf-8")).items():
            repo, comments = golden[url]
            for tool, result in sorted(results.items()):
                if tool in NEARLY_EMPTY or result["skipped"]:
                    continue
                labelled = _labelled(url, repo, tool, file.stem.split("-tools-")[1], comments, result)
                if labelled.question.generated:
                    out.append(labelled)
    return out


def _labelled(url: str, repo: str, tool: str, model: str, comments: list[dict], result: dict) -> Labelled:
    references = [comment["comment"] for comment in comments]
    right = {(c["matched_candidate"], c["golden_comment"]) for c in result["true_positives"]}
    missed = {c["golden_comment"] for c in result["false_negatives"]}
    wrong = {c["candidate"] for c in result["false_positives"]}
    found = {reference for _, reference in right}
    notes = sorted({note for note, _ in right} | wrong)
    label = [[1 if (n, r) in right else 0 if r in missed or n in wrong else -1 for r in references] for n in notes]
    forced = [[(n, r) not in right and r in found for r in references] for n in notes]
    pairs = np.argwhere(np.ones((len(notes), len(references))))
    return Labelled(
        url,
        repo,
        tool,
        model,
        Question(notes, references, pairs, pr=url, reviewer=tool),
        np.array(label, np.int64).ravel(),
        np.array(forced, bool).ravel(),
        tuple(comment["severity"] for comment in comments),
    )


def tool_counts(questions: list[Labelled], edge: Bools, one_to_one: bool) -> Floats:
    """(tools, pull requests, 4): comments matched, references covered, comments, references; of one model's questions.

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
