"""Predictions of routers: JSON lines `{"repo", "pr", "router", "candidates", "risk"}`.

Candidates are logins, best first. `router` may be left out: then the file's name is the router's. So may `risk`, and
what is only kept: `evidence` (any JSON) and `notes` (a text, or a list of texts).

The routes that the routing harness saves, `…/OWNER/NAME/eval/RUN/prs/NUMBER/routes/ROUTER.json`, are read as well, one
file or a folder of them: `{"baseline", "result": {"repo", "pr_number", "candidates", "risk", "notes"}}`, or the result
alone, where a candidate is `{"target": {"type", "name"}, "score", "evidence"}`.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from metareview.errors import InputError
from metareview.formats.folders import files_below, is_folder
from metareview.formats.input_file import InputFile, readable
from metareview.formats.json_values import objects_of_lines
from metareview.formats.record import Record
from metareview.model.event import RISKS, fold
from metareview.model.prediction import NO_REPOSITORY, Prediction, Predictions

_ROUTES = "routes"
_FIELDS = frozenset({"repo", "pr", "router", "candidates", "risk", "evidence", "notes"})
_FIX = 'Give a list of candidates such as {"target": {"type": "user", "name": "octocat"}}, or [].'


def read_predictions(path: str | Path, read: list[InputFile] | None = None) -> list[Predictions]:
    """The predictions of a file or of a folder of saved routes, one item per router in order of appearance.

    An answer that names no repository, nor lies in a folder that does, is under NO_REPOSITORY. The files are
    added to `read`.
    """
    routers: dict[str, dict[tuple[str, int], Prediction]] = {}
    known: dict[tuple[str, str, int], Record] = {}
    warnings: list[str] = []
    for file in _files(Path(path)):
        for record in _records(file):
            saved = "pr_number" in record.value or isinstance(record.value.get("result"), dict)
            router, repo, pr, prediction = _saved_route(record) if saved else _answer(record)
            first = known.setdefault((router, repo, pr), record)
            if first is not record:
                in_file = first.file.name
                where = f"on line {first.line_of(None)}" if in_file == file.name else f"in {in_file}"
                problem = f"router {router} answers for {repo}#{pr} a second time (first {where})"
                record.fail(None, problem, "Keep one answer.")
            routers.setdefault(router, {})[repo, pr] = prediction
        warnings += file.all_warnings()
        if read is not None:
            read.append(file)
    if not routers:
        raise InputError("no predictions", file=path, fix="Give one JSON object per line.")
    return [
        Predictions(router, answers, () if position else tuple(warnings))
        for position, (router, answers) in enumerate(routers.items())
    ]


def _files(path: Path) -> Iterator[InputFile]:
    """The file; of a folder, the saved routes, or without any all JSON files."""
    if not is_folder(path):
        yield InputFile(path).for_reading()
        return
    below = [file for file in files_below(path) if file.suffix.lower() in (".json", ".jsonl", ".ndjson")]
    for file in [file for file in below if file.parent.name == _ROUTES] or below:
        yield InputFile(file).for_reading()


def _records(file: InputFile) -> Iterator[Record]:
    """The objects: one per line, or one that spans lines, as the harness writes it."""
    first = file.first_line()
    while first and not first.strip():
        first = file.next_line()
    return file.json.records("a saved route") if first.strip() == b"{" else objects_of_lines(file)


def _answer(record: Record) -> tuple[str, str, int, Prediction]:
    record.check_spelling(_FIELDS)
    named = record.value.get("router") is not None
    router = record.required("router", "the router's name") if named else readable(record.file.path.stem)
    repo, pr = record.required("repo", "a name such as owner/name"), record.whole_number("pr")
    logins = record.strings("candidates", "logins", '["octocat"]', accept=str.strip)
    _check_once(record, logins)
    return router, repo, pr, Prediction(logins, _risk(record), record.value.get("evidence"), _notes(record))


def _saved_route(record: Record) -> tuple[str, str, int, Prediction]:
    """The harness's: what it calls the router may stand around the result, else the file is named after it."""
    result = record.object("result", "result") if isinstance(record.value.get("result"), dict) else record
    router = record.text("baseline") or record.text("router") or readable(record.file.path.stem)
    repo = result.text("repo") or _repository_of(record.file.path)
    names, evidence = [], {}
    if not isinstance(result.value.get("candidates"), list):
        result.refuse("candidates", "a list", _FIX)
    for candidate in result.objects("candidates", "a candidate"):
        target = candidate.object("target", "a target") if candidate.value.get("target") is not None else candidate
        name = target.required("name", "a login").strip().removeprefix("@")
        if fold(target.text("type") or "user") == "team" and "/" not in name:
            name = f"{repo.partition('/')[0]}/{name}" if repo else name
        names.append(name)
        if candidate.value.get("evidence"):
            evidence[name] = candidate.value["evidence"]
    _check_once(result, names)
    return (
        router,
        repo or NO_REPOSITORY,
        result.whole_number("pr_number"),
        Prediction(tuple(names), _risk(result), evidence or None, _notes(result)),
    )


def _repository_of(path: Path) -> str:
    """OWNER/NAME of `…/github/OWNER/NAME/eval/…`."""
    parts: list[str] = [readable(part) for part in path.absolute().parts]
    for at in range(len(parts) - 4, 0, -1):
        if parts[at - 1] == "github" and parts[at + 2] == "eval":
            return f"{parts[at]}/{parts[at + 1]}"
    return ""


def _check_once(record: Record, logins: Any) -> None:
    seen: set[str] = set()
    for login in logins:
        if fold(login) in seen:
            record.fail("candidates", f"candidate {login} is listed twice", "List each candidate once.")
        seen.add(fold(login))


def _notes(record: Record) -> tuple[str, ...]:
    notes = record.value.get("notes")
    if notes is None:
        return ()
    return (notes,) if isinstance(notes, str) else record.strings("notes", "texts", '["quiet week"]')


def _risk(record: Record) -> str:
    risk = record.text("risk")
    if risk is not None and risk not in RISKS:
        record.fail("risk", f"risk {risk!r} is not known", f"Give one of {', '.join(RISKS)}.")
    return risk or "unknown"
