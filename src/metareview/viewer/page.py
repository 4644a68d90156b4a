"""What every page of the viewer is made of: a title, the way back up, and a body."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from metareview.report.page.markup import Html

Crumb = tuple[str, str]
"""What a page above this one is called, and its address."""


@dataclass(frozen=True)
class Page:
    """One page, before the frame that all pages share."""

    title: str
    body: Html
    crumbs: Sequence[Crumb] = ()
    """The pages above it, the topmost first."""
