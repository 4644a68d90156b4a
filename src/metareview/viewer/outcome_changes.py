"""Two reviewers' outcomes side by side: which pull requests made the difference, and the comments behind it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from metareview.comparison.explain import OutcomePair
from metareview.comparison.verdict import Comparison
from metareview.model.address import pull_request_key
from metareview.report.names import pull_request_name
from metareview.report.numbers import signed
from metareview.report.outcomes import IN_BRACKETS
from metareview.report.page.blocks import Section, name, paragraph, table
from metareview.report.page.markup import Html, html, join
from metareview.viewer.links import address_with, within
from metareview.viewer.run_view import RunView

Views = tuple[RunView, RunView]
_LISTS = {"": "all", "heeded": "heeded", "unheeded": "not heeded", "rejected": "turned down"}


def how_compared(result: Comparison, kept: Mapping[str, str]) -> Html | None:
    """What the table’s numbers are over, and the way to the other kind of comparison; None where all is paired."""
    samples = result.samples
    if samples is None:
        return None
    if samples.paired:
        other = within(
            address_with("", {**kept, "common": None}), "Compare all pull requests that each has, not paired"
        )
    else:
        other = within(address_with("", {**kept, "common": 1}), "Compare the pull requests that both have, paired")
    return join([paragraph(IN_BRACKETS, css="muted"), paragraph(other) if samples.shared else None])


def outcome_difference(views: Views, names: tuple[str, str], result: Comparison) -> Html:
    """What added most to the difference, and the lists of both sides' comments."""
    label = result.metrics[result.main].measure.label
    parts: list[Html] = []
    for word, pairs in (("gains", result.explanation.gains), ("losses", result.explanation.losses)):
        shown = [pair for pair in pairs if isinstance(pair, OutcomePair)]
        if shown:
            caption = f"Largest {word} of B, by what each adds to the difference"
            parts.append(_pairs(caption, label, views, shown))
    parts += [paragraph("No pull request adds to a difference.", css="muted")] if not parts else []
    for side, view, who in zip("AB", views, names, strict=True):
        comments = f"{view.address()}/comments"
        links = [
            within(address_with(comments, {"list": which, "reviewer": who}), text) for which, text in _LISTS.items()
        ]
        parts.append(paragraph(f"Comments of {side}, ", name(who), ": ", join(links, ", ")))
    return Section("changes", "What made the difference", join(parts)).markup()


def _pairs(caption: str, label: str, views: Views, pairs: Sequence[OutcomePair]) -> Html:
    keys = tuple({pull_request_key(pr): pr for pr in view.prs} for view in views)
    columns = [("Pull request", "name"), ("Adds", "num"), *((f"{side}: {label}", "") for side in "AB")]
    rows = [
        [
            name(pull_request_name(pair.pr)),
            signed(pair.effect),
            *(_side(*each, pair.pr) for each in zip(views, keys, (pair.a, pair.b), strict=True)),
        ]
        for pair in pairs
    ]
    return table(caption, columns, rows)


def _side(view: RunView, keys: Mapping[str, str], told: tuple[int, int] | None, pr: str) -> Html:
    if told is None:
        return html('<span class="muted">no comment there</span>')
    text = html("{} of {}", *told)
    known = keys.get(pull_request_key(pr))
    return text if known is None else within(view.address(known), text)
