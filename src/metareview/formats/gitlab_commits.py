"""Commits as GitLab's API answers."""

from __future__ import annotations

from metareview.formats.api_node import Node
from metareview.model.comment import ChangedFile, Commit


def listed_commit(node: Node) -> Commit:
    """A commit as a merge request lists it: nearly always without its parents, which GitLab does not keep there."""
    return Commit(node.required("id"), node.instant("committed_date"), node.text("author_name"), parents_of(node))


def parents_of(node: Node) -> tuple[str, ...]:
    found = node.value.get("parent_ids")
    return tuple(each for each in found if isinstance(each, str)) if isinstance(found, list) else ()


def changed_file(node: Node) -> ChangedFile:
    """A changed file, with GitHub's names. A diff that GitLab cut, or that is no text, is left out: it is unknown. But
    where it says that it did not cut the diff of a renamed file, an empty one means that nothing changed."""
    kinds = {"new_file": "added", "deleted_file": "removed", "renamed_file": "renamed"}
    status = next((status for flag, status in kinds.items() if node.flag(flag)), "modified")
    diff = node.text("diff") or ""
    cut = node.flag("too_large") or node.flag("collapsed")
    whole = diff.startswith("@@") or (not diff and status == "renamed" and "too_large" in node.value)
    previous = node.required("old_path") if status == "renamed" else None
    return ChangedFile(node.required("new_path"), previous, status, diff if whole and not cut else None)
