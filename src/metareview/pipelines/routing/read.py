"""Read what a routing evaluation is given: the history, predictions, CODEOWNERS."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from metareview.formats.codeowners import OwnersByCommit
from metareview.formats.predictions import read_predictions
from metareview.formats.registry import read_history, several
from metareview.formats.source import content_hash
from metareview.model.event import History
from metareview.model.prediction import Predictions
from metareview.pipelines.routing.options import RoutingOptions


@dataclass(frozen=True, slots=True)
class Inputs:
    """Everything that was read."""

    history: History
    predictions: tuple[Predictions, ...] = ()
    codeowners: OwnersByCommit | None = None


def read(options: RoutingOptions) -> Inputs:
    """The inputs; InputError names the file, and the line, that cannot be read."""
    return Inputs(
        read_history(options.history),
        tuple(each for path in several(options.predictions) for each in read_predictions(path)),
        None if options.codeowners is None else OwnersByCommit(options.codeowners),
    )


def hash_inputs(options: RoutingOptions) -> dict[str, str]:
    """A hash of each input's content."""
    files = {"history": options.history}
    files |= {f"predictions/{Path(path).name}": path for path in several(options.predictions)}
    files |= {} if options.codeowners is None else {"codeowners": options.codeowners}
    return {name: content_hash(Path(path)) for name, path in files.items()}
