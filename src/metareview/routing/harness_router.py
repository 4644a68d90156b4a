"""A router of the routing harness behind our protocol: it is asked with `route`, and looks the history up by itself."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, is_dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from metareview.model.event import Event, PullRequest
from metareview.routing.protocol import Ranking

TOP_K = 5
"""How many the harness asks for."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def is_harness_router(thing: object) -> bool:
    """Whether it has the harness's one method, and is none of ours."""
    if callable(getattr(thing, "observe", None)) and callable(getattr(thing, "rank", None)):
        return False
    return callable(getattr(thing, "route", None))


def looks_ahead(name: str) -> str:
    """What a reader of this router's figures should know."""
    return (
        f"{name} has the routing harness's route(): it looks the history up by itself, "
        "and nothing keeps it from looking past the cutoff"
    )


class HarnessRouter:
    """Asks `route(repo=…, pr_number=…, as_of=…, data_dir=…, top_k=…)` at each cutoff, and shows the router nothing.

    `as_of` is the cutoff, in UTC. `data_dir` and `top_k` are passed where the router takes them.
    """

    def __init__(self, router: Any, data_dir: str | Path | None = None, top_k: int = TOP_K) -> None:
        self.router = router
        self._route: Callable[..., object] = router.route
        offered = {"data_dir": None if data_dir is None else str(data_dir), "top_k": top_k}
        taken = _parameters(self._route)
        self._options = {
            name: value for name, value in offered.items() if value is not None and (taken is None or name in taken)
        }

    def observe(self, event: Event) -> None:
        """It has no use for events."""

    def rank(self, pull_request: PullRequest) -> Ranking:
        as_of = _EPOCH + timedelta(microseconds=pull_request.cutoff // 1000)
        result = self._route(repo=pull_request.repo, pr_number=pull_request.pr, as_of=as_of, **self._options)
        if isinstance(result, Ranking):
            return result
        owner = pull_request.repo.partition("/")[0]
        candidates = [(_name(each, owner), _get(each, "score", 0.0)) for each in _listed(result)]
        evidence = {_name(each, owner): _plain(found) for each in _listed(result) if (found := _get(each, "evidence"))}
        if any(later[1] > earlier[1] for earlier, later in pairwise(candidates)):
            # Ranks are those of the list, whatever the scores say.
            candidates = [(login, float(-position)) for position, (login, _) in enumerate(candidates)]
        risk = str(_get(result, "risk", "unknown")).lower()
        return Ranking(candidates, risk, evidence or None, _get(result, "notes", ()))


def _parameters(method: Callable[..., object]) -> set[str] | None:
    """The names that it takes; None: any."""
    parameters = inspect.signature(method).parameters
    if any(each.kind is inspect.Parameter.VAR_KEYWORD for each in parameters.values()):
        return None
    return set(parameters)


def _listed(result: object) -> Sequence[object]:
    candidates = _get(result, "candidates")
    if not isinstance(candidates, Sequence) or isinstance(candidates, str | bytes):
        raise TypeError(f"route returned {type(result).__name__} without a list of candidates")
    return candidates


def _name(candidate: object, owner: str) -> str:
    """A login, or `org/team`."""
    target = _get(candidate, "target", candidate)
    name = str(_get(target, "name", "")).strip().removeprefix("@")
    if not name:
        raise TypeError("a candidate has no target with a name")
    of_team = str(_get(target, "type", "user")).rpartition(".")[2].lower() == "team"
    return f"{owner}/{name}" if of_team and "/" not in name else name


def _get(thing: object, key: str, default: Any = None) -> Any:
    value = thing.get(key) if isinstance(thing, Mapping) else getattr(thing, key, None)
    return default if value is None else value


def _plain(thing: Any) -> Any:
    """What JSON can hold, of models and dataclasses."""
    if isinstance(thing, list | tuple):
        return [_plain(item) for item in thing]
    if callable(dump := getattr(thing, "model_dump", None)):
        return dump(mode="json")
    return asdict(thing) if is_dataclass(thing) and not isinstance(thing, type) else thing
