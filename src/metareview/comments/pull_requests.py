"""Which pull request of the reference set a review is about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from metareview.model.address import pull_request_key, repository_and_number
from metareview.model.comment import Review, Skipped


class PullRequestIndex:
    """Finds the pull request that a review is about among the references: by address, or by repository and number."""

    def __init__(self, references: Mapping[str, Review]) -> None:
        self._keys = references
        self._by_name: dict[str, list[str]] = {}
        for key, review in references.items():
            for name in dict.fromkeys((_short(review.pr), _with_owner(review.pr), *map(_short, review.other_names))):
                self._by_name.setdefault(name, []).append(key)

    def find(self, review: Review) -> str | Skipped:
        """The reference set's key, or why there is none. Never a guess."""
        if review.key in self._keys:
            return review.key
        # An address is only met by its short name where one of the two is no more than a short name itself.
        named = [key for key in self._by_name.get(_short(review.pr), []) if "/" not in review.pr or "/" not in key]
        if len(named) == 1:
            return named[0]
        if named:
            reason = f"{review.pr} may be any of {', '.join(named)}; give the full address (jsonl)"
        elif review.pr == Path(review.source).name:
            reason = "nothing says which pull request it is about; name it comments_{repo}_{number}.txt, or give --pr"
        else:
            reason = f"its pull request {review.pr} is not in the reference set"
        return Skipped(review.source, reason)


def _with_owner(pr: str) -> str:
    """`owner_repo#number`, as files may be named."""
    return pull_request_key(pr).partition("/")[2].replace("/", "_")


def _short(pr: str) -> str:
    """`repo#number`, whatever else is known of it."""
    parts = repository_and_number(pr)
    return f"{parts[0]}#{parts[1]}".casefold() if parts else pr.casefold()
