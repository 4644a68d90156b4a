"""What a router that already ran answered: JSON lines `{"repo", "pr", "router", "candidates", "risk"}`.

Candidates are logins, best first. `router` may be left out: then the file's name is the router's. So may `risk`, and
what is only kept: `evidence` (any JSON) and `notes` (a text, or a list of texts).
"""

from __future__ import annotations

from pathlib import Path

from metareview.errors import InputError
from metareview.formats.record import Record
from metareview.formats.source import Source, readable
from metareview.model.event import RISKS, fold
from metareview.model.prediction import Prediction, Predictions


def read_predictions(path: str | Path) -> list[Predictions]:
    """The predictions of a file, one item per router in order of appearance."""
    source = Source(Path(path))
    routers: dict[str, dict[tuple[str, int], Prediction]] = {}
    lines: dict[tuple[str, str, int], int] = {}
    for record in source.lines():
        named = record.value.get("router") is not None
        router = record.required("router", "the router's name") if named else readable(source.path.stem)
        repo, pr = record.required("repo", "a name such as owner/name"), record.whole_number("pr")
        prediction = Prediction(_candidates(record), _risk(record), record.value.get("evidence"), _notes(record))
        first = lines.setdefault((router, repo, pr), record.line)
        if first != record.line:
            problem = f"router {router} answers for {repo}#{pr} a second time (first on line {first})"
            record.fail(None, problem, "Keep one answer.")
        routers.setdefault(router, {})[repo, pr] = prediction
    if not routers:
        raise InputError("no predictions", file=path, fix="Give one JSON object per line.")
    warnings = source.all_warnings()
    return [
        Predictions(router, answers, () if position else tuple(warnings))
        for position, (router, answers) in enumerate(routers.items())
    ]


def _candidates(record: Record) -> tuple[str, ...]:
    logins = record.strings("candidates", "logins", '["octocat"]', accept=str.strip)
    seen: set[str] = set()
    for login in logins:
        if fold(login) in seen:
            record.fail("candidates", f"candidate {login} is listed twice", "List each candidate once.")
        seen.add(fold(login))
    return logins


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
