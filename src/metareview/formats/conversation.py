"""All that was posted on one pull request, as the API of GitHub or GitLab answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metareview.model.comment import Comment, Review


@dataclass(frozen=True, slots=True)
class ApiConversation:
    """Comments and reviewers of one pull request."""

    about: Review
    """The pull request, without a reviewer."""
    comments: Sequence[Comment]
    """Each with its author."""
    silent: Sequence[str]
    """Those who reviewed, and may have written nothing."""
