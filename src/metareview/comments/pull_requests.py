"""Which pull request of the reference set a review is about."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from metareview.model.address import repository_and_number
from metareview.model.comment import Review, Skipped


class PullRequestIndex:
    """Finds the pull request that a review is about among the references: by address, or by repository and number."""

    def __init__(self, keys_to_urls: Mapping[str, str]) -> None:
        self._keys = keys_to_urls
        self._by_name: dict[str, list[str]] = {}
        for key, url in keys_to_urls.items():
            self._by_name.setdefault(_short(url), []).append(key)

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
            reason = "nothing says which pull request it is about; name it comments_{repo}_{number}.txt"
        else:
            reason = f"its pull request {review.pr} is not in the reference set"
        return Skipped(review.source, reason)


def _short(pr: str) -> str:
    """`repo#number`, whatever else is known of it."""
    parts = repository_and_number(pr)
    return f"{parts[0]}#{parts[1]}".casefold() if parts else pr.casefold()
