"""Which routers there are, and how a fresh one is made for each repository."""

from __future__ import annotations

import copy
import inspect
from collections.abc import Callable, Mapping
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, TypeGuard

from metareview.errors import UsageError
from metareview.plugins import Registry, user_errors
from metareview.routing.harness_router import HarnessRouter, is_harness_router
from metareview.routing.protocol import PlainRouter, Router, RouterSpec
from metareview.routing.user_router import UserRouter

_LOOKUP = ("data_dir", "top_k")
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
    lookup: Mapping[str, Any] = field(default_factory=dict)
    """What a router of the routing harness is told with each question: `data_dir`, `top_k`."""
    lookup_keys: tuple[str, ...] = ()
    """Those of them that the user has given, which another router would not take."""
    looks_up: bool = False
    """Whether it finds its way in the history by itself, so that the replay hides nothing from it."""
    ready: _Ready = field(default_factory=lambda: _Ready(), compare=False, repr=False)

    def fresh(self) -> Router:
        """A router that has observed nothing; UsageError with the reason where that fails."""
        return self.ready.pop() if self.ready else self.make_another()

    def make_another(self) -> Router:
        """A router that nobody else gets: one call of its factory."""
        guard = user_errors(f"router {self.name}: its factory", "Correct the factory.")
        with nullcontext() if self.built_in else guard:
            router = self.make()
        if self.built_in and isinstance(router, Router):
            return router
        with user_errors(f"router {self.name}", "Correct the router."):
            return self._adapted(router)

    def _adapted(self, router: object) -> Router:
        if is_harness_router(router):
            return UserRouter(HarnessRouter(router, **self.lookup), self.name)
        if self.lookup_keys:
            raise UsageError(f"--router-config {self.name}: it does not take {', '.join(self.lookup_keys)}.")
        if _is_router(router):
            return UserRouter(router, self.name)
        raise UsageError(
            f"router {self.name}: its factory returned {type(router).__name__}, which is no router. "
            "Return an object with observe(event) and rank(pull_request)."
        )


class _Ready(list[Router]):
    """Routers that were made to see whether they can be; the first replays take them. Other processes get none."""

    def __reduce__(self) -> tuple[type[_Ready], tuple[()]]:
        return _Ready, ()


def make_router(
    spec: RouterSpec, configs: Mapping[str, Mapping[str, Any]] | None = None, lookup: Mapping[str, Any] | None = None
) -> NamedRouter:
    """The router of a name, of `package.module:factory`, of a factory, or of an object that is one.

    An object is copied for each repository before it has observed anything, and may have a `name`. `configs` has, by
    the router's name, what its factory is to be given; `lookup` is for routers of the routing harness.
    UsageError with the reason where the name is unknown, or where the first router cannot be made.
    """
    named = configured(replace(_name_router(spec), lookup=lookup or {}), configs or {})
    first = named.make_another()
    named.ready.append(first)
    return replace(named, looks_up=isinstance(first, UserRouter) and isinstance(first.router, HarnessRouter))


def configured(named: NamedRouter, configs: Mapping[str, Mapping[str, Any]]) -> NamedRouter:
    """The router with its configuration, if it has one: whole where its factory takes `config`, else key by key.

    UsageError where it takes none, or other keys.
    """
    config = configs.get(named.name)
    if config is None:
        return named
    takes: Mapping[str, inspect.Parameter] = {}
    if not named.built_in and not isinstance(named.make, partial):  # What is no factory is a copy of an object.
        try:
            takes = inspect.signature(named.make).parameters
        except (TypeError, ValueError):
            takes = {}
    if "config" not in takes and (for_lookup := {key: config[key] for key in _LOOKUP if key in {*config} - {*takes}}):
        _check_lookup(named.name, for_lookup)
        named = replace(named, lookup={**named.lookup, **for_lookup}, lookup_keys=tuple(for_lookup))
        config = {key: value for key, value in config.items() if key not in for_lookup}
        if not config:
            return named
    if not takes:
        raise UsageError(f"--router-config {named.name}: this router takes no configuration. Leave it out.")
    given = {"config": copy.deepcopy(dict(config))} if "config" in takes else dict(config)
    try:
        inspect.signature(named.make).bind(**given)
    except TypeError as error:
        names = ", ".join(takes)
        raise UsageError(
            f"--router-config {named.name}: its factory does not take these keys ({error}). It takes {names}."
        ) from None
    return replace(named, make=partial(named.make, **given))


def _check_lookup(name: str, config: Mapping[str, Any]) -> None:
    top_k = config.get("top_k", 1)
    if type(top_k) is not int or top_k < 1 or not isinstance(config.get("data_dir", ""), str):
        raise UsageError(f"--router-config {name}: data_dir is the name of a folder, top_k a whole number from 1.")


def _name_router(spec: RouterSpec) -> NamedRouter:
    if isinstance(spec, str):
        factory = ROUTERS.load(spec)
        if not callable(factory):
            raise UsageError(f"router {spec}: {type(factory).__name__} is not callable. Name a function or a class.")
        named = NamedRouter(spec, factory, spec in built_in_routers())
    elif (_is_router(spec) or is_harness_router(spec)) and not isinstance(spec, type):
        name = getattr(spec, "name", None)
        own = name if isinstance(name, str) and name else type(spec).__name__
        named = NamedRouter(own, partial(copy.deepcopy, spec))
    elif callable(spec):
        named = NamedRouter(str(getattr(spec, "__name__", type(spec).__name__)), spec)
    else:
        raise UsageError(
            f"{type(spec).__name__} is no router. Give a name, package.module:factory, or an object with "
            "observe(event) and rank(pull_request)."
        )
    return named


def _is_router(thing: object) -> TypeGuard[PlainRouter]:
    return callable(getattr(thing, "observe", None)) and callable(getattr(thing, "rank", None))
