"""`events`: one event per JSON line, or the same columns in Parquet.

`repo`, `pr`, `at` and `kind` must be there. A key that is null says as little as one that is absent; keys that are not
an event's are not read.
"""

from __future__ import annotations

from collections.abc import Iterator
from sys import intern

from metareview.formats.parquet import MAGIC, read_rows
from metareview.formats.protocol import HistoryFormat, Reading
from metareview.formats.record import Record
from metareview.formats.source import Source
from metareview.model.event import Event


def sniff(source: Source) -> bool:
    return source.begins_with(MAGIC) or len({"repo", "pr", "at", "kind"} & source.first_object.keys()) >= 3


def events(source: Source, reading: Reading) -> Iterator[Event]:
    """The events; InputError names the line (in Parquet: the row) that cannot be read."""
    if source.begins_with(MAGIC):
        return map(_event, read_rows(source, reading.texts))
    return _of_lines(source)


def _of_lines(source: Source) -> Iterator[Event]:
    for number, line in source.raw_lines():
        record = source.quick_record_of(number, line)
        if record is None:
            continue
        if type(record.value.get("pr")) is float or type(record.value.get("id")) is float:
            record = source.record_of(number, line)  # It may be a whole number of many digits.
            assert record is not None
        yield _event(record)


def _event(record: Record) -> Event:
    """The event of a record. A history has millions: what is as it should be is taken without a further call."""
    get = record.value.get
    repo, pr, kind, identity = get("repo"), get("pr"), get("kind"), get("id")
    actor, actor_type, state, title = get("actor"), get("actor_type"), get("state"), get("title")
    body, base_sha, target, files, draft = get("body"), get("base_sha"), get("target"), get("files"), get("draft")
    for text in (actor, actor_type, state, title, body, base_sha, target):
        if text is not None and type(text) is not str:
            for name in ("actor", "actor_type", "state", "title", "body", "base_sha", "target"):
                record.text(name)
    if draft is not None and type(draft) is not bool:
        record.refuse("draft", "true or false", "Give true, false or null.")
    return Event(
        intern(repo if type(repo) is str and repo else record.required("repo", "a name such as owner/name")),
        pr if type(pr) is int and 0 <= pr < 2**63 else record.whole_number("pr"),
        record.instant("at"),
        intern(kind if type(kind) is str and kind else record.required("kind", "a kind such as opened")),
        (intern(actor.strip()) or None) if actor else None,
        actor_type,
        identity if type(identity) is str else record.identifier("id") or "",
        state,
        title,
        body,
        None if files is None else record.paths("files"),
        draft,
        base_sha,
        target,
    )


PLUGIN = HistoryFormat.of_events("one event per line (JSON lines), or Parquet", sniff, events)
