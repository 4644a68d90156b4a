"""Learn the offline judge's weights, and measure their accuracy on pull requests that were held out.

    python scripts/train_offline.py              # writes src/metareview/data/offline-2.json
    python scripts/train_offline.py --check      # only the figures

Weights come from `martian`: golden and 34 tools' comments, the verdicts of three models. Word statistics come
from `aacr` alone, so nothing of a held-out pull request is in any of its features.
"""

from __future__ import annotations

import argparse
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from learning import Learned, learn
from offline_figures import (
    SPLITS,
    Data,
    best_threshold,
    by_pull_request,
    evaluate,
    evaluate_examples,
    held_out,
    learned_from,
    prepare,
    train_examples,
)
from scipy.special import logit

from metareview.judges.offline.examples import NAMES as EXAMPLE_NAMES
from metareview.judges.offline.examples import ExampleWeights
from metareview.judges.offline.features import NAMES
from metareview.judges.offline.model import FILE, FORMAT, VECTORS, read_background

ROOT = Path(__file__).resolve().parent.parent
DATA = ROOT / "src" / "metareview" / "data"


def weights_file(
    learned: Learned, examples: ExampleWeights, statistics: dict[str, Any], figures: dict[str, Any], data: Data
) -> dict[str, Any]:
    tools = len({q.tool for q in data.questions})
    return {
        "format": FORMAT,
        "version": "2",
        "learned_from": {
            "weights": f"Code Review Bench (withmartian, MIT, and a fork of it): the verdicts of "
            f"{' and '.join(np.unique(data.model))} on what {tools} tools said "
            f"on {data.pull.max() + 1} pull requests of {', '.join(np.unique(data.repo))}; "
            f"{(data.label >= 0).sum()} pairs, {(data.label == 1).sum()} of them matches",
            "background": "AACR-Bench (alibaba, Apache-2.0): in how many of its notes a word stem occurs",
            "vectors": "wordllama 0.4.0 (MIT), l2_supercat_256, reduced by scripts/distil_vectors.py",
            "script": "scripts/train_offline.py",
        },
        "held_out_figures": _rounded(figures),
        "features": _weights(NAMES, learned.mean, learned.scale, learned.weight),
        "competition": {k: round(v, 6) for k, v in asdict(learned.competition).items()},
        "threshold": figures["threshold"],
        "examples": {
            "features": _weights(EXAMPLE_NAMES, examples.mean, examples.scale, examples.weight),
            "intercept": round(examples.intercept, 6),
        },
        "background": statistics,
    }


def _weights(names: tuple[str, ...], *numbers: Any) -> list[dict[str, Any]]:
    return [
        {"name": name, "mean": round(m, 6), "scale": round(s, 6), "weight": round(w, 6)}
        for name, m, s, w in zip(names, *(each.tolist() for each in numbers), strict=True)
    ]


def _rounded(value: Any) -> Any:
    if isinstance(value, dict):
        return {k: _rounded(v) for k, v in value.items()}
    if isinstance(value, list):
        return [_rounded(v) for v in value]
    return round(value, 4) if isinstance(value, float) else value


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    data_help = "folder with martian/ (Code Review Bench, its models' verdicts) and aacr/ (AACR-Bench)"
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help=data_help)
    parser.add_argument("--vectors", type=Path, default=DATA / VECTORS, help="word vectors (.npz)")
    parser.add_argument("--out", type=Path, default=DATA / FILE, help="where the weights go; default: those that ship")
    parser.add_argument("--splits", type=int, default=SPLITS, help="how often pull requests are split into folds")
    parser.add_argument("--check", action="store_true", help="print the figures, write nothing")
    options = parser.parse_args()
    data, statistics = prepare(options.data, options.vectors)
    background = read_background(statistics, options.vectors)
    figures = evaluate(data, options.splits)
    score = held_out(data, by_pull_request(data, 0))
    near = learned_from(data, background)
    examples = train_examples(data, score, near, data.counts)
    best = best_threshold(data, [examples.rescored(score, each) for each in near], data.sure)
    figures["examples"] = dict(evaluate_examples(data, figures["threshold"], best, background))
    # One threshold for all: with examples the scores are moved so that theirs is that of the scores without.
    moved = float(logit(figures["threshold"]) - logit(best))
    examples = replace(examples, intercept=examples.intercept + moved)
    print(json.dumps(_rounded(figures), indent=1))
    learned = learn(data.features, data.label, data.counts)
    content = weights_file(learned, examples, statistics, figures, data)
    print(json.dumps({k: content[k] for k in ("features", "competition", "examples")}, indent=1))
    if not options.check:
        options.out.write_text(json.dumps(content, indent=1, ensure_ascii=False) + "\n", "utf-8")


if __name__ == "__main__":
    main()
