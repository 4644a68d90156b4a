"""unlisted.json of a run's folder: its unlisted issues, and which of them were drawn. Whole or not at all.

    {"schema", "fingerprint", "finished", "seed", "budget",
     "issues": [{"id", "pr", "comments": [[reviewer, position]], "known_invalid"}], "drawn": [id]}

It belongs to one run: `fingerprint` and `finished` are those of the manifest that it was made from.
"""

from __future__ import annotations

import errno

from metareview.model.unlisted import Issue, Unlisted
from metareview.runs.files import JsonObject, read_json, write_json, written_to
from metareview.runs.labels import UNLISTED
from metareview.runs.run import CommentsRun

SCHEMA = "metareview.unlisted/1"
_READ_ONLY = (errno.EACCES, errno.EPERM, errno.EROFS)


def read_unlisted(run: CommentsRun) -> Unlisted | None:
    """What is stored for this run; None where nothing is, or what is there is another run's or cannot be read."""
    if run.folder is None:
        return None
    try:
        stored = read_json(run.folder / UNLISTED)
        if {name: stored[name] for name in ("schema", "fingerprint", "finished")} != _whose(run):
            return None
        issues = tuple(map(_issue, stored["issues"]))
        unlisted = Unlisted(int(stored["seed"]), int(stored["budget"]), issues, tuple(map(str, stored["drawn"])))
        return unlisted if {issue.id for issue in unlisted.open}.issuperset(unlisted.drawn) else None
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


def _whose(run: CommentsRun) -> JsonObject:
    return {"schema": SCHEMA, "fingerprint": run.manifest.fingerprint, "finished": run.manifest.finished}


def _to_json(run: CommentsRun, unlisted: Unlisted) -> JsonObject:
    return {
        **_whose(run),
        "seed": unlisted.seed,
        "budget": unlisted.budget,
        "issues": [
            {
                "id": issue.id,
                "pr": issue.pr,
                "comments": [list(each) for each in issue.comments],
                "known_invalid": issue.known_invalid,
            }
            for issue in unlisted.issues
        ],
        "drawn": list(unlisted.drawn),
    }


def _issue(stored: JsonObject) -> Issue:
    comments = tuple((str(reviewer), int(position)) for reviewer, position in stored["comments"])
    if not comments:
        raise ValueError("an issue that nobody says")
    return Issue(str(stored["id"]), str(stored["pr"]), comments, bool(stored["known_invalid"]))
