"""unlisted.json of a run's folder: its unlisted issues, and which of them were drawn. Whole or not at all.

    {"schema", "fingerprint", "finished", "seed", "budget", "strata": [reviewers],
     "issues": [{"id", "pr", "comments": [[reviewer, position]], "known_invalid", "repeats": [[reviewer, position]],
                 "notes": [digest], "stratum"}],
     "drawn": [id]}

It belongs to one run: `fingerprint` and `finished` are those of the manifest that it was made from. Files of schema 1
lack `strata`, `repeats`, `notes` and `stratum`: their issues were grouped by connected components.
"""

from __future__ import annotations

import errno

from metareview.model.unlisted import MOST_SOURCES, CommentKey, Issue, Unlisted
from metareview.runs.files import JsonObject, read_json, write_json, written_to
from metareview.runs.labels import UNLISTED
from metareview.runs.run import CommentsRun

SCHEMA, _COMPONENTS = "metareview.unlisted/2", "metareview.unlisted/1"
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)


def read_unlisted(run: CommentsRun) -> Unlisted | None:
    """The issues of this run as it is; None where none are stored, or those of another run, or a broken file."""
    stored = _stored(run)
    return None if stored is None or not stored[1] else stored[0]


def read_earlier(run: CommentsRun) -> Unlisted | None:
    """The issues of this run as they were last grouped: before it decided more, or by an older version."""
    stored = _stored(run)
    return None if stored is None else stored[0]


def _stored(run: CommentsRun) -> tuple[Unlisted, bool] | None:
    """What is stored, and whether it was grouped from the run as it is, in the way that this version groups."""
    if run.folder is None:
        return None
    try:
        stored = read_json(run.folder / UNLISTED)
        known, schema = stored["fingerprint"] == run.manifest.fingerprint, stored["schema"]
        if not known or schema not in (SCHEMA, _COMPONENTS):
            return None
        unlisted = _with_strata(stored) if schema == SCHEMA else _without_strata(stored)
        if not {issue.id for issue in unlisted.open}.issuperset(unlisted.drawn):
            return None
        return unlisted, schema == SCHEMA and stored["finished"] == run.manifest.finished
    except (OSError, ValueError, KeyError, TypeError, AttributeError, OverflowError):
        return None


def write_unlisted(run: CommentsRun, unlisted: Unlisted) -> None:
    """Stores it with the run, if it has a folder that may be written to: made again, it would come out the same."""
    if run.folder is None:
        return
    with written_to(run.folder):
        try:
            write_json(run.folder / UNLISTED, _to_json(run, unlisted))
        except OSError as error:
            if error.errno not in _READ_ONLY:
                raise


def _to_json(run: CommentsRun, unlisted: Unlisted) -> JsonObject:
    return {
        "schema": SCHEMA,
        "fingerprint": run.manifest.fingerprint,
        "finished": run.manifest.finished,
        "seed": unlisted.seed,
        "budget": unlisted.budget,
        "strata": list(unlisted.strata),
        "issues": [
            {
                "id": issue.id,
                "pr": issue.pr,
                "comments": [list(each) for each in issue.comments],
                "known_invalid": issue.known_invalid,
                "repeats": [list(each) for each in issue.comments if each in issue.repeats],
                "notes": list(issue.notes),
                "stratum": issue.stratum,
            }
            for issue in unlisted.issues
        ],
        "drawn": list(unlisted.drawn),
    }


def _with_strata(stored: JsonObject) -> Unlisted:
    strata = tuple(map(int, stored["strata"]))
    issues = tuple(_issue(each, len(strata)) for each in stored["issues"])
    return Unlisted(int(stored["seed"]), int(stored["budget"]), issues, tuple(map(str, stored["drawn"])), strata)


def _issue(stored: JsonObject, strata: int) -> Issue:
    comments, repeats, notes = _keys(stored["comments"]), _keys(stored["repeats"]), tuple(map(str, stored["notes"]))
    stratum, known_invalid = stored["stratum"], bool(stored["known_invalid"])
    if not comments or len(notes) != len(comments) or not set(comments).issuperset(repeats):
        raise ValueError("an issue without comments, or with repeats or notes of others")
    if known_invalid != (stratum is None) or not (stratum is None or (type(stratum) is int and 0 <= stratum < strata)):
        raise ValueError(f"stratum {stratum}")
    return Issue(str(stored["id"]), str(stored["pr"]), comments, known_invalid, frozenset(repeats), notes, stratum)


def _without_strata(stored: JsonObject) -> Unlisted:
    """Of schema 1: strata are by how many reviewers say an issue."""
    issues = []
    for each in stored["issues"]:
        issue = Issue(str(each["id"]), str(each["pr"]), _keys(each["comments"]))
        stratum = None if each["known_invalid"] else issue.sources - 1
        issues.append(Issue(issue.id, issue.pr, issue.comments, stratum is None, stratum=stratum))
    strata = tuple(range(1, MOST_SOURCES + 1))
    return Unlisted(int(stored["seed"]), int(stored["budget"]), issues, tuple(map(str, stored["drawn"])), strata)


def _keys(stored: object) -> tuple[CommentKey, ...]:
    if not isinstance(stored, list):
        raise TypeError("comments that are no list")
    return tuple((str(reviewer), int(position)) for reviewer, position in stored)
