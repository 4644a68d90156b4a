"""`gitlab`: the discussions of a merge request (`projects/ID/merge_requests/N/discussions`), or its plain notes."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any

from metareview.formats.bodies import comments_of
from metareview.formats.conversation import NO_PULL_REQUEST, ApiConversation, PullRequestFacts
from metareview.formats.input_file import InputFile
from metareview.formats.protocol import CommentFormat
from metareview.formats.record import Record
from metareview.model.account import BOT, GHOST
from metareview.model.address import parse_address
from metareview.model.comment import Comment, Review
from metareview.model.time import time_text
from metareview.model.words import plural

_BOT_NAME = re.compile(r"(?:project|group)_[0-9]+_bot(?:_\w+)?")
_LINE_CODE = re.compile(r"[0-9a-f]+_(?P<old>[0-9]{1,10})_(?P<new>[0-9]{1,10})")
_NUMBER = re.compile(r"[#/](?P<number>[0-9]{1,18})(?:[/?#].*)?$")
_AWARDS = {"thumbsup": "+1", "thumbsdown": "-1", "tada": "hooray"}
_VERDICTS = ("approved this merge request", "requested changes")
"""GitLab's own notes, in English on every server, on those who reviewed."""
_LISTS = ("discussions", "notes", "Notes")
_KEYS = {
    **{name: name for name in ("path", "side", "from_line", "to_line", "commit", "in_reply_to", "resolved")},
    **{name: name for name in ("outdated", "reactions")},
    "note": "body",
    "id": "id",
    "at": "created_at",
}
_NOTE = "a discussion or a note"
_FIX = "Give what projects/ID/merge_requests/N/discussions answers."


def sniff(file: InputFile) -> bool:
    if not file.json.looks_like_json:
        return False
    for document in file.json:
        value: Any = document.value
        while isinstance(value, list):
            value = next((item for item in value if item not in (None, [])), None)
        if isinstance(value, dict):
            lists = (value[key] for key in _LISTS if isinstance(value.get(key), list) and value[key])
            return _is_note(value) or any(_is_note(each[0]) for each in lists)
    return False


def _is_note(value: object) -> bool:
    return isinstance(value, dict) and ("noteable_type" in value or "individual_note" in value)


def read(file: InputFile) -> Iterator[Review]:
    """One review per merge request and account, in order of appearance. Replies are kept as such."""
    reviews = _reviews(file, (note for document in file.json for note in _notes(document, NO_PULL_REQUEST, arrays=2)))
    yield from reviews
    if not reviews and file.pull_request:
        yield Review(file.pull_request, source=file.name)


def conversation(merge_request: dict[str, Any], discussions: list[dict[str, Any]]) -> tuple[ApiConversation, int]:
    """All that was posted on a merge request, from the API's answers, and how many fields of comments cannot be read.

    InputError for any other answer.
    """
    file = InputFile.of_text("", "the reply", strict=False)
    record = Record(file, {**merge_request, "discussions": discussions}, 1)
    address = record.required("web_url", "its address")
    if not parse_address(address):
        record.fail("web_url", "web_url is the address of no merge request", _FIX)
    about = _merge_request(record, address)
    reviews = _reviews(file, _notes(record, about, arrays=0))
    comments = [
        comment.replace(author=review.reviewer)
        for review in reviews
        for comment in review.comments
        if comment.note.strip()
    ]
    # A tool's summary without a finding is no comment, but its author has reviewed.
    silent = [review.reviewer or GHOST for review in reviews if not review.comments]
    pull_request = replace(about, author=about.author or GHOST).reviewed(Review(address))
    return ApiConversation(pull_request, comments, [*silent, *_approving(record)]), file.fields_left_out


def _approving(record: Record) -> Iterator[str]:
    """The accounts that approved or requested changes, and need not have written a word."""
    for discussion in record.objects("discussions", _NOTE):
        for note in discussion.objects("notes", "a note"):
            if note.value.get("system") is True and (note.text("body") or "").strip() in _VERDICTS:
                yield _account(note)


def _reviews(file: InputFile, notes: Iterable[tuple[Record, PullRequestFacts]]) -> list[Review]:
    reviews: dict[tuple[str, str], list[Comment]] = {}
    known: dict[str, PullRequestFacts] = {}
    elsewhere = 0
    for record, about in notes:
        if record.value.get("noteable_type") not in (None, "MergeRequest"):
            elsewhere += 1
            continue
        pr = about.address or _named(record)
        known[pr] = about
        reviews.setdefault((pr, _account(record)), []).extend(_comments(record, about.head))
    if elsewhere:
        counted = plural(elsewhere, "note that is", "notes that are")
        file.warnings.add_sentence(f"{file.name}: {counted} not on a merge request; left out")
    return [
        known[pr].reviewed(Review(pr, tuple(comments), account, source=file.name))
        for (pr, account), comments in reviews.items()
    ]


def _notes(record: Record, about: PullRequestFacts, arrays: int) -> Iterator[tuple[Record, PullRequestFacts]]:
    """The notes that people wrote, each with its merge request."""
    if isinstance(record.value, list) and arrays:
        for item in record.items():
            yield from _notes(item, about, arrays - 1)
        return
    value = record.as_object(_NOTE, _FIX).value
    lists = [key for key in _LISTS if isinstance(value.get(key), list)]
    web = value.get("web_url")
    if isinstance(web, str) and parse_address(web):
        about = _merge_request(record, web) if lists else replace(about, address=web)
    if "individual_note" in value or (lists == ["notes"] and about.address is None):
        yield from _of_discussion(record, about)
    elif lists:
        for key in lists:
            for item in record.objects(key, _NOTE):
                yield from _notes(item, about, arrays=0)
    elif "body" not in value:
        record.fail(None, "neither a discussion nor a note", _FIX)
    elif value.get("system") is not True:
        yield record, about


def _merge_request(record: Record, address: str) -> PullRequestFacts:
    """The answer of merge_requests/N, with its discussions added. All fields are optional."""
    value = record.value
    refs = value.get("diff_refs")
    head = refs.get("head_sha") if isinstance(refs, dict) else None
    return PullRequestFacts(
        address,
        author=_account(record) if isinstance(value.get("author"), dict) else None,
        merged_at=time_text(value.get("merged_at")),
        closed_at=time_text(value.get("closed_at")),
        head=head if isinstance(head, str) else None,
    )


def _of_discussion(record: Record, about: PullRequestFacts) -> Iterator[tuple[Record, PullRequestFacts]]:
    """Its notes: the first begins it, the others answer."""
    first = None
    for note in record.objects("notes", "a note"):
        if note.value.get("system") is True:
            continue
        if first is not None and record.value.get("individual_note") is not True:
            note = note._replace(value={**note.value, "in_reply_to": first})
        first = first or (_note_id(note.value["id"]) if note.identifier("id") else "?")
        yield note, about


def _named(record: Record) -> str:
    """The merge request that the user or the file's name gives; it must be the one that the note is on."""
    named = record.file.required_pull_request()
    number, own = _NUMBER.search(named), record.value.get("noteable_iid")
    if number and type(own) is int and int(number["number"]) != own:
        problem = f"a note on merge request {own}, and the file is said to be about {named}"
        record.fail("noteable_iid", problem, "Keep one file per merge request, or give the right --pr.")
    return named


def _account(record: Record) -> str:
    if record.value.get("author") is None:
        return GHOST
    author = record.object("author", "author")
    return account_name(author.text("username"), is_bot=author.value.get("bot") is True)


def account_name(username: str | None, *, is_bot: bool = False) -> str:
    """The author's name; bots of projects and groups end in `[bot]`, so that they are chosen as on GitHub.

    >>> account_name("project_12_bot_9f")
    'project_12_bot_9f[bot]'
    """
    name = username or GHOST
    return name + BOT if (is_bot or _BOT_NAME.fullmatch(name)) and not name.endswith(BOT) else name


def _comments(record: Record, head: str | None) -> list[Comment]:
    """GitLab moves a note to the latest version for as long as its lines are there: one that stayed is outdated."""
    value = record.value
    awards = value.get("award_emoji")
    place = _place(value.get("position"))
    fields = {
        **{key: value[key] for key in ("body", "created_at", "in_reply_to") if key in value},
        "id": _note_id(value.get("id")),
        **place,
        "outdated": None if head is None or place.get("commit") is None else place["commit"] != head,
        "resolved": value.get("resolved") if value.get("resolvable") is True else None,
        "reactions": _reactions(awards) if isinstance(awards, list) else None,
    }
    comment = record._replace(value=fields).comment(_KEYS)
    record.note_or_refusal(comment.note)
    return [comment] if comment.path or comment.in_reply_to is not None else comments_of(comment)


def _note_id(identifier: object) -> object:
    """The end of the note's address; a text stays as it is."""
    return f"note_{identifier}" if type(identifier) is int else identifier


def _place(position: object) -> dict[str, Any]:
    """Where a note stands: lines that were removed are on the left, in the old file."""
    if not isinstance(position, dict):
        return {}
    which = "old" if position.get("new_line") is None and position.get("old_line") is not None else "new"
    place = {
        "path": position.get(f"{which}_path") or position.get("new_path") or position.get("old_path"),
        "commit": position.get("head_sha"),
    }
    line = position.get(f"{which}_line")
    if line is None:
        return place
    ends = position.get("line_range")
    first, last = (_line(ends.get(end), which) if isinstance(ends, dict) else None for end in ("start", "end"))
    side = "left" if which == "old" else "right"
    return {**place, "side": side, "from_line": first or line, "to_line": (last or line) if first else line}


def _line(end: object, which: str) -> object:
    """One end of a range; older versions of GitLab have it only in the line's code, `HASH_OLD_NEW`."""
    if not isinstance(end, dict):
        return None
    if "new_line" in end or "old_line" in end:
        return end.get(f"{which}_line")
    code = end.get("line_code")
    found = _LINE_CODE.fullmatch(code) if isinstance(code, str) else None
    return int(found[which]) if found else None


def _reactions(awards: list[Any]) -> dict[str, int]:
    names = [award.get("name") for award in awards if isinstance(award, dict)]
    return dict(Counter(_AWARDS.get(name, name) for name in names if isinstance(name, str)))


SUMMARY = "GitLab's merge request discussions (merge_requests/N/discussions), or its notes"
PLUGIN = CommentFormat(SUMMARY, sniff, read)
