"""What was said on pull requests: GitHub's remarks as comments, each once, however often a file gives it."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

from metareview.formats.github.addresses import is_named, issue_address, names_of, own_address, web_address
from metareview.formats.github.dialects import remarks
from metareview.formats.github.remark import BOT, GHOST, Kind, PullRequest, Remark, comment_id, login_of
from metareview.formats.input_file import InputFile
from metareview.model.address import pull_request_key
from metareview.model.comment import Comment
from metareview.model.deduplicate import joined
from metareview.model.words import plural

_SAME = ("path", "side", "id", "reactions", "resolved", "outdated")
_KEYS = {"note": "body", "in_reply_to": "in_reply_to_id", **{name: name for name in _SAME}}
_OF_BODIES = {name: _KEYS[name] for name in ("note", "id", "reactions")}


@dataclass(frozen=True, slots=True)
class Said:
    """A comment, who made it and where. The body of a review is still whole."""

    kind: Kind
    comment: Comment
    login: str
    about: PullRequest
    address: str | None
    """None: only the number of an issue is known, or not even that."""
    on_issue: str | None = None
    changed_at: str = ""
    deleted: bool = False
    decided: bool = False
    """Whether it approves, or asks for changes: then its author has reviewed, even without a word."""

    @property
    def identity(self) -> tuple[str, str, str, str] | None:
        """As far as all dialects agree on it; None without an id."""
        if not self.comment.id:
            return None
        return self.kind, self.comment.id, self.login.removesuffix(BOT), pull_request_key(self.address or "")

    def joined(self, later: Said) -> Said:
        """Both as one: of two versions the one that was changed last, with whatever only the other has."""
        older, newer = (later, self) if self.changed_at > later.changed_at else (self, later)
        return replace(
            newer,
            comment=joined(older.comment, newer.comment),
            login=max(older.login, newer.login, key=len),  # `gh` leaves out that somebody is a bot
            about=older.about.joined(newer.about),
            deleted=self.deleted or later.deleted,  # for good, in whichever order one hears of it
        )


def deduplicated(file: InputFile, named: str | None) -> list[Said]:
    """Everything that still stands, in order of appearance, each with the address of its pull request; `named` is
    the pull request of what does not tell its own."""
    everything = [said for remark in remarks(file) if (said := _said(remark, named)) is not None]
    told = {said.address for said in everything if said.address and said.address != named}
    name = names_of([named] if named else ())
    known = names_of(told) | name
    # One name for what has several: the address that the file itself has, rather than the file's name.
    own = next((address for address in sorted(told) if is_named(address, name)), named)
    found: dict[object, Said] = {}
    repeated = strays = 0
    for number, said in enumerate(everything):
        if said.on_issue and not is_named(said.on_issue, known):
            strays += 1
            continue
        said = replace(said, address=said.on_issue or own) if said.address in (None, named) else said
        key = said.identity or number
        if earlier := found.get(key):
            repeated += bool(said.comment.note)
            said = earlier.joined(said)
        found[key] = said
    deleted = sum(said.deleted for said in found.values())
    warn(file, repeated, "comment is given again; it counts once", "comments are given again; each counts once")
    warn(file, deleted, "comment was deleted; left out", "comments were deleted; left out")
    one, many = "comment on an issue that is no pull request", "comments on issues that are no pull requests"
    warn(file, strays, f"{one}; left out", f"{many}; left out")
    return [said for said in found.values() if not said.deleted]


def warn(file: InputFile, count: int, one: str, many: str) -> None:
    if count:
        file.warnings.add_sentence(f"{file.name}: {plural(count, one, many)}")


def _said(remark: Remark, named: str | None) -> Said | None:
    """None: a review that was never submitted, which only its author has seen."""
    record = remark.record
    value = record.value
    if isinstance(value.get("state"), str) and value["state"].upper() == "PENDING":
        return None
    address = own_address(remark)
    if not address and remark.about.address:
        address = web_address(remark.about.address)
    on_issue = None if address else issue_address(remark)
    if not (address or on_issue or named):
        problem = "no pull_request_url, and the file's name does not tell the pull request"
        record.fail(None, problem, "Give --pr URL, or name the file comments_{repo}_{number}.json.")
    user = None if value.get("user") is None else record.object("user", "user").value
    state = value["state"].upper() if isinstance(value.get("state"), str) else ""
    changed = value.get("updated_at")
    return Said(
        remark.kind,
        _review_comment(remark) if remark.kind is Kind.REVIEW_COMMENT else _body(remark),
        login_of(user) or GHOST,
        remark.about,
        address or (None if on_issue else named),
        on_issue,
        changed if isinstance(changed, str) else "",
        remark.deleted,
        state in ("APPROVED", "CHANGES_REQUESTED"),
    )


def _review_comment(remark: Remark) -> Comment:
    value = remark.record.value
    prefix = "original_" if value.get("line") is None else ""  # null where the comment is outdated
    outdated = value.get("outdated")
    if value.get("subject_type") in ("file", "FILE"):
        return _comment(remark, _KEYS, {})
    if outdated is None and value.get("original_line") is not None:
        outdated = value.get("line") is None
    last = f"{prefix}line"
    first = f"{prefix}start_line" if value.get(f"{prefix}start_line") is not None else last
    return _comment(remark, {**_KEYS, "from_line": first, "to_line": last}, {"outdated": outdated})


def _body(remark: Remark) -> Comment:
    return _comment(remark, _OF_BODIES, {})


def _comment(remark: Remark, keys: dict[str, str], told: dict[str, object]) -> Comment:
    value = remark.record.value
    at = "created_at" if value.get("created_at") is not None else "submitted_at"
    # Lines as they are now are those of the latest commit; as they were, of the one that the comment was made on.
    commits = ("commit_id", "original_commit_id")[:: 1 if value.get("line") is not None else -1]
    commit = next((name for name in commits if value.get(name) is not None), "commit_id")
    if isinstance(value.get("reactions"), dict):
        told["reactions"] = _given(value["reactions"])
    told["id"] = comment_id(remark.kind, value.get("id"))
    if remark.kind is Kind.REVIEW_COMMENT:
        told["in_reply_to_id"] = comment_id(remark.kind, value.get("in_reply_to_id"))
    record = remark.record._replace(value={**value, **told})
    return record.comment({**keys, "at": at, "commit": commit})


def _given(reactions: dict[str, Any]) -> dict[str, Any]:
    """REST's object without its address and sum, and without what nobody gave."""
    return {name: count for name, count in reactions.items() if name not in ("url", "total_count") and count != 0}


def paths_by_address(everything: list[Said]) -> dict[str, frozenset[str]]:
    """The files that are known of each pull request."""
    paths: dict[str, set[str]] = {}
    for said in everything:
        if said.comment.path:
            paths.setdefault(said.address or "", set()).add(said.comment.path)
    return {address: frozenset(known) for address, known in paths.items()}
