"""Read what a routing evaluation is given: the history, predictions, CODEOWNERS."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from metareview.collector import garbage_collection_paused
from metareview.errors import InputError, UsageError
from metareview.formats.codeowners import OwnersByCommit
from metareview.formats.folders import content_hash, files_state, is_folder
from metareview.formats.history import HistoryInput, find_history_files, open_history, read_opened
from metareview.formats.input_file import InputFile, Progress, readable
from metareview.formats.pipes import spooled
from metareview.formats.predictions import read_predictions
from metareview.formats.protocol import TextFilter
from metareview.formats.reader import several
from metareview.formats.router_config import read_router_config
from metareview.model.address import repository_key
from metareview.model.event import History
from metareview.model.prediction import NO_REPOSITORY, Prediction, Predictions
from metareview.pipelines.routing.options import RoutingOptions

CODEOWNERS = "codeowners"


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
    beside = read_beside(options)
    return beside.with_history(read_all(open_history(options.history, progress=progress), options))


def read_all(given: HistoryInput, options: RoutingOptions) -> History:
    """The history in memory."""
    # A history is millions of objects that form no cycle.
    with garbage_collection_paused():
        return read_opened(given, text_filter(options))


@dataclass(frozen=True, slots=True)
class Beside:
    """What is given beside the history: quickly read, and so refused first."""

    predictions: tuple[Predictions, ...]
    codeowners: OwnersByCommit | None
    router_config: Mapping[str, Mapping[str, Any]]
    files: tuple[InputFile, ...]
    """Predictions and CODEOWNERS that are single files, as they were read."""

    def with_history(self, history: History, repos: Collection[str] | None = None) -> Inputs:
        """`repos`: those of the history, where its events are not there to tell."""
        known = {event.repo for event in history.events} if repos is None else repos
        named = [_with_repository(each, known) for each in self.predictions] if known else self.predictions
        return Inputs(history, _as_named_in(known, named), self.codeowners, self.router_config)


def read_beside(options: RoutingOptions) -> Beside:
    configs = {
        name: given if isinstance(given, Mapping) else read_router_config(given)
        for name, given in (options.router_config or {}).items()
    }
    files: list[InputFile] = []
    predictions = tuple(each for path in several(options.predictions) for each in read_predictions(path, files))
    owners = None if options.codeowners is None else OwnersByCommit(options.codeowners, files)
    return Beside(predictions, owners, configs, tuple(files))


def _with_repository(predictions: Predictions, repos: Collection[str]) -> Predictions:
    """Those that name no repository are about the only one that there is; UsageError where there are several."""
    if all(repo != NO_REPOSITORY for repo, _ in predictions.answers):
        return predictions
    if len(repos) > 1:
        raise UsageError(
            f"--predictions of {predictions.router}: they name no repository, and the history has {len(repos)}. "
            'Give each its "repo".'
        )
    return predictions.about(next(iter(repos)))


def _as_named_in(repos: Collection[str], predictions: Iterable[Predictions]) -> tuple[Predictions, ...]:
    """The predictions by the repositories as the history writes them; a key that two of it share tells nothing."""
    names: dict[str, set[str]] = {}
    for repo in repos:
        names.setdefault(repository_key(repo), set()).add(repo)
    known = {key: next(iter(spellings)) for key, spellings in names.items() if len(spellings) == 1}
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


def text_filter(options: RoutingOptions) -> TextFilter:
    """What an event says is looked at in the repositories that are scored, up to their last cutoff and the window."""
    delayed = options.cutoff_rule.policy == "created_at" and options.reviews_visible_at == "event"
    if options.until_instant is None or options.truth_span is None or not delayed:
        return TextFilter(options.repository_keys)
    until = options.until_instant + options.cutoff_rule.delay + options.truth_span
    return TextFilter(options.repository_keys, until)


class InputFiles:
    """The input files of a run, and their state before any of them is read.

    The hash of a file that was read by an `InputFile` is of the bytes that were parsed. Databases, Parquet, folders and
    what worker processes read in parts are hashed on their own, and must not change meanwhile.
    """

    def __init__(self, options: RoutingOptions, *, history: bool = True) -> None:
        """`history`: whether that is in files."""
        self._files: dict[str, Path] = {}
        for number, path in enumerate(_history_parts(options) if history else (), 1):
            self._files["history" if number == 1 else f"history-{number}"] = path
        self._files |= {f"predictions/{Path(path).name}": Path(path) for path in several(options.predictions)}
        self._files |= {} if options.codeowners is None else {CODEOWNERS: Path(options.codeowners)}
        self._before = {name: files_state(path) for name, path in self._files.items()}

    def hash(self, read: Iterable[InputFile] = ()) -> dict[str, str]:
        """A hash of each input's content; of the files that were `read`, of what was read. InputError for any other
        that has changed since this was made."""
        known = {file.path: file.sha256 for file in read if file.is_read}
        paths = {name: spooled(path) for name, path in self._files.items()}
        hashes = {name: known.get(path) or content_hash(path) for name, path in paths.items()}
        self.check(*(name for name, path in paths.items() if path not in known))
        return hashes

    def check_codeowners(self) -> None:
        """InputError for a folder of CODEOWNERS, which is read during the replay, that has changed."""
        if CODEOWNERS in self._files and is_folder(self._files[CODEOWNERS]):
            self.check(CODEOWNERS)

    def check(self, *names: str) -> None:
        """InputError for one of these that has changed."""
        for name in names:
            if name in self._files and files_state(self._files[name]) != self._before[name]:
                fix = "Run it again when nothing writes to it, or on a copy."
                raise InputError("it changed while it was read", file=readable(str(self._files[name])), fix=fix)


def _history_parts(options: RoutingOptions) -> list[Path]:
    """The files of the history, each with the log that a database still keeps beside it."""
    files = find_history_files(options.history).files
    logs = (Path(f"{file}-wal") for file in files)
    return [*files, *(log for log in logs if log.is_file() and log.stat().st_size)]
