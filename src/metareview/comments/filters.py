"""Which pull requests and which references are scored."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from enum import StrEnum

from metareview.errors import UsageError, did_you_mean
from metareview.model.comment import Comment, CommentCategory, CommentContext, PRCategory, ProjectLanguage, ReferenceSet


@dataclass(frozen=True)
class FilterConfig:
    """What to keep; an empty filter keeps everything. Values are the enums' or whatever occurs in the data.

    Pull request filters drop pull requests. Comment filters drop references, and with them the comments that
    were aligned to a dropped one, so that precision keeps its meaning.
    """

    pr_categories: Sequence[str] | None = None
    project_languages: Sequence[str] | None = None
    comment_categories: Sequence[str] | None = None
    comment_contexts: Sequence[str] | None = None
    severities: Sequence[str] | None = None
    excluded_producers: Sequence[str] | None = None
    """Models and tools whose references are dropped."""

    def __post_init__(self) -> None:
        for item in fields(self):
            value = getattr(self, item.name)
            if isinstance(value, str):
                raise UsageError(f"{item.name} must be a list of strings, found {value!r}. Write [{value!r}].")
            object.__setattr__(self, item.name, tuple(str(v) for v in value) if value else None)

    def keeps_pull_request(self, language: str | None, category: str | None) -> bool:
        return _keeps(self.project_languages, language) and _keeps(self.pr_categories, category)

    def keeps_comment(self, comment: Comment) -> bool:
        return (
            _keeps(self.comment_categories, comment.category)
            and _keeps(self.comment_contexts, comment.context)
            and _keeps(self.severities, comment.severity)
            and not (self.excluded_producers and self._is_excluded(comment))
        )

    def _is_excluded(self, comment: Comment) -> bool:
        excluded = {producer.casefold() for producer in self.excluded_producers or ()}
        return any(producer.casefold() in excluded for producer in comment.producers)

    @property
    def drops_comments(self) -> bool:
        return bool(self.comment_categories or self.comment_contexts or self.severities or self.excluded_producers)

    @property
    def drops_pull_requests(self) -> bool:
        return bool(self.pr_categories or self.project_languages)

    def of_comments(self) -> FilterConfig:
        """The same without the filters of pull requests."""
        return replace(self, pr_categories=None, project_languages=None)

    def to_dict(self) -> dict[str, list[str] | None]:
        return {f.name: list(v) if (v := getattr(self, f.name)) else None for f in fields(self)}

    def check(self, benchmark: ReferenceSet) -> None:
        """Refuse a value that neither the enums nor the benchmark know: it would leave nothing, silently."""
        reviews = benchmark.references.values()
        comments = [comment for review in reviews for comment in review.comments] if self.drops_comments else []
        known: dict[str, tuple[Iterable[StrEnum], Iterable[str | None]]] = {
            "pr_categories": (PRCategory, (review.pr_category for review in reviews)),
            "project_languages": (ProjectLanguage, (review.language for review in reviews)),
            "comment_categories": (CommentCategory, (comment.category for comment in comments)),
            "comment_contexts": (CommentContext, (comment.context for comment in comments)),
            "severities": ((), (comment.severity for comment in comments)),
            "excluded_producers": ((), (name for comment in comments for name in comment.producers)),
        }
        for name, (enum, occurring) in known.items():
            wanted: Sequence[str] = getattr(self, name) or ()
            valid = {member.value: member.value for member in enum} | {v: v for v in occurring if v}
            folded = {value.casefold() for value in valid}
            for value in wanted:
                if value.casefold() not in folded:
                    problem = f"Unknown {_SINGULAR[name]} {value!r}.{did_you_mean(value, valid)}"
                    named = f"Valid: {'; '.join(sorted(valid))}." if valid else "No reference of this set names one."
                    raise UsageError(f"{problem} {named}")


_SINGULAR = {
    "pr_categories": "pull request category",
    "project_languages": "language",
    "comment_categories": "comment category",
    "comment_contexts": "context",
    "severities": "severity",
    "excluded_producers": "producer",
}


def _keeps(wanted: Sequence[str] | None, value: str | None) -> bool:
    return not wanted or (value is not None and value.casefold() in {w.casefold() for w in wanted})
