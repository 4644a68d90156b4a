"""How judges, routers and formats are found, all three in the same way.

A plug-in is known by its name: a module of our own folder for its kind, one module per plug-in, or an entry point
of an installed package. A user's own needs no installation: `package.module:factory` names it too, and it alone may lie
in the working folder. What a module or an entry point holds is loaded when it is used, so that listing names costs
nothing.
"""

from __future__ import annotations

import importlib
import pkgutil
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import cached_property
from importlib.metadata import entry_points

from metareview import __version__
from metareview.errors import MetareviewError, UsageError, did_you_mean
from metareview.working_folder import importable

BUILT_IN = f"metareview {__version__}"


@dataclass(frozen=True, slots=True)
class InstalledPlugin:
    """A plug-in that is installed: its name, the package that brings it, and `module:attribute` to load it from."""

    name: str
    origin: str
    target: str

    @property
    def built_in(self) -> bool:
        return self.origin == BUILT_IN


@dataclass(frozen=True)
class Registry:
    """All plug-ins of one kind, such as judges.

    `folder` is the package whose modules are our own, each with its `PLUGIN`; a hyphen in a plug-in's name is an
    underscore in its module's. `group` is the entry point group of other packages.
    """

    kind: str
    folder: str
    group: str
    order: tuple[str, ...] = ()
    """Names that come first, in this order; any other of our own follows by its name."""
    aliases: Mapping[str, str] = field(default_factory=dict)
    """Further names of our own: the plug-in that each stands for."""

    @cached_property
    def installed(self) -> Mapping[str, InstalledPlugin]:
        """By name: our own first, then those of other packages, which cannot take a name of ours."""
        package = importlib.import_module(self.folder)
        modules = {module.name.replace("_", "-"): module.name for module in pkgutil.iter_modules(package.__path__)}
        names = [*self.order, *(name for name in modules if name not in self.order)]
        own = [InstalledPlugin(name, BUILT_IN, f"{self.folder}.{modules[name]}:PLUGIN") for name in names]
        others = [
            InstalledPlugin(point.name, f"{point.dist.name} {point.dist.version}" if point.dist else "?", point.value)
            for point in sorted(entry_points(group=self.group), key=lambda point: point.name)
        ]
        return {found.name: found for found in (*own, *others) if found.built_in or found.name not in modules}

    def names(self) -> list[str]:
        return list(self.installed)

    def name_of(self, spec: str) -> str:
        """The name that is listed, of an alias; any other as it is."""
        return self.aliases.get(spec, spec)

    def is_built_in(self, spec: str) -> bool:
        """True if it is the name of one that ships with the package."""
        known = self.installed.get(self.name_of(spec))
        return known is not None and known.built_in

    def load(self, spec: str) -> object:
        """The object of a name or `package.module:factory`; UsageError with the fix where there is none."""
        known = self.installed.get(self.name_of(spec))
        if known is None and ":" not in spec:
            names = f"The {self.kind}s are {', '.join(self.names())}, or package.module:factory for one of your own."
            raise UsageError(f"Unknown {self.kind} {spec!r}.{did_you_mean(spec, self.names())} {names}")
        what = f"{self.kind} {spec}"
        if known is not None:
            return _load_object(known.target, what)
        with importable(spec.partition(":")[0]) as has_folder:
            return _load_object(spec, what, "" if has_folder else _NO_FOLDER)


_NO_FOLDER = " The working folder was deleted, so only installed modules are found: go to a folder that exists."


def _load_object(target: str, what: str, hint: str = "") -> object:
    """The object at `package.module:attribute`; UsageError where there is none, with the hint at its end."""
    module, _, path = target.partition(":")
    if not module or not path:
        raise UsageError(f"{what}: {target!r} is not package.module:factory.")
    try:
        found: object = importlib.import_module(module)
        for attribute in path.split("."):
            found = getattr(found, attribute)
    except (Exception, SystemExit) as error:  # a module may raise anything, or exit, while it is imported
        fix = "Check the module's name, the factory's name and the Python path."
        raise UsageError(f"{what}: cannot be loaded ({type(error).__name__}: {error}). {fix}{hint}") from error
    return found


@contextmanager
def user_errors(what: str, fix: str, owner: object = None) -> Iterator[None]:
    """Report whatever code of the user's raises, or exits with, as a UsageError that names it.

    `owner`: an object of the user's whose code runs among ours; without it, all code within is the user's.
    """
    try:
        yield
    except MetareviewError:
        raise
    except (Exception, SystemExit) as error:  # code that exits must not end the run as if it were done
        if owner is not None and isinstance(error, Exception) and not _raised_within(error, owner):
            raise
        raise UsageError(f"{what} raised {type(error).__name__}: {error}. {fix}") from error


def _raised_within(error: Exception, owner: object) -> bool:
    """True if the error came through code of the modules that define this object's class."""
    modules = {kind.__module__ for kind in type(owner).__mro__}
    frames = (frame for frame, _ in traceback.walk_tb(error.__traceback__))
    names = (str(frame.f_globals.get("__name__")) for frame in frames)
    return any(name in modules and not name.startswith("metareview.") for name in names)
