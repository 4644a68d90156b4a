"""What lists are steered by, all of it in the address: filters, the column to sort by, the page."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import urlencode

from metareview.report.numbers import count
from metareview.report.page.markup import Html, html

Query = Mapping[str, str]
PER_PAGE = 50
_FIELD = "<label>{}{}</label>"
_MOST_CHOICES = 200


def address(path: str, query: Query, /, **changes: object) -> str:
    """The path with the query and some changes to it; what is None or empty is left out."""
    kept = [(name, str(value)) for name, value in {**query, **changes}.items() if value not in (None, "")]
    return f"{path}?{urlencode(kept, errors='replace')}" if kept else path


def number(query: Query, name: str, default: int, most: int = 10**9) -> int:
    """A whole number of the query that is at least 1, or the default."""
    text = query.get(name, "")
    return min(max(int(text), 1), most) if text.isascii() and text.isdigit() and len(text) < 12 else default


def decimal(query: Query, name: str) -> float | None:
    """A number of the query; None where it is none."""
    try:
        value = float(query.get(name, "").strip()[:40].replace(",", "."))
    except ValueError:
        return None
    return value if value == value and abs(value) != float("inf") else None


@dataclass(frozen=True)
class Sorting:
    """The column that a list is sorted by, and in which direction."""

    by: str
    descending: bool

    @classmethod
    def of(cls, query: Query, columns: Mapping[str, bool], default: str) -> Sorting:
        """`columns`: by name, whether it is first sorted with the largest on top. `-name` turns it around."""
        text = query.get("sort", "")
        name = text.removeprefix("-")
        if name not in columns:
            return cls(default, columns[default])
        return cls(name, columns[name] != text.startswith("-"))

    def head(self, label: str, name: str, columns: Mapping[str, bool], path: str, query: Query) -> Html:
        """The head of a column: a link that sorts by it, and turns the order around where it is the one."""
        if name != self.by:
            return html('<a class="sort" href="{}">{}</a>', address(path, query, sort=name, page=None), label)
        turned = f"-{name}" if self.descending == columns[name] else name
        mark, said = ("▼", "sorted, largest first") if self.descending else ("▲", "sorted, smallest first")
        return html(
            '<a class="sort here" href="{}">{} <span aria-hidden="true">{}</span><span class="unseen">, {}</span></a>',
            address(path, query, sort=turned, page=None),
            label,
            mark,
            said,
        )


def choice(name: str, label: str, query: Query, options: Iterable[tuple[str, str]], everything: str = "any") -> Html:
    """A field to choose one value; `options`: values and what they are called."""
    chosen = query.get(name, "")
    listed = list(options)[:_MOST_CHOICES]
    if chosen and chosen not in dict(listed):
        listed.append((chosen, chosen))
    items = [
        html('<option value="{}"{}>{}</option>', value, html(" selected") if value == chosen else None, title)
        for value, title in listed
    ]
    control = html('<select name="{}"><option value="">{}</option>{}</select>', name, everything, items)
    return html(_FIELD, label, control)


def entry(name: str, label: str, query: Query, kind: str = "search", hint: str = "") -> Html:
    """A field to type into; `kind` as HTML knows it, `score` for a number from 0 to 1."""
    given = query.get(name, "")
    how = html('inputmode="decimal" size="5"') if kind == "score" else html('type="search"')
    return html(_FIELD, label, html('<input name="{}" value="{}" placeholder="{}" {}>', name, given, hint, how))


def form(path: str, query: Query, fields: Sequence[Html], names: Iterable[str], label: str) -> Html:
    """A form that puts its fields into the address; what else is there, such as the order, stays."""
    own = {*names, "page"}
    kept = [html('<input type="hidden" name="{}" value="{}">', key, query[key]) for key in query if key not in own]
    filtered = any(query.get(name) for name in names)
    clear = html('<a class="clear" href="{}">Clear</a>', path) if filtered else None
    return html(
        '<form class="filters" method="get" action="{}" role="search" aria-label="{}">{}{}'
        '<div class="go"><button type="submit">Show</button>{}</div></form>\n',
        path,
        label,
        fields,
        kept,
        clear,
    )


def pager(path: str, query: Query, page: int, total: int, per_page: int = PER_PAGE) -> Html | None:
    """Links to the other pages of a list; None where there is but one."""
    last = max(1, -(-total // per_page))
    if last == 1:
        return None
    steps = [
        ("First", 1 if page > 2 else None),
        ("Previous", page - 1 if page > 1 else None),
        ("Next", page + 1 if page < last else None),
        ("Last", last if page < last - 1 else None),
    ]
    links = [
        html('<li><a href="{}">{}</a></li>', address(path, query, page=to if to > 1 else None), label)
        for label, to in steps
        if to is not None
    ]
    return html(
        '<nav class="pager" aria-label="Pages"><p>Page {} of {}</p><ul>{}</ul></nav>\n', count(page), count(last), links
    )
