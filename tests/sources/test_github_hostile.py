"""Replies in which anything may stand where something else should: one message or a file, never a traceback."""

import json
import tempfile
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from github_data import sample_server
from github_server import Reply
from metareview.errors import UsageError
from metareview.formats.history import read_history
from metareview.formats.reader import read_inputs
from pulls import Pull

JUNK = st.sampled_from(
    [None, True, 0, -1, 7, 1e308, "", "x", "2026-01-01", "\ud800", "#", [], [None], [[]], {}, {"nodes": 1}]
)


def places(value, path=()):
    """Where something stands in a document."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from places(inner, (*path, key))


def replaced(document, path, junk):
    if not path:
        return junk
    copy = document.copy()
    copy[path[0]] = replaced(document[path[0]], path[1:], junk)
    return copy


@settings(max_examples=60, deadline=None)
@given(data=st.data(), command=st.sampled_from(["comments", "history"]))
def test_no_reply_ends_in_a_traceback(data, command):
    whats = "acme/shop#31,38,43"

    def script(exchange):
        reply = server._reply(exchange)
        where = list(places(reply.body))
        path = where[data.draw(st.integers(0, len(where) - 1), label=f"place in reply {exchange.number}")]
        return Reply(reply.status, json.dumps(replaced(reply.body, path, data.draw(JUNK))).encode(), reply.headers)

    with tempfile.TemporaryDirectory() as folder, sample_server() as server:
        server.script = lambda exchange: script(exchange) if exchange.number < 3 else None
        pull = Pull(Path(folder))
        try:
            result = pull(server, whats, command=command)
        except UsageError:
            return
        if not result.lines:
            return
        # What was written can be read, or refused as any input is: by its own readers, with file and line.
        if command == "comments":
            read_inputs(result.file)
        else:
            read_history(result.file)


def test_the_places_of_a_document():
    assert set(places({"a": [1, {"b": 2}]})) == {(), ("a",), ("a", 0), ("a", 1), ("a", 1, "b")}
    assert replaced({"a": [1, {"b": 2}]}, ("a", 1, "b"), "x") == {"a": [1, {"b": "x"}]}


@pytest.mark.parametrize("text", ["a\ud800b", "line\u2028end"])
def test_odd_characters_are_kept_or_replaced(pull, text):
    with sample_server() as server:
        server.repositories["acme/shop"]["pullRequests"][0]["comments"] = [
            {"id": "IC_1", "url": "x#issuecomment-1", "body": text, "createdAt": "2026-03-02T09:00:00Z", "author": None}
        ]
        pull(server, "acme/shop#31")
    first = json.loads((pull.folder / "out.jsonl").read_text("utf-8").split("\n")[0])
    assert first["comments"][0]["note"] == text.replace("\ud800", "?")
