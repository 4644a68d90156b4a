"""frame.json of a run's folder: which blocks were drawn for people to label, and from how many."""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict
from math import inf
from pathlib import Path
from typing import get_args

from metareview.comments.blocks import Block, Counted, Frame, RecordKey, Stratum
from metareview.errors import InputError
from metareview.runs.files import JsonObject, read_json, write_json, written_to
from metareview.runs.labels import FRAME, WRITABLE

OF_COMMENTS, OF_OUTCOMES = "metareview.frame/1", "metareview.frame.outcomes/1"
"""The schemas of the frames that a folder can hold, one after the other: each belongs to one run."""
_MOST = 1 << 53
"""No count is as large."""


def write_frame(folder: Path, frame: Frame) -> None:
    with written_to(folder, WRITABLE):
        write_json(folder / FRAME, frame_to_json(frame))


def read_frame(folder: Path, run: str) -> Frame | None:
    """The frame of the run with this fingerprint; None where none was drawn. InputError where it cannot be read."""
    try:
        stored = read_json(folder / FRAME)
        if stored["schema"] == OF_OUTCOMES:
            return None
        frame = frame_from_json(stored)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError) as error:
        fix = "Delete it to draw anew; labels stay."
        raise InputError(f"a broken frame ({type(error).__name__}: {error})", file=folder / FRAME, fix=fix) from None
    return frame if frame.run == run else None


def frame_to_json(frame: Frame) -> JsonObject:
    return {
        "schema": OF_COMMENTS,
        "run": frame.run,
        "seed": frame.seed,
        "budget": frame.budget,
        "strata": [asdict(stratum) for stratum in frame.strata],
        "members": [[pr, reviewer, list(counts)] for (pr, reviewer), counts in frame.members.items()],
        "drawn": [{"stratum": stratum, **asdict(block)} for stratum, block in frame.drawn],
        "blocks": [[pr, reviewer, blocks] for (pr, reviewer), blocks in _by_record(frame).items()],
        **({"runs": [[*key, number] for key, number in frame.runs.items()]} if frame.runs else {}),
    }


def frame_from_json(stored: JsonObject) -> Frame:
    """KeyError, TypeError, ValueError or the like where it is none: what is counted here goes into estimates."""
    if stored["schema"] != OF_COMMENTS:
        raise ValueError(f"schema {stored['schema']}")
    strata = [_stratum(each) for each in stored["strata"]]
    members = {_key(pr, reviewer): tuple(map(_count, counts)) for pr, reviewer, counts in stored["members"]}
    if any(len(counts) != len(strata) for counts in members.values()):
        raise ValueError("members")
    if [sum(column) for column in zip(*members.values(), strict=True)] != [stratum.size for stratum in strata]:
        raise ValueError("members that do not add up to their strata")
    drawn = []
    for each in stored["drawn"]:
        stratum, block = _count(each["stratum"]), _block(each)
        if stratum >= len(strata):
            raise ValueError(f"stratum {stratum}")
        if not members.get((block.pr, block.reviewer), [0] * len(strata))[stratum]:
            raise ValueError("a block that is nobody's")
        drawn.append((stratum, block))
    of_block = {
        (*_key(pr, reviewer), strata[_count(at, len(strata))].counted, (_count(generated), _count(reference))): at
        for pr, reviewer, blocks in stored.get("blocks", ())
        for generated, reference, at in blocks
    }
    if of_block and Counter(of_block.values()) != {at: each.size for at, each in enumerate(strata)}:
        raise ValueError("blocks that do not add up to their strata")
    if of_block and any(of_block.get(block.key) != at for at, block in drawn):
        raise ValueError("a block that was drawn from another stratum")
    seed, budget = _count(stored["seed"], inf), _count(stored["budget"])
    runs = {_key(pr, reviewer): _count(number) for pr, reviewer, number in stored.get("runs", ())}
    if 0 in runs.values():
        raise ValueError("blocks of no run")
    return Frame(str(stored["run"]), seed, budget, strata, members, drawn, of_block, runs)


def _by_record(frame: Frame) -> dict[RecordKey, list[list[int]]]:
    """Of every block the first pair, which identifies it, and its stratum."""
    found: dict[RecordKey, list[list[int]]] = {}
    for (pr, reviewer, _, pair), stratum in frame.stratum.items():
        found.setdefault((pr, reviewer), []).append([*pair, stratum])
    return found


def _stratum(stored: JsonObject) -> Stratum:
    stratum = Stratum(**stored)
    if stratum.counted not in get_args(Counted) or _count(stratum.size) < 1:
        raise ValueError("a stratum of nothing")
    return stratum


def _block(stored: JsonObject) -> Block:
    pr, reviewer = _key(stored["pr"], stored["reviewer"])
    pairs = tuple((_count(generated), _count(reference)) for generated, reference in stored["pairs"])
    scores = tuple(None if score is None else float(score) for score in stored["scores"])
    if not pairs or len(scores) != len(pairs) or stored["counted"] not in get_args(Counted):
        raise ValueError("a block without pairs")
    return Block(pr, reviewer, stored["counted"], pairs, scores, _count(stored["judged"]), float(stored["unsure"]))


def _key(pr: object, reviewer: object) -> RecordKey:
    if not (isinstance(pr, str) and isinstance(reviewer, str)):
        raise TypeError("a name that is no text")
    return pr, reviewer


def _count(stored: object, below: float = _MOST) -> int:
    if type(stored) is not int or not 0 <= stored < below:
        raise ValueError(f"no count: {str(stored)[:40]}")
    return stored
