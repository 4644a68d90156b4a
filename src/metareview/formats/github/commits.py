"""Commits as GitHub's GraphQL and REST APIs answer."""

from __future__ import annotations

from collections.abc import Iterable

from metareview.formats.api_node import Node, UnexpectedReply
from metareview.model.comment import ChangedFile, Commit


def listed_commits(pull_request: Node) -> list[Commit]:
    """The commits of a pull request, oldest first, as GraphQL lists them: without files."""
    commits = []
    for entry in pull_request.nodes("commits"):
        commit = entry.child("commit")
        if commit is None:
            raise UnexpectedReply("a commit is missing")
        author = commit.child("author") or Node({})
        user = author.child("user")
        name = user.text("login") if user is not None else author.text("name")
        parents = tuple(parent.required("oid") for parent in commit.nodes("parents"))
        commits.append(Commit(commit.required("oid"), commit.instant("committedDate"), name, parents))
    return commits


def rest_commit(node: Node, sha: str, files: Iterable[ChangedFile] | None) -> Commit:
    """A commit as REST answers, with these files of all its pages."""
    commit = node.child("commit") or Node({})
    committer, written = (commit.child(name) or Node({}) for name in ("committer", "author"))
    account = node.child("author")
    author = (account and account.text("login")) or written.text("name")
    parents = tuple(hashes(node, "parents"))
    return Commit(sha, committer.instant("date"), author, parents, None if files is None else tuple(files))


def rest_file(node: Node) -> ChangedFile:
    """A changed file. A patch is missing if it is too large, or no text; empty for a file only renamed."""
    patch, status = node.text("patch"), node.text("status")
    if patch is None and status == "renamed" and node.number("changes") == 0:
        patch = ""
    return ChangedFile(node.required("filename"), node.text("previous_filename"), status, patch)


def hashes(node: Node, name: str) -> list[str]:
    """The hashes of a list of commits."""
    return [each.required("sha") for each in node.children(name)]
