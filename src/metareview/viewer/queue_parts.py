"""What every labelling queue is made of: its form, its keys, the way back and forth, who labels, how far they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Protocol

from metareview.comparison.strata import BUDGET
from metareview.model.label import Label, Labels
from metareview.report.page.blocks import name
from metareview.report.page.markup import Html, html, join
from metareview.viewer.labelling import ISSUES
from metareview.viewer.links import address_with, within
from metareview.viewer.run_view import RunView

_MOST_NAMES = 8
_HIDDEN = '<input type="hidden" name="{}" value="{}">'
QUEUE = '<div class="queue"><div class="question">{}</div><div class="beside">{}</div></div>\n'
CARD = '<article class="card"><div class="head"><h3>{}</h3></div><p class="where">{}</p>{}</article>\n'
_KEY = (
    '<button name="verdict" value="{value}" data-key="{key}" aria-keyshortcuts="{key}"{pressed}>'
    "<kbd>{key}</kbd> {text}</button>"
)
_PROGRESS = (
    '<p class="tally"><span><b>{}</b></span><progress max="{}" value="{}" aria-label="Labelled">{}</progress>'
    "<span>{} of {} labelled</span></p>\n"
)
_DRAW = (
    '<form class="draw" method="post" action="{}"><input type="hidden" name="token" value="{}">'
    '<input type="hidden" name="kind" value="{}">'
    '<label>How many {} <input name="budget" value="{}" inputmode="numeric" size="5" required></label> '
    '<button type="submit">Draw the sample</button></form>\n'
)
_WHO = (
    '<form class="labeller" method="get" action="{}"><label>Labelling as '
    '<input name="name" value="{}" placeholder="nobody in particular" size="16" maxlength="80"></label> '
    '<button type="submit">Change</button></form>\n'
)
_UNDO = (
    '<form class="inline" method="post" action="{}">{}<button data-key="u" aria-keyshortcuts="u"{}><kbd>u</kbd> Undo'
    "</button></form>"
)


class Labeller(Protocol):
    """The labels of a run, seen by one person."""

    @property
    def view(self) -> RunView: ...
    @property
    def name(self) -> str | None: ...
    @property
    def labels(self) -> Labels: ...
    def last(self, *, issues: bool) -> Label | None: ...


def buttons(keys: Mapping[str, tuple[str, str]], pressed: str | None) -> list[Html]:
    return [
        html(
            _KEY,
            value=value,
            key=key,
            text=text,
            pressed=None if pressed is None else html(' aria-pressed="{}"', "true" if value == pressed else "false"),
        )
        for key, (value, text) in keys.items()
    ]


def form(labelling: Labeller, fields: Mapping[str, object], here: str, buttons: Sequence[Html]) -> Html:
    hidden = [
        html(_HIDDEN, *item) for item in _with_who(labelling, {**fields, "next": _address(labelling, here)}).items()
    ]
    return html(
        '<form class="answers" method="post" action="{}/labels">{}{}</form>\n',
        labelling.view.address(),
        hidden,
        buttons,
    )


def _with_who(labelling: Labeller, fields: Mapping[str, object]) -> dict[str, object]:
    return {"token": labelling.view.token, "name": labelling.name or "", **fields}


def _address(labelling: Labeller, here: str, n: int | None = None) -> str:
    return address_with(here, {"name": labelling.name, "n": n})


def steps(labelling: Labeller, here: str, at: int, drawn: int, kind: str, *, back_key: str = "k") -> Html:
    """To the questions before and after this one, and back to before the last answer; `at` 0: after the last."""
    back, later = (at or drawn + 1) - 1, at + 1
    links = [_step(back_key, "Back", _address(labelling, here, back))] if 1 <= back <= drawn else []
    links += [_step("j", "Later", _address(labelling, here, later))] if at and later <= drawn else []
    fields = _with_who(labelling, {"kind": kind, "next": _address(labelling, here)})
    hidden = [html(_HIDDEN, *item) for item in fields.items()]
    nothing = labelling.last(issues=kind == ISSUES) is None
    undo = html(_UNDO, f"{labelling.view.address()}/undo", hidden, html(" disabled") if nothing else None)
    return html('<div class="moves">{}{}</div>\n', links, undo)


def _step(key: str, text: str, address: str) -> Html:
    return html(
        '<a class="step" href="{}" data-key="{}" aria-keyshortcuts="{}"><kbd>{}</kbd> {}</a>',
        address,
        key,
        key,
        key,
        text,
    )


def progress(what: str, of: int, done: int) -> Html:
    return html(_PROGRESS, f"{what} of {of:,}", of, done, f"{done} of {of}", f"{done:,}", f"{of:,}")


def who(labelling: Labeller, here: str, labels: Labels) -> Html:
    """Who labels, and who else has: the figures are made of everybody's labels, the queue is one's own. `labels`: those
    of the things that the page is about."""
    form = html(_WHO, here, labelling.name or "")
    others = [each for each in labels.people() if each != labelling.name and labels.of(each).in_force()]
    if not others:
        return form
    links = [
        within(address_with(here, {"name": each}), name(each)) if each else html("somebody without a name")
        for each in others[:_MOST_NAMES]
    ]
    more = f" and {len(others) - _MOST_NAMES} more" if len(others) > _MOST_NAMES else ""
    return join([form, html('<p class="muted">Also labelled by {}{}.</p>\n', join(links, ", "), more)])


def draw(labelling: Labeller, kind: str, what: str, budget: int = BUDGET) -> Html:
    return html(_DRAW, f"{labelling.view.address()}/draw", labelling.view.token, kind, what, budget)
