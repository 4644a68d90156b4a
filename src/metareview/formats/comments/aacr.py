"""`aacr`: AACR-Bench's positive_samples.json and negative_samples.json, a list of pull requests with their comments."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator

from metareview.errors import UsageError
from metareview.formats.findings import leading_object
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.model.address import parse_address
from metareview.model.comment import Review


def sniff(file: InputFile) -> bool:
    first = leading_object(file)
    return "githubPrUrl" in first and "reference_comments" not in first and file.json.is_single


def read(file: InputFile) -> Iterator[Review]:
    for record in file.json.records("a pull request", depth=1):
        pr, head = record.required("githubPrUrl", "the pull request's address"), record.optional_text("target_commit")
        address = parse_address(pr) if head else None
        yield Review(
            pr=pr,
            comments=tuple(item.comment() for item in record.objects("comments", "a comment")),
            language=record.text("project_main_language"),
            pr_category=record.text("category"),
            source=file.name,
            other_names=(f"{address.repository}@{head}",) if address else (),
        )


def write(reviews: Iterable[Review]) -> dict[str, str]:
    """One document. It has no field for the reviewer, so it holds one reviewer per pull request."""
    samples = []
    reviewers: dict[str, str | None] = {}
    for review in reviews:
        if reviewers.setdefault(review.key, review.reviewer) != review.reviewer:
            raise UsageError(f"aacr has no field for the reviewer and cannot hold two ({review.pr}). Use jsonl.")
        samples.append(
            {
                "githubPrUrl": review.pr,
                "category": review.pr_category,
                "project_main_language": review.language,
                "comments": [comment.to_dict() for comment in review.comments],
            }
        )
    return {"": json.dumps(samples, ensure_ascii=False, indent=1) + "\n"}


SUMMARY = "AACR-Bench's samples: [{githubPrUrl, category, project_main_language, comments: [{note, path, …}]}]"
PLUGIN = CommentFormat(SUMMARY, sniff, read, write)
