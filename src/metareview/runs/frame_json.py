"""frame.json of a run's folder: which blocks were drawn for people to label, and from how many."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

from metareview.comments.blocks import Block, Frame, Stratum
from metareview.errors import InputError
from metareview.runs.files import JsonObject, read_json, write_json, written_to
from metareview.runs.labels import FRAME, WRITABLE

_SCHEMA = "metareview.frame/1"


def write_frame(folder: Path, frame: Frame) -> None:
    with written_to(folder, WRITABLE):
        write_json(folder / FRAME, frame_to_json(frame))


def read_frame(folder: Path, run: str) -> Frame | None:
    """The frame of the run with this fingerprint; None where none was drawn. InputError where it cannot be read."""
    try:
        stored = read_json(folder / FRAME)
        frame = frame_from_json(stored)
    except FileNotFoundError:
        return None
    except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
        fix = "Delete it to draw anew; labels stay."
        raise InputError(f"a broken frame ({type(error).__name__}: {error})", file=folder / FRAME, fix=fix) from None
    return frame if frame.run == run else None


def frame_to_json(frame: Frame) -> JsonObject:
    return {
        "schema": _SCHEMA,
        "run": frame.run,
        "seed": frame.seed,
        "budget": frame.budget,
        "strata": [asdict(stratum) for stratum in frame.strata],
        "members": [[pr, reviewer, list(counts)] for (pr, reviewer), counts in frame.members.items()],
        "drawn": [{"stratum": stratum, **asdict(block)} for stratum, block in frame.drawn],
    }


def frame_from_json(stored: JsonObject) -> Frame:
    if stored["schema"] != _SCHEMA:
        raise ValueError(f"schema {stored['schema']}")
    strata = [Stratum(**each) for each in stored["strata"]]
    drawn = []
    for each in stored["drawn"]:
        fields = dict(each)
        stratum, pairs = int(fields.pop("stratum")), tuple((int(g), int(r)) for g, r in fields.pop("pairs"))
        if not 0 <= stratum < len(strata):
            raise ValueError(f"stratum {stratum}")
        drawn.append((stratum, Block(**{**fields, "pairs": pairs, "scores": tuple(fields["scores"])})))
    members = {(pr, reviewer): tuple(map(int, counts)) for pr, reviewer, counts in stored["members"]}
    if any(len(counts) != len(strata) for counts in members.values()):
        raise ValueError("members")
    return Frame(stored["run"], stored["seed"], stored["budget"], strata, members, drawn)
