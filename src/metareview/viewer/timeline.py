"""What happened to a pull request, in order of time: as a list, and as marks on an axis."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from metareview.errors import UsageError
from metareview.model.time import SECOND, parse_span, show_time
from metareview.report.names import in_words
from metareview.report.numbers import duration
from metareview.report.page.blocks import name
from metareview.report.page.charts import line, shape, text
from metareview.report.page.markup import Html, html
from metareview.routing.records import RoutingRecord
from metareview.routing.summary import RoutingConfig

_LEFT, _WIDE, _STEP = 16, 688, 22
"""The axis inside a drawing of 720, and how far apart marks on it, and rows of marks, have to be."""
_AXIS = (
    '<svg class="axis-of-time" viewBox="0 0 720 {}" role="img" aria-label="The moments of the list below on an axis of '
    'time, by their numbers">{}</svg>\n'
)
_ITEM = '<li><time datetime="{at}">{shown}</time> <span class="after">{after}</span> {what}</li>\n'


@dataclass(frozen=True, slots=True)
class Moment:
    at: int
    what: Html
    is_truth: bool = False


def moments(record: RoutingRecord, config: RoutingConfig) -> list[Moment]:
    """Whatever the record knows the time of, in order."""
    return sorted(_moments(record, config), key=lambda moment: moment.at)


def _moments(record: RoutingRecord, config: RoutingConfig) -> Iterator[Moment]:
    author = html(" by {}", name(record.author)) if record.author else None
    yield Moment(record.created_at, html("Opened{}", author))
    yield Moment(record.cutoff, html("Cutoff: routers know what happened until here ({})", in_words(config.cutoff)))
    for event in record.truth.events:
        what = html("<strong>Truth</strong>: {} by {}", in_words(event.kind), name(event.actor))
        yield Moment(event.at, what, is_truth=True)
    known = {event.at for event in record.truth.events if event.kind == "review_submitted"}
    for seconds, first in ((record.ttfr_seconds, "First review"), (record.ttfc_seconds, "First comment")):
        at = None if seconds is None else record.cutoff + round(seconds * SECOND)
        if at is not None and not any(abs(at - other) < SECOND for other in known):
            yield Moment(at, html("{} by somebody eligible", first))
    for span, ended in (
        (config.truth_window, "End of the window: who responds later is no truth"),
        (config.merged_within, "End of the time in which a merge counts"),
    ):
        if span and (length := _length(span)):
            yield Moment(record.cutoff + length, html("{} ({})", ended, span))


def _length(span: str) -> int | None:
    try:
        return parse_span(span, "")
    except UsageError:
        return None


def timeline(record: RoutingRecord, found: Sequence[Moment]) -> Html:
    items = [
        html(
            _ITEM,
            at=show_time(moment.at),
            shown=show_time(moment.at).replace("T", " ").replace("Z", " UTC"),
            after=_after(moment.at - record.created_at),
            what=moment.what,
        )
        for moment in found
    ]
    return html('{}<ol class="timeline">{}</ol>\n', _axis(found), items)


def _after(span: int) -> str:
    if not span:
        return ""
    return f"({duration(abs(span) / SECOND)} {'later' if span > 0 else 'before it was opened'})"


def _axis(found: Sequence[Moment]) -> Html | None:
    """A mark with its number for each moment; those that stand too close go above one another."""
    start, end = found[0].at, found[-1].at
    if start == end:
        return None
    last: list[float] = []
    """How far to the right each row of marks is taken."""
    marks: list[tuple[float, int, int, Moment]] = []
    for position, moment in enumerate(found, 1):
        x = _LEFT + _WIDE * (moment.at - start) / (end - start)
        row = next((k for k, taken in enumerate(last) if x - taken >= _STEP), len(last))
        last[row : row + 1] = [x]
        marks.append((x, row, position, moment))
    base = 14 + _STEP * (len(last) - 1) + 20
    drawn = [line("frame", _LEFT, base, _LEFT + _WIDE, base)]
    drawn += [line("grid", x, base - 20 - _STEP * row, x, base) for x, row, *_ in marks]
    for x, row, position, moment in marks:
        y = base - 20 - _STEP * row
        inside = [shape("circle", "", cx=x, cy=y, r=10), text(str(position), x, y + 4)]
        drawn.append(shape("g", "truth" if moment.is_truth else "", inside))
    drawn += [
        text(show_time(start)[:16].replace("T", " "), _LEFT, base + 18, "start", css="small"),
        text(show_time(end)[:16].replace("T", " "), _LEFT + _WIDE, base + 18, "end", css="small"),
    ]
    return html(_AXIS, base + 26, drawn)
