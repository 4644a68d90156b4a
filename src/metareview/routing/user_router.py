"""A user's router behind the protocol of our own: what it lacks is filled in, what it answers is checked."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from numbers import Real
from typing import Any, NoReturn

from metareview.errors import UsageError
from metareview.model.event import RISKS, Event, PullRequest, fold
from metareview.plugins import user_errors
from metareview.routing.protocol import PlainRouter, Ranking, Router


class UserRouter(Router):
    """Any object with `observe` and `rank`. Whatever goes wrong in it is a UsageError that names it."""

    def __init__(self, router: PlainRouter, name: str) -> None:
        self.router = router
        self.name = name
        self.needs_files = bool(getattr(router, "needs_files", False))
        self.needs_bodies = bool(getattr(router, "needs_bodies", False))
        self.learns = getattr(router, "learns", True) is not False

    @property
    def missing(self) -> Mapping[str, int]:
        """What the router's class counts in a property of this name; an attribute of this name is the user's own."""
        counts = getattr(type(self.router), "missing", None)
        if not isinstance(counts, property):
            return {}
        with user_errors(f"router {self.name}", "Correct the router."):
            return {str(what): int(number) for what, number in counts.__get__(self.router).items()}

    def observe(self, event: Event) -> None:
        try:
            self.router.observe(event)
        except (Exception, SystemExit) as error:  # A router that exits must not end the run as if it were done.
            self._raised(error, event)

    def rank(self, pull_request: PullRequest) -> Ranking:
        try:
            ranking = self.router.rank(pull_request)
        except (Exception, SystemExit) as error:
            self._raised(error, pull_request)
        try:
            return check_ranking(ranking)
        except ValueError as problem:
            raise UsageError(
                f"router {self.name}, {pull_request.repo}#{pull_request.pr}: {problem}. "
                "Return Ranking([(login, score), ...], risk), best first."
            ) from None

    def _raised(self, error: BaseException, at: Event | PullRequest) -> NoReturn:
        if isinstance(error, UsageError):
            raise error
        raise UsageError(
            f"router {self.name} raised {type(error).__name__}: {error} at {at.repo}#{at.pr}. Correct the router."
        ) from error


def check_ranking(ranking: object) -> Ranking:
    """What a Ranking, `(candidates, risk)` or a bare list of candidates says; ValueError for anything else."""
    candidates: object
    candidates, risk, evidence, notes = ranking if isinstance(ranking, Ranking) else (ranking, "unknown", None, ())
    if (
        not isinstance(ranking, Ranking)
        and isinstance(ranking, tuple)
        and len(ranking) == 2
        and not isinstance(ranking[1], (tuple, list))
    ):
        candidates, risk = ranking
    if risk not in RISKS:
        raise ValueError(f"risk {risk!r} is none of {', '.join(RISKS)}")
    if not isinstance(candidates, Sequence) or isinstance(candidates, (str, bytes)):
        raise ValueError(f"rank returned {type(candidates).__name__}, not a list of (login, score)")
    checked: list[tuple[str, float]] = []
    seen: set[str] = set()
    for candidate in candidates:
        match candidate:
            case (str(login), score) if login and isinstance(score, Real):
                value = float(score)
            case _:
                text = repr(candidate)
                text = text if len(text) <= 60 else text[:57] + "..."
                raise ValueError(f"candidate {text} is not (login, score)")
        if not math.isfinite(value):
            raise ValueError(f"the score of {login} is {value}")
        if checked and value > checked[-1][1]:
            raise ValueError(f"{login} comes after {checked[-1][0]} but has the higher score")
        if fold(login) in seen:
            raise ValueError(f"{login} is listed twice")
        seen.add(fold(login))
        checked.append((_checked_text(login), value))
    return Ranking(checked, str(risk), _checked_evidence(evidence), _checked_notes(notes))


def _checked_evidence(evidence: Any) -> Any:
    """A copy as JSON gives it back, so that the router cannot change it later."""
    if evidence is None:
        return None
    try:
        return json.loads(_checked_text(json.dumps(evidence, allow_nan=False, ensure_ascii=False)))
    except (TypeError, RecursionError) as error:
        raise ValueError(f"evidence is nothing that JSON can hold ({error})") from None


def _checked_notes(notes: object) -> tuple[str, ...]:
    listed = [notes] if isinstance(notes, str) else notes
    if not isinstance(listed, Sequence) or not all(isinstance(note, str) for note in listed):
        raise ValueError("notes must be a text or a list of texts")
    return tuple(map(_checked_text, listed))


def _checked_text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise ValueError(f"{text[:60]!r} holds half a surrogate pair") from None
    return text
