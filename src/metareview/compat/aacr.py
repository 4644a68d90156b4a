"""The names and arguments of AACR-Bench's evaluator runner, one pull request at a time."""

from __future__ import annotations

import asyncio
import json
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum
from pathlib import Path
from typing import Any

from metareview.comments.align import MODES, Mode
from metareview.comments.case import Case, Rules
from metareview.comments.filters import FilterConfig
from metareview.comments.measures import (
    f1,
    false_positive_rate,
    positive_match_rate,
    positive_recall_rate,
    unmatched_rate,
)
from metareview.comments.records import CommentRecord
from metareview.errors import InputError, UsageError, did_you_mean
from metareview.formats.comments import aacr_text
from metareview.formats.comments.jsonl import MEANT_OF_COMMENT
from metareview.formats.input_file import InputFile
from metareview.judges.registry import open_judge
from metareview.model.comment import Comment, ReferenceSet, Review, normal_path
from metareview.pipelines.comments.answer import answer_in_batches
from metareview.pipelines.comments.count import records_of
from metareview.runs.comments_json import record_to_json

_ITSELF = "generated_comments and good_comments are the same object: it is scored against itself"
_NOT_APPLIED = (
    "filters of pull requests are not applied without pr_metadata; pass its category and project_main_language"
)
_ABOUT_MEANING = tuple(
    measure.name for measure in (positive_match_rate, positive_recall_rate, f1, unmatched_rate, false_positive_rate)
)


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
    alignment: Mode = "optimal"
    """`greedy` is the runner's own procedure."""

    def __post_init__(self) -> None:
        if self.alignment not in MODES:
            meant = did_you_mean(str(self.alignment), MODES)
            raise UsageError(f"Unknown alignment {self.alignment!r}.{meant} Valid: {', '.join(MODES)}.")
        if self.line_distance_threshold < 0:
            raise UsageError(f"line_distance_threshold must be 0 or more, found {self.line_distance_threshold}.")
        try:
            object.__setattr__(self, "semantic_matcher_type", SemanticMatcherType(self.semantic_matcher_type))
        except ValueError:
            given, names = self.semantic_matcher_type, ", ".join(SemanticMatcherType)
            meant = did_you_mean(str(given), SemanticMatcherType)
            raise UsageError(f"Unknown semantic_matcher_type {given!r}.{meant} Valid: {names}.") from None

    @classmethod
    def with_embedding(cls, line_distance_threshold: int = 1, **settings: Any) -> EvaluatorConfig:
        return cls(line_distance_threshold, SemanticMatcherType.EMBEDDING, **settings)

    @classmethod
    def location_only(cls, line_distance_threshold: int = 1, **settings: Any) -> EvaluatorConfig:
        return cls(line_distance_threshold, enable_semantic_match=False, **settings)

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


def load_generated_comments_from_file(file_path: str | Path) -> list[dict[str, Any]]:
    """The comments of an `aacr-text` file, in order, as the runner's dictionaries: `path`, `side`, `from_line`,
    `to_line` and `note`, each of them always there."""
    return [
        {
            "path": comment.path or "",
            "side": comment.side or "",
            "from_line": comment.from_line,
            "to_line": comment.to_line,
            "note": comment.note,
        }
        for comment in aacr_text.parse(InputFile(Path(file_path)))
    ]


async def get_evaluator_ans_from_json(
    github_pr_url: str,
    generated_comments: Sequence[Comment | Mapping[str, object]],
    good_comments: Sequence[Comment | Mapping[str, object]],
    config: EvaluatorConfig | None = None,
    pr_metadata: Mapping[str, str | None] | None = None,
    negatives: Sequence[Comment | Mapping[str, object]] | None = None,
) -> dict[str, Any]:
    """Score one pull request; the keys are those of the runner's output, and metareview's own beside them.

    `pr_metadata` holds `category` and `project_main_language`, which the pull request filters go by; without it they
    are not applied, with a warning. `negatives`: rejected comments, which turn on `false_positive_rate`. Where
    meaning is not asked (`location_only`), counts about meaning are 0, lists empty and rates None. One object on both
    sides, which is then scored against itself, is told under `warnings`.
    """
    config = config or EvaluatorConfig()
    metadata = pr_metadata or {}
    generated = Review(github_pr_url, _comments(generated_comments, "generated_comments"))
    expected = _comments(good_comments, "good_comments")
    reference = Review(
        github_pr_url, expected, language=metadata.get("project_main_language"), pr_category=metadata.get("category")
    )
    rejected = None if negatives is None else Review(github_pr_url, _comments(negatives, "negatives"))
    filters = config.filter_config or FilterConfig()
    filters.check(ReferenceSet({reference.key: reference}))
    ignored = pr_metadata is None and filters.drops_pull_requests
    rules = Rules(
        line_distance=config.line_distance_threshold,
        alignment=config.alignment,
        location=any(normal_path(comment.path) for comment in expected) or not expected,
        meaning=config.enable_semantic_match,
        filters=filters.of_comments() if ignored else filters,
        negatives=rejected is not None,
    )
    if not rules.location and not rules.meaning:
        raise UsageError("location_only needs references with a path, and none of good_comments has one.")
    case = Case.of("generated", generated, reference, rejected, rules)
    # In a thread of its own, so that a judge that waits for a model does not hold up the caller's event loop.
    record = await asyncio.to_thread(_score, case, config)
    if ignored:
        warnings.warn(f"{github_pr_url}: {_NOT_APPLIED}", stacklevel=2)
    same = bool(generated_comments) and generated_comments is good_comments
    told = [text for text, holds in ((_NOT_APPLIED, ignored), (_ITSELF, same)) if holds]
    return record_to_json(record if rules.meaning or record.skipped else _without_meaning(record)) | {"warnings": told}


def _score(case: Case, config: EvaluatorConfig) -> CommentRecord:
    with open_judge(str(config.semantic_matcher_type) if config.enable_semantic_match else "none") as judge:
        [(_, _, record)] = records_of(answer_in_batches([case], judge))
    return record


def _without_meaning(record: CommentRecord) -> CommentRecord:
    """The record with its figures by location alone: nothing was matched by meaning, repeated, or judged."""
    counts = replace(record.counts, matched=0, covered=0, unmatched=0, negatives_matched=0)
    return replace(
        record,
        counts=counts,
        rates={**record.rates, **dict.fromkeys(_ABOUT_MEANING)},
        judged_pairs=0,
        slices={
            dimension: {value: replace(tally, covered=0) for value, tally in tallies.items()}
            for dimension, tallies in record.slices.items()
        },
        comments=[replace(each, reference=None, negative=None, verdict=None, repeats=None) for each in record.comments],
        matches=(),
        references=tuple(replace(each, covered=False) for each in record.references),
        repeated=0,
    )


def _comment(value: object) -> Comment:
    """A comment from a dictionary, with the checks of a file. Fields of the data set that we do not use are fine; one
    that stands in the place of a field of ours is not."""
    text = json.dumps(dict(value) if isinstance(value, Mapping) else value, default=str)
    [record] = InputFile.of_text(text, "comment").json.records("a comment")
    for key in record.value:
        meant = MEANT_OF_COMMENT.get(key)
        if meant in ("note", "path", "from_line") and meant not in record.value:
            record.fail(None, f"{meant} is missing, and {key!r} is not known", f"Did you mean {meant}?")
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
