"""The lists of outcomes in words: what each is called, and what an entry says became of its comment."""

from __future__ import annotations

from collections.abc import Mapping

from metareview.comparison.outcome_evidence import OutcomeEvidence
from metareview.model.words import plural
from metareview.outcomes.records import CommentOutcome
from metareview.report.numbers import count

NAMES: Mapping[str, str] = {
    "heeded": "Heeded",
    "unheeded": "Not heeded",
    "rejected": "Turned down",
    "repeated": "Repeated",
    "cannot-tell": "Cannot tell",
    "undecided": "Undecided",
}
_WHAT: Mapping[str, tuple[str, str]] = {
    "heeded": ("comment that was heeded, as far as can be told", "comments that were heeded, as far as can be told"),
    "unheeded": (
        "comment whose lines stayed as they were, or that was not addressed",
        "comments whose lines stayed as they were, or that were not addressed",
    ),
    "rejected": ("comment that people turned down", "comments that people turned down"),
    "repeated": ("comment that says again what was said", "comments that say again what was said"),
    "cannot-tell": (
        "comment of which the data cannot tell whether its lines changed",
        "comments of which the data cannot tell whether their lines changed",
    ),
    "undecided": ("comment that the judge left undecided", "comments that the judge left undecided"),
}
ORDERING = "the most severe first, then by pull request"
_SHOWN_COMMITS = 3


def what(name: str, evidence: OutcomeEvidence) -> str:
    return plural(evidence.counts[name], *_WHAT[name])


def title(name: str, evidence: OutcomeEvidence) -> str:
    return f"{NAMES[name]}: {what(name, evidence)}"


def became(outcome: CommentOutcome) -> list[str]:
    """What became of a comment, a phrase for each thing that is known."""
    return [text for text in (_lines(outcome), *_rest(outcome)) if text]


def _lines(outcome: CommentOutcome) -> str:
    finding = outcome.lines_changed
    if finding.value is None:
        return f"cannot tell whether its lines changed: {finding.reason}" if finding.reason else ""
    if not finding.value:
        return "its lines were not changed"
    commits = [sha[:10] for sha in outcome.changed_by[:_SHOWN_COMMITS]]
    more = len(outcome.changed_by) - len(commits)
    by = f" by {', '.join(commits)}" if commits else ""
    return f"its lines were changed{by}{f' and {more} more' if more > 0 else ''}"


def _rest(outcome: CommentOutcome) -> list[str]:
    taken = {True: "its suggestion was taken", False: "its suggestion was not taken"}
    resolved = {True: "resolved", False: "not resolved"}
    reactions = [word for word, finding in (("liked", outcome.liked), ("disliked", outcome.disliked)) if finding.value]
    again = f"says again what comment {count(outcome.repeats)} says" if outcome.repeats is not None else ""
    verdict = outcome.verdict
    said = ""
    if verdict is not None:
        words = {None: "undecided", "not": "not addressed", "unknown": "cannot tell whether it was addressed"}
        said = words.get(verdict.verdict, f"{verdict.verdict} addressed")
        said += f", says {verdict.by}" + (f" ({verdict.reason})" if verdict.reason else "")
    return [
        said,
        taken.get(outcome.suggestion_taken.value, "") if outcome.suggestion_taken.value is not None else "",
        resolved.get(outcome.resolved.value, "") if outcome.resolved.value is not None else "",
        *reactions,
        again,
    ]
