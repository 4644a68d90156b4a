"""frame.json of a run of outcomes: which comments were drawn for people to label, and from how many."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from math import inf
from pathlib import Path

from metareview.errors import InputError
from metareview.outcomes.sample import GROUPS, OutcomeFrame, RecordKey, Stratum, Unit
from metareview.runs.files import JsonObject, read_json, write_json, written_to
from metareview.runs.frame_json import OF_COMMENTS, OF_OUTCOMES
from metareview.runs.labels import FRAME, WRITABLE

_MOST = 1 << 53
"""No count is as large."""


def write_outcome_frame(folder: Path, frame: OutcomeFrame) -> None:
    with written_to(folder, WRITABLE):
        write_json(folder / FRAME, frame_to_json(frame))


def read_outcome_frame(folder: Path, run: str) -> OutcomeFrame | None:
    """The frame of the run with this fingerprint; None where none was drawn. InputError where it cannot be read."""
    try:
        frame = frame_from_json(read_json(folder / FRAME))
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        fix = "Delete it to draw anew; labels stay."
        raise InputError(f"a broken frame ({type(error).__name__}: {error})", file=folder / FRAME, fix=fix) from None
    return frame if frame is not None and frame.run == run else None


def frame_to_json(frame: OutcomeFrame) -> JsonObject:
    return {
        "schema": OF_OUTCOMES,
        "run": frame.run,
        "seed": frame.seed,
        "budget": frame.budget,
        "strata": [asdict(stratum) for stratum in frame.strata],
        "members": [[pr, reviewer, list(counts)] for (pr, reviewer), counts in frame.members.items()],
        "drawn": [{"stratum": stratum, **asdict(unit)} for stratum, unit in frame.drawn],
        "comments": [[pr, reviewer, comments] for (pr, reviewer), comments in _by_record(frame).items()],
    }


def frame_from_json(stored: JsonObject) -> OutcomeFrame | None:
    """None for a frame of another kind of run, that the folder held before; KeyError, TypeError, ValueError or the like
    where it is none at all: what is counted here goes into estimates."""
    if stored["schema"] == OF_COMMENTS:
        return None
    if stored["schema"] != OF_OUTCOMES:
        raise ValueError(f"schema {str(stored['schema'])[:40]}")
    strata = [_stratum(each) for each in stored["strata"]]
    members = {_key(pr, reviewer): tuple(map(_count, counts)) for pr, reviewer, counts in stored["members"]}
    if any(len(counts) != len(strata) for counts in members.values()):
        raise ValueError("members")
    if [sum(column) for column in zip(*members.values(), strict=True)] != [stratum.size for stratum in strata]:
        raise ValueError("members that do not add up to their strata")
    drawn = []
    for each in stored["drawn"]:
        stratum, unit = _count(each["stratum"]), _unit(each)
        if stratum >= len(strata):
            raise ValueError(f"stratum {stratum}")
        if not members.get(unit.record, [0] * len(strata))[stratum]:
            raise ValueError("a comment that is nobody's")
        drawn.append((stratum, unit))
    if len({unit.key for _, unit in drawn}) < len(drawn):
        raise ValueError("a comment that was drawn twice")
    of_comment = {
        (*_key(pr, reviewer), _count(position)): _count(at, len(strata))
        for pr, reviewer, comments in stored.get("comments", ())
        for position, at in comments
    }
    if of_comment and Counter(of_comment.values()) != {at: each.size for at, each in enumerate(strata)}:
        raise ValueError("comments that do not add up to their strata")
    if of_comment and any(of_comment.get(unit.key) != at for at, unit in drawn):
        raise ValueError("a comment that was drawn from another stratum")
    seed, budget = _count(stored["seed"], inf), _count(stored["budget"])
    return OutcomeFrame(str(stored["run"]), seed, budget, strata, members, drawn, of_comment)


def _by_record(frame: OutcomeFrame) -> dict[RecordKey, list[list[int]]]:
    """Of every comment its position and its stratum."""
    found: dict[RecordKey, list[list[int]]] = {}
    for (pr, reviewer, position), stratum in frame.stratum.items():
        found.setdefault((pr, reviewer), []).append([position, stratum])
    return found


def _stratum(stored: JsonObject) -> Stratum:
    stratum = Stratum(**stored)
    known = stratum.group is None or stratum.group in GROUPS
    if not known or not isinstance(stratum.reviewer, str | None) or _count(stratum.size) < 1:
        raise ValueError("a stratum of nothing")
    return stratum


def _unit(stored: JsonObject) -> Unit:
    pr, reviewer = _key(stored["pr"], stored["reviewer"])
    changed = stored["lines_changed"]
    if stored["group"] not in GROUPS or not (changed is None or isinstance(changed, bool)):
        raise ValueError("a comment of no group")
    return Unit(pr, reviewer, _count(stored["position"]), stored["group"], changed)


def _key(pr: object, reviewer: object) -> RecordKey:
    if not (isinstance(pr, str) and isinstance(reviewer, str)):
        raise TypeError("a name that is no text")
    return pr, reviewer


def _count(stored: object, below: float = _MOST) -> int:
    if type(stored) is not int or not 0 <= stored < below:
        raise ValueError(f"no count: {str(stored)[:40]}")
    return stored
