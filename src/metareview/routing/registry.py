"""Which routers there are, and how a fresh one is made for each repository."""

from __future__ import annotations

import copy
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from typing import TypeGuard

from metareview.errors import UsageError
from metareview.plugins import Registry
from metareview.routing.protocol import PlainRouter, Router, RouterSpec
from metareview.routing.user_router import UserRouter

ROUTERS = Registry(
    "router",
    "metareview.routing.routers",
    "metareview.routers",
    order=("mentions", "popularity", "recency", "codeowners", "revfinder", "chrev"),
)


def built_in_routers() -> list[str]:
    """The names of our own, in the order in which they are shown."""
    return [found.name for found in ROUTERS.installed.values() if found.built_in]


@dataclass(frozen=True, slots=True)
class NamedRouter:
    """A router's name, and how one is made."""

    name: str
    make: Callable[[], object]
    built_in: bool = False
    """What goes wrong in a router of our own is a defect of ours, not a mistake of the user's."""

    def fresh(self) -> Router:
        """A router that has observed nothing; UsageError with the reason where that fails."""
        try:
            router = self.make()
        except UsageError:
            raise
        except (Exception, SystemExit) as error:  # A factory that exits must not end the run as if it were done.
            raise UsageError(
                f"router {self.name}: its factory raised {type(error).__name__}: {error}. Correct the factory."
            ) from error
        if self.built_in and isinstance(router, Router):
            return router
        if not _is_router(router):
            raise UsageError(
                f"router {self.name}: its factory returned {type(router).__name__}, which is no router. "
                "Return an object with observe(event) and rank(pull_request)."
            )
        return UserRouter(router, self.name)


def make_router(spec: RouterSpec) -> NamedRouter:
    """The router of a name, of `package.module:factory`, of a factory, or of an object that is one.

    An object is copied for each repository before it has observed anything, and may have a `name`.
    UsageError with the reason where the name is unknown, or where the first router cannot be made.
    """
    named = _name(spec)
    named.fresh()
    return named


def _name(spec: RouterSpec) -> NamedRouter:
    if isinstance(spec, str):
        factory = ROUTERS.load(spec)
        if not callable(factory):
            raise UsageError(f"router {spec}: {type(factory).__name__} is not callable. Name a function or a class.")
        return NamedRouter(spec, factory, spec in built_in_routers())
    if _is_router(spec) and not isinstance(spec, type):
        name = getattr(spec, "name", None)
        return NamedRouter(
            name if isinstance(name, str) and name else type(spec).__name__, partial(copy.deepcopy, spec)
        )
    if callable(spec):
        return NamedRouter(str(getattr(spec, "__name__", type(spec).__name__)), spec)
    raise UsageError(
        f"{type(spec).__name__} is no router. Give a name, package.module:factory, or an object with "
        "observe(event) and rank(pull_request)."
    )


def _is_router(thing: object) -> TypeGuard[PlainRouter]:
    return callable(getattr(thing, "observe", None)) and callable(getattr(thing, "rank", None))
