"""Pages of GraphQL's answers that were not fetched: missing comments must not look like silence."""

from __future__ import annotations

from typing import Any

from metareview.formats.input_file import InputFile


def missing_pages(file: InputFile) -> int:
    """How many lists of the file go on on a page that it does not have: lists of one name of one owner, of which no
    page is the last."""
    if b'"hasNextPage"' not in file.data:
        return 0
    goes_on: dict[tuple[object, ...], bool] = {}
    stack: list[tuple[Any, object, tuple[str, ...]]] = [(document.value, None, ()) for document in file.json]
    while stack:
        value, owner, names = stack.pop()
        if isinstance(value, list):
            stack += [(item, owner, names) for item in value if isinstance(item, dict | list)]
        elif isinstance(value, dict):
            page = value.get("pageInfo")
            if isinstance(page, dict):
                goes_on[owner, *names] = goes_on.get((owner, *names), True) and page.get("hasNextPage") is True
            names_of_owner = (value[name] for name in ("url", "number", "id") if isinstance(value.get(name), str | int))
            owner = next(names_of_owner, owner)
            stack += [(each, owner, (*names, name)) for name, each in value.items() if isinstance(each, dict | list)]
    return sum(goes_on.values())
