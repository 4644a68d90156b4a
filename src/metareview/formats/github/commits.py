"""Commits as GitHub's GraphQL and REST APIs answer."""

from __future__ import annotations

from collections.abc import Iterable

from metareview.formats.api_reply import nodes, time_at
from metareview.formats.record import Record
from metareview.model.comment import ChangedFile, Commit

_HASH = "its hash"


def listed_commits(pull_request: Record) -> list[Commit]:
    """The commits of a pull request, oldest first, as GraphQL lists them: without files."""
    return [_listed(entry.optional_object("commit")) for entry in nodes(pull_request, "commits")]


def _listed(commit: Record) -> Commit:
    author = commit.optional_object("author")
    name = author.optional_object("user").text("login") or author.text("name")
    parents = tuple(parent.required("oid", _HASH) for parent in nodes(commit, "parents"))
    return Commit(commit.required("oid", _HASH), time_at(commit, "committedDate"), name, parents)


def rest_commit(record: Record, sha: str, files: Iterable[ChangedFile] | None) -> Commit:
    """A commit as REST answers, with these files of all its pages."""
    commit = record.optional_object("commit")
    at = time_at(commit.optional_object("committer"), "date")
    author = record.optional_object("author").text("login") or commit.optional_object("author").text("name")
    return Commit(sha, at, author, tuple(hashes(record, "parents")), None if files is None else tuple(files))


def rest_file(record: Record) -> ChangedFile:
    """A changed file. A patch is missing if it is too large, or no text; empty for a file only renamed."""
    patch, status = record.text("patch"), record.text("status")
    if patch is None and status == "renamed" and record.number("changes") == 0:
        patch = ""
    return ChangedFile(record.required("filename", "a path"), record.text("previous_filename"), status, patch)


def hashes(record: Record, key: str) -> list[str]:
    """The hashes of a list of commits."""
    return [each.required("sha", _HASH) for each in nodes(record, key)]
