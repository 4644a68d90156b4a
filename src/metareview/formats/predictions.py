"""What a router that already ran answered: JSON lines `{"repo", "pr", "router", "candidates", "risk"}`.

Candidates are logins, best first. `router` may be left out: then the file's name is the router's. So may
`risk`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from metareview.errors import InputError
from metareview.formats.jsonlines import Problem, json_lines, text, whole_number
from metareview.model.event import RISKS, fold


class Prediction(NamedTuple):
    """One router's answer for one pull request."""

    candidates: tuple[str, ...]
    risk: str


@dataclass(frozen=True, slots=True)
class Predictions:
    """Everything that one router answered, by (repo, pr)."""

    router: str
    answers: Mapping[tuple[str, int], Prediction]


def read_predictions(path: str | Path) -> list[Predictions]:
    """Read a file of predictions, one item a router in order of appearance.

    InputError names the line of a candidate that is listed twice, of a second answer for one pull request, of
    an unknown risk.
    """
    path = Path(path)
    routers: dict[str, dict[tuple[str, int], Prediction]] = {}
    lines: dict[tuple[str, str, int], int] = {}
    try:
        for number, row in json_lines(path):
            try:
                router = (
                    text(row, "router", "the router's name") if row.get("router") is not None else path.stem
                )
                repo, pr = text(row, "repo", "a name such as owner/name"), whole_number(row, "pr")
                prediction = Prediction(_candidates(row.get("candidates")), _risk(row))
            except Problem as problem:
                raise problem.at(path, number) from None
            first = lines.setdefault((router, repo, pr), number)
            if first != number:
                raise InputError(
                    f"router {router} answers for {repo}#{pr} a second time (first on line {first})",
                    file=path,
                    line=number,
                    fix="Keep one answer.",
                )
            routers.setdefault(router, {})[repo, pr] = prediction
    except OSError as error:
        raise InputError(
            f"cannot be read: {error.strerror or error}", file=path, fix="Give a file of predictions."
        ) from error
    if not routers:
        raise InputError("no predictions", file=path, fix="Give one JSON object a line.")
    return [Predictions(router, answers) for router, answers in routers.items()]


def _candidates(value: object) -> tuple[str, ...]:
    if not isinstance(value, list) or not all(type(login) is str and login.strip() for login in value):
        raise Problem(
            "candidates is not a list of logins", 'Give candidates: a list such as ["octocat"], or [].'
        )
    seen: set[str] = set()
    for login in value:
        if fold(login) in seen:
            raise Problem(f"candidate {login} is listed twice", "List each candidate once.")
        seen.add(fold(login))
    return tuple(value)


def _risk(row: dict[str, Any]) -> str:
    risk = row.get("risk")
    if risk is None:
        return "unknown"
    if risk not in RISKS:
        raise Problem(f"risk {risk!r} is not known", f"Give one of {', '.join(RISKS)}.")
    return str(risk)
