"""Read what a routing evaluation is given: the history, predictions, CODEOWNERS."""

from __future__ import annotations

import gc
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from metareview.errors import UsageError
from metareview.formats.codeowners import OwnersByCommit
from metareview.formats.predictions import read_predictions
from metareview.formats.registry import read_history, several
from metareview.formats.router_config import read_router_config
from metareview.formats.source import Progress, content_hash
from metareview.model.address import repository_key
from metareview.model.event import History
from metareview.model.prediction import Prediction, Predictions
from metareview.pipelines.routing.options import RoutingOptions


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that was read."""

    history: History
    predictions: tuple[Predictions, ...] = ()
    codeowners: OwnersByCommit | None = None
    router_config: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def router_hashes(self) -> dict[str, str]:
        """By router, a hash of what its factory is given, whatever the order of its keys."""
        texts = {name: json.dumps(config, sort_keys=True) for name, config in self.router_config.items()}
        return {name: hashlib.sha256(text.encode()).hexdigest() for name, text in texts.items()}


def read(options: RoutingOptions, progress: Progress | None = None) -> Inputs:
    """The inputs; InputError names the file, and the line, that cannot be read. `progress` is told of megabytes."""
    configs = {
        name: given if isinstance(given, Mapping) else read_router_config(given)
        for name, given in (options.router_config or {}).items()
    }
    predictions = tuple(each for path in several(options.predictions) for each in read_predictions(path))
    owners = None if options.codeowners is None else OwnersByCommit(options.codeowners)
    # What is quickly read, and refused, comes first. A history is millions of objects that form no cycle.
    with garbage_collection_paused():
        history = read_history(options.history, progress=progress)
    return Inputs(history, _as_named_in(history, predictions), owners, configs)


def _as_named_in(history: History, predictions: Iterable[Predictions]) -> tuple[Predictions, ...]:
    """The predictions by the repositories as the history writes them; a key that two of it share tells nothing."""
    names: dict[str, set[str]] = {}
    for repo in {event.repo for event in history.events}:
        names.setdefault(repository_key(repo), set()).add(repo)
    known = {key: next(iter(repos)) for key, repos in names.items() if len(repos) == 1}
    renamed = []
    for each in predictions:
        answers: dict[tuple[str, int], Prediction] = {}
        for (repo, pr), answer in each.answers.items():
            name = known.get(repository_key(repo), repo)
            if (name, pr) in answers:
                raise UsageError(f"router {each.router} answers for {name}#{pr} twice. Keep one answer.")
            answers[name, pr] = answer
        renamed.append(replace(each, answers=answers))
    return tuple(renamed)


def hash_inputs(options: RoutingOptions) -> dict[str, str]:
    """A hash of each input's content."""
    files = {"history": options.history}
    files |= {f"predictions/{Path(path).name}": path for path in several(options.predictions)}
    files |= {} if options.codeowners is None else {"codeowners": options.codeowners}
    return {name: content_hash(Path(path)) for name, path in files.items()}


@contextmanager
def garbage_collection_paused(pause: bool = True) -> Iterator[None]:
    """Python's cycle collector held off within the block, if `pause`.

    A history is millions of objects that live to the end and form no cycle; walking them again and again takes a
    third of the time.
    """
    if not pause or not gc.isenabled():
        yield
        return
    gc.disable()
    try:
        yield
    finally:
        gc.enable()
