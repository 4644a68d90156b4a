"""The names and arguments of AACR-Bench's evaluator runner, one pull request at a time."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import Path
from typing import Any

from metareview.comments.case import Case, Rules
from metareview.comments.filters import FilterConfig
from metareview.comments.records import CommentRecord
from metareview.errors import InputError, UsageError
from metareview.formats.comments import aacr_text
from metareview.formats.source import Source
from metareview.judges.registry import open_judge
from metareview.model.comment import Comment, Review, normal_path
from metareview.pipelines.comments.answer import answer
from metareview.pipelines.comments.count import record_of
from metareview.runs.comments_json import record_to_json


class SemanticMatcherType(StrEnum):
    """Which judge compares the notes."""

    LLM = "llm"
    EMBEDDING = "embedding"
    CASCADE = "cascade"
    OFFLINE = "offline"
    ROUGE = "rouge"
    EXACT = "exact"


@dataclass(frozen=True)
class EvaluatorConfig:
    """How one pull request is scored. The defaults are the runner's: a model as judge, one line of distance."""

    line_distance_threshold: int = 1
    semantic_matcher_type: SemanticMatcherType | str = SemanticMatcherType.LLM
    enable_semantic_match: bool = True
    filter_config: FilterConfig | None = None

    def __post_init__(self) -> None:
        if self.line_distance_threshold < 0:
            raise UsageError(f"line_distance_threshold must be 0 or more, found {self.line_distance_threshold}.")
        try:
            object.__setattr__(self, "semantic_matcher_type", SemanticMatcherType(self.semantic_matcher_type))
        except ValueError:
            names = ", ".join(SemanticMatcherType)
            raise UsageError(f"Unknown semantic_matcher_type {self.semantic_matcher_type!r}. Valid: {names}.") from None

    @classmethod
    def with_embedding(cls, line_distance_threshold: int = 1) -> EvaluatorConfig:
        return cls(line_distance_threshold, SemanticMatcherType.EMBEDDING)

    @classmethod
    def location_only(cls, line_distance_threshold: int = 1) -> EvaluatorConfig:
        return cls(line_distance_threshold, enable_semantic_match=False)

    @classmethod
    def with_filter(
        cls,
        pr_categories: Sequence[str] | None = None,
        project_languages: Sequence[str] | None = None,
        comment_categories: Sequence[str] | None = None,
        comment_contexts: Sequence[str] | None = None,
        **settings: Any,
    ) -> EvaluatorConfig:
        """The filters, beside any other setting by its own name."""
        chosen = FilterConfig(pr_categories, project_languages, comment_categories, comment_contexts)
        return cls(filter_config=chosen, **settings)


def load_generated_comments_from_file(file_path: str | Path) -> list[Comment]:
    """The comments of an `aacr-text` file, in order."""
    return list(aacr_text.parse(Source(Path(file_path))))


async def get_evaluator_ans_from_json(
    github_pr_url: str,
    generated_comments: Sequence[Comment | Mapping[str, object]],
    good_comments: Sequence[Comment | Mapping[str, object]],
    config: EvaluatorConfig | None = None,
    pr_metadata: Mapping[str, str | None] | None = None,
) -> dict[str, Any]:
    """Score one pull request; the keys are those of the runner's output, and metareview's own beside them.

    `pr_metadata` holds `category` and `project_main_language`, which the pull request filters go by.
    """
    config = config or EvaluatorConfig()
    metadata = pr_metadata or {}
    generated = Review(github_pr_url, _comments(generated_comments, "generated_comments"))
    expected = _comments(good_comments, "good_comments")
    reference = Review(
        github_pr_url, expected, language=metadata.get("project_main_language"), pr_category=metadata.get("category")
    )
    rules = Rules(
        line_distance=config.line_distance_threshold,
        location=any(normal_path(comment.path) for comment in expected) or not expected,
        meaning=config.enable_semantic_match,
        filters=config.filter_config or FilterConfig(),
    )
    if not rules.location and not rules.meaning:
        raise UsageError("location_only needs references with a path, and none of good_comments has one.")
    case = Case.of("generated", generated, reference, None, rules)
    # In a thread of its own, so that a judge that waits for a model does not hold up the caller's event loop.
    return record_to_json(await asyncio.to_thread(_score, case, config))


def _score(case: Case, config: EvaluatorConfig) -> CommentRecord:
    with open_judge(str(config.semantic_matcher_type) if config.enable_semantic_match else "none") as judge:
        [(_, judged)] = answer([case], judge)
    return record_of(case, judged)


def _comment(value: object) -> Comment:
    """A comment from a dictionary, with the checks of a file."""
    text = json.dumps(dict(value) if isinstance(value, Mapping) else value, default=str)
    [record] = Source.of_text(text, "comment").records("a comment")
    return record.comment()


def _comments(values: Sequence[Comment | Mapping[str, object]], name: str) -> tuple[Comment, ...]:
    if isinstance(values, str) or not isinstance(values, Sequence):
        raise UsageError(f"{name} must be a list of comments, found {type(values).__name__}.")
    comments = []
    for position, value in enumerate(values):
        try:
            comments.append(value if isinstance(value, Comment) else _comment(value))
        except InputError as error:
            raise InputError(f"{name}[{position}]: {error}") from None
    return tuple(comments)
