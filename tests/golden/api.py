"""The same figures through Python, by public names alone."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Mapping

import metareview as mr
from golden.inputs import Origins

Documents = Mapping[str, object]
"""What a case gives, by the name of the file that it is compared as; a list of records for `.jsonl`."""


def _frame(frame: object) -> object:
    """A pandas data frame as its columns and rows, null where there is nothing."""
    rows = frame.astype(object).where(frame.notna(), None).to_numpy().tolist()
    return {"columns": list(frame.columns), "rows": rows}


def _comments_in_memory(origins: Origins) -> Documents:
    run = mr.evaluate_comments(
        origins.demo / "reviews",
        reference=origins.demo / "references.jsonl",
        negatives=origins.demo / "negatives.jsonl",
        judge="rouge",
        filters=mr.FilterConfig(comment_categories=["Code Defect", "Performance"]),
        limit=8,
    )
    return {
        "summary.json": run.summary,
        "metrics.json": run.metrics,
        "results.jsonl": run.records,
        "frame.json": _frame(run.to_frame()),
    }


def _routing_in_memory(origins: Origins) -> Documents:
    run = mr.evaluate_routing(
        "made/history.jsonl", routers=["popularity", "chrev"], truth="all_reviewers", truth_window="1d", k=(1, 2)
    )
    return {
        "summary.json": run.summary,
        "metrics.json": run.metrics,
        "results.jsonl": run.records,
        "frame.json": _frame(run.to_frame()),
    }


def _one_by_one(origins: Origins, config: mr.EvaluatorConfig) -> Documents:
    """Each pull request of the sample benchmark by the names of AACR-Bench's runner."""
    records = []
    for line in (origins.demo / "references.jsonl").read_text("utf-8").splitlines():
        review = json.loads(line)
        *_, repo, _, number = review["pr"].split("/")
        for reviewer in ("noisy", "repetitive"):
            file = origins.demo / "reviews" / reviewer / f"comments_{repo}_{number}.txt"
            metadata = {"category": review["pr_category"], "project_main_language": review["language"]}
            records.append(
                asyncio.run(
                    mr.get_evaluator_ans_from_json(
                        review["pr"], mr.load_generated_comments_from_file(file), review["comments"], config, metadata
                    )
                )
            )
    return {"results.jsonl": records}


def _published_one_by_one(origins: Origins) -> Documents:
    """References against themselves, by location: nothing is lost, whatever the missing ids."""
    reviews = json.loads((origins.shared / "aacr" / "positive_samples.json").read_text("utf-8"))
    config = mr.EvaluatorConfig.location_only(line_distance_threshold=2)
    records = [
        asyncio.run(
            mr.get_evaluator_ans_from_json(
                review["githubPrUrl"], review["comments"][::-2], review["comments"], config, review
            )
        )
        for review in reviews[:80]
    ]
    return {"results.jsonl": records}


API: dict[str, Callable[[Origins], Documents]] = {
    "api-comments": _comments_in_memory,
    "api-routing": _routing_in_memory,
    "api-location-only": lambda origins: _one_by_one(origins, mr.EvaluatorConfig.location_only()),
    "api-offline": lambda origins: _one_by_one(origins, mr.EvaluatorConfig(semantic_matcher_type="offline")),
    "api-filtered": lambda origins: _one_by_one(
        origins,
        mr.EvaluatorConfig.with_filter(
            project_languages=["Python", "Go"], comment_contexts=["Diff Level"], semantic_matcher_type="rouge"
        ),
    ),
    "api-published": _published_one_by_one,
}
NEEDS = {"api-routing": ("made/history.jsonl",), "api-published": ("{shared}",)}
"""What a case reads beside the sample benchmark, in the words of `commands.py`."""
