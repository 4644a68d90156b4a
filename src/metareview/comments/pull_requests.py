"""Which pull request of the reference set a review is about."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from metareview.model.address import AddressBook, parse_address
from metareview.model.comment import Review, Skipped


class PullRequestIndex:
    """Finds the pull request that a review is about among the references: by address, or by repository and number."""

    def __init__(self, references: Mapping[str, Review]) -> None:
        self._references = references
        self._book = AddressBook({key: (review.pr, *review.other_names) for key, review in references.items()})

    def find_all(self, reviews: Iterable[Review]) -> tuple[list[Review], list[Skipped]]:
        """The reviews that are about one of them, with its address, and why the others are not.

        A reference that is named shortly may be met by one full address, and not by two.
        """
        found = [(review, self.find(review)) for review in reviews]
        full: dict[str, dict[str, str]] = {}
        for review, key in found:
            if isinstance(key, str) and key != review.key and _is_full(review.pr):
                full.setdefault(key, {}).setdefault(review.key, review.pr)
        known, skipped = [], []
        for review, key in found:
            if isinstance(key, str) and len(full.get(key, ())) > 1 and review.key in full[key]:
                pr, several = self._references[key].pr, ", ".join(full[key])
                key = Skipped(review.source, f"{pr} of the references may be any of {several}; give its full address")
            if isinstance(key, Skipped):
                skipped.append(key)
            else:
                pr = self._references[key].pr
                known.append(review if review.pr == pr else replace(review, pr=pr))
        return known, skipped

    def find(self, review: Review) -> str | Skipped:
        """The reference set's key, or why there is none. Never a guess."""
        named = self._book.find(review.pr, *review.other_names)
        if len(named) == 1:
            return named[0]
        if named:
            reason = f"{review.pr} may be any of {', '.join(named)}; give the full address (jsonl)"
        elif review.pr == Path(review.source).name:
            reason = "nothing says which pull request it is about; name it comments_{repo}_{number}.txt, or give --pr"
        else:
            reason = f"its pull request {review.pr} is not in the reference set"
        return Skipped(review.source, reason)


def _is_full(pr: str) -> bool:
    address = parse_address(pr)
    return address is not None and address.host is not None
