"""The routers that come with metareview, and how any other is found: one file a router."""

from __future__ import annotations

import copy
import importlib
from collections.abc import Callable
from functools import partial
from typing import NamedTuple, cast

from metareview.errors import UsageError
from metareview.routing.protocol import Ranking, Router
from metareview.routing.routers.chrev import CHRev
from metareview.routing.routers.codeowners import CodeOwnersRouter
from metareview.routing.routers.mentions import Mentions
from metareview.routing.routers.popularity import Popularity
from metareview.routing.routers.recency import Recency
from metareview.routing.routers.revfinder import RevFinder

__all__ = ["ROUTERS", "NamedRouter", "Ranking", "Router", "make_router"]

ROUTERS: dict[str, Callable[[], Router]] = {
    "mentions": Mentions,
    "popularity": Popularity,
    "recency": Recency,
    "codeowners": CodeOwnersRouter,
    "revfinder": RevFinder,
    "chrev": CHRev,
}
"""The built-in routers in the order in which they are shown. `codeowners` without a file answers nobody."""


class NamedRouter(NamedTuple):
    """A router's name, and how a fresh one is made for each repository."""

    name: str
    make: Callable[[], Router]
    ours: bool = False
    """Built in: what goes wrong in it is a defect of ours, not a mistake of the user's."""

    def fresh(self) -> Router:
        """A router that has observed nothing; UsageError with the reason where that fails."""
        try:
            router = self.make()
        except UsageError:
            raise
        except (
            Exception,
            SystemExit,
        ) as error:  # A factory that exits must not end the run as if it were done.
            raise UsageError(
                f"router {self.name}: its factory raised {type(error).__name__}: {error}. Mend the factory."
            ) from error
        if not _is_router(router):
            raise UsageError(
                f"router {self.name}: its factory returned {type(router).__name__}, which is no router. "
                "Return an object with observe(event) and rank(pull_request)."
            )
        return router


def make_router(spec: str | Router | Callable[[], Router]) -> NamedRouter:
    """The router of a name, of `package.module:factory`, of a factory, or of an object that is one.

    An object is copied for each repository before it has observed anything, and may have a `name`.
    UsageError with the reason where the name is unknown, or where the first router cannot be made.
    """
    named = _find(spec)
    named.fresh()
    return named


def _find(spec: str | Router | Callable[[], Router]) -> NamedRouter:
    if isinstance(spec, str):
        return NamedRouter(spec, ROUTERS[spec], True) if spec in ROUTERS else NamedRouter(spec, _load(spec))
    if _is_router(spec) and not isinstance(spec, type):
        router = cast(Router, spec)
        name = getattr(router, "name", None)
        name = name if isinstance(name, str) and name else type(router).__name__
        return NamedRouter(name, partial(copy.deepcopy, router))
    if callable(spec):
        return NamedRouter(str(getattr(spec, "__name__", type(spec).__name__)), spec)
    raise UsageError(
        f"{type(spec).__name__} is no router. Give a name, package.module:factory, or an object with "
        "observe(event) and rank(pull_request)."
    )


def _load(spec: str) -> Callable[[], Router]:
    module, colon, path = spec.partition(":")
    if not colon or not module or not path:
        raise UsageError(
            f"router {spec!r} is not known. Give one of {', '.join(ROUTERS)}, or package.module:factory."
        )
    try:
        found = importlib.import_module(module)
        for attribute in path.split("."):
            found = getattr(found, attribute)
    except (Exception, SystemExit) as error:  # A module may raise anything, or exit, while it is imported.
        raise UsageError(
            f"router {spec}: cannot be loaded ({type(error).__name__}: {error}). "
            "Check the module's name, the factory's name and the Python path."
        ) from error
    if not callable(found):
        raise UsageError(f"router {spec}: {path} is not callable. Name a function or a class.")
    return found


def _is_router(thing: object) -> bool:
    return callable(getattr(thing, "observe", None)) and callable(getattr(thing, "rank", None))
