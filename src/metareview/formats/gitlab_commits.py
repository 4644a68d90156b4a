"""Commits as GitLab's API answers."""

from __future__ import annotations

from metareview.formats.api_reply import time_at
from metareview.formats.record import Record
from metareview.model.comment import ChangedFile, Commit

_STATUSES = {"new_file": "added", "deleted_file": "removed", "renamed_file": "renamed"}


def listed_commit(record: Record) -> Commit:
    """A commit as a merge request lists it: nearly always without its parents, which GitLab does not keep there."""
    sha = record.required("id", "its hash")
    return Commit(sha, time_at(record, "committed_date"), record.text("author_name"), parents_of(record))


def parents_of(record: Record) -> tuple[str, ...]:
    found = record.value.get("parent_ids")
    return tuple(each for each in found if isinstance(each, str)) if isinstance(found, list) else ()


def changed_file(record: Record) -> ChangedFile:
    """A changed file, with GitHub's names. A diff that GitLab cut, or that is no text, is left out: it is unknown. But
    where it says that it did not cut the diff of a renamed file, an empty one means that nothing changed."""
    status = next((status for flag, status in _STATUSES.items() if record.flag(flag)), "modified")
    diff = record.text("diff") or ""
    cut = record.flag("too_large") or record.flag("collapsed")
    whole = diff.startswith("@@") or (not diff and status == "renamed" and "too_large" in record.value)
    previous = record.required("old_path", "a path") if status == "renamed" else None
    return ChangedFile(record.required("new_path", "a path"), previous, status, diff if whole and not cut else None)
