"""A server that misbehaves: everything passing is waited out and ends with the same bytes, everything else is told."""

import re
from base64 import b64encode
from urllib.parse import quote

import pytest

from github_data import repository, sample_server
from github_server import TOKEN, GitHubServer, Reply
from metareview.errors import UsageError
from metareview.http.connections import Connections
from pulls import Pull

SAMPLE = "acme/shop"
ERROR = "Something went wrong while executing your query. Please include `A1` when reporting this issue."
LIMITED = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1."}]}
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}

# What the server does once, and the seconds that are waited for it.
PASSING = {
    "500": (Reply(500, {}), 1),
    "502 in HTML": (Reply(502, b"<html>Bad Gateway</html>"), 1),
    "504": (Reply(504, b""), 1),
    "503 with retry-after": (Reply(503, {}, {"retry-after": "9"}), 1),
    "dropped": (Reply(drop=True), 1),
    "breaks off": (Reply(200, b'{"data": {"repository": {', cut=12), 1),
    "half of a JSON": (Reply(200, b'{"data": {"repository": {'), 1),
    "empty": (Reply(200, b""), 1),
    "a list": (Reply(200, []), 1),
    "a number": (Reply(200, 7), 1),
    "too deep": (Reply(200, b"[" * 100_000), 1),
    "429 with retry-after": (Reply(429, SECONDARY, {"retry-after": "7"}), 7),
    "429 alone": (Reply(429, {}), 60),
    "403, abuse": (Reply(403, {"message": "You have triggered an abuse detection mechanism."}), 60),
    "403, secondary": (Reply(403, SECONDARY, {"retry-after": "30"}), 30),
    "403, secondary without a time": (Reply(403, SECONDARY), 60),
    "403, hourly": (
        Reply(403, {"message": "x"}, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000300"}),
        301,
    ),
}
# Of GraphQL only: errors inside a 200.
PASSING_INSIDE = {
    "limited": (Reply(200, LIMITED), 60),
    "limited until": (Reply(200, LIMITED, {"x-ratelimit-remaining": "0", "x-ratelimit-reset": "1800000060"}), 61),
    "something went wrong": (Reply(200, {"errors": [{"message": ERROR}]}), 1),
    "partial data": (Reply(200, {"data": {"repository": {"p31": {}}}, "errors": [{"message": ERROR}]}), 1),
    "internal": (Reply(200, {"data": None, "errors": [{"type": "INTERNAL", "message": "x"}]}), 1),
    "a timeout of theirs": (Reply(200, {"errors": [{"type": "SERVICE_UNAVAILABLE", "message": "timedout"}]}), 1),
    "no data": (Reply(200, {"message": "?"}), 1),
    "errors of another shape": (Reply(200, {"errors": ["x"]}), 1),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    with sample_server() as server:
        return Pull(tmp_path_factory.mktemp("whole")).bytes(server), len(server.log)


@pytest.mark.parametrize(
    ("fault", "number"),
    [(each, n) for faults, most in ((PASSING, 3), (PASSING_INSIDE, 2)) for each in faults for n in range(most)],
)
def test_what_passes_changes_nothing(pull, whole, fault, number):
    """At the listing, at the pull requests (GraphQL), and at a commit (REST)."""
    reply, seconds = (PASSING | PASSING_INSIDE)[fault]
    with sample_server(script=lambda exchange: reply if exchange.number == number else None) as server:
        assert pull.bytes(server) == whole[0]
    assert pull.clock.waits == [seconds]
    assert len([line for line in pull.told if "goes on at" in line or "trying again" in line]) == 1


def test_a_request_that_is_too_much_is_made_smaller(pull, whole):
    asked = []

    def script(exchange):
        if "p31" not in exchange.query:
            return None
        asked.append(len(re.findall(r"p\d+: pullRequest", exchange.query)))
        sizes = [int(size) for size in re.findall(r"first: (\d+)", exchange.query)]
        return Reply(502, b"") if asked[-1] > 2 or max(sizes) > 10 else None

    with sample_server(script=script) as server:
        assert pull.bytes(server) == whole[0]
    assert asked == [10, 5, 2]
    assert pull.clock.waits == [1, 2]


def test_the_smallest_request_is_not_repeated_for_ever(pull):
    with sample_server(script=lambda exchange: Reply(502, b"") if "p31" in exchange.query else None) as server:
        with pytest.raises(UsageError, match=r"github\.com does not answer \(HTTP 502\)\. What was done is kept"):
            pull(server)
        assert len(server.log) == 1 + 8


def test_a_limit_that_never_ends_is_no_endless_wait(pull):
    for seconds, words in (("0", "again and again that it is asked too often"), ("86400", "left alone until")):
        reply = Reply(429, {}, {"retry-after": seconds})
        with sample_server(script=lambda exchange, reply=reply: reply) as server:
            with pytest.raises(UsageError, match=words):
                pull(server)
            assert len(server.log) == (12 if seconds == "0" else 1)
    assert sum(pull.clock.waits) == 0


def test_a_limit_that_is_used_up_is_waited_for_before_the_next_request(pull, whole):
    with sample_server() as server:
        server.remaining = 1
        server.resets_at = "2027-01-15T08:10:00Z"  # the clock is at 08:00
        assert pull.bytes(server) == whole[0]
    assert pull.clock.waits == [601.0]
    assert any("the hourly limit is used up; goes on at" in line for line in pull.told)


def test_the_progress_tells_what_is_left_of_the_limit(pull):
    with sample_server() as server:
        pull(server, command="history")
    resets = re.search(r"resets (\d\d:\d\d)", pull.told[-1])
    assert resets
    assert pull.told[-1] == f"14 of 14 pull requests, 4,997 of 5,000 requests left, resets {resets[1]}"


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(401, {"message": f"Bad credentials {TOKEN}"}), "refuses the token (HTTP 401). Set GITHUB_TOKEN"),
        (Reply(403, {"message": "Resource not accessible by personal access token"}), "Give a token that may read"),
        (Reply(403, {"message": f"no {TOKEN}"}), "refuses (HTTP 403). Give a token"),
        (Reply(403, {"message": "y" * 195 + quote(TOKEN)}), "refuses (HTTP 403). Give a token"),
        (Reply(403, {"message": b64encode(f"Bearer {TOKEN}".encode()).decode()}), "refuses (HTTP 403). Give a token"),
        (Reply(400, b"\xff"), "refuses (HTTP 400)"),
        (Reply(404, {"message": "Not Found"}), "does not answer queries (HTTP 404)"),
        (Reply(301, b"", {"location": "https://elsewhere.example/graphql"}), "does not answer queries (HTTP 301)"),
        (
            Reply(200, {"data": {"repository": None}, "errors": [{"type": "NOT_FOUND", "path": ["repository"]}]}),
            "no repository acme/shop that this token may read",
        ),
        (
            Reply(200, {"errors": [{"type": "FORBIDDEN", "message": "protected by organization SAML enforcement"}]}),
            "single sign-on",
        ),
        (
            Reply(200, {"errors": [{"message": "Field 'x'", "extensions": {"code": "undefinedField"}}]}),
            "may be too old",
        ),
        (Reply(200, {"errors": [{"type": "INSUFFICIENT_SCOPES", "message": "scopes"}]}), "lacks a scope"),
        (Reply(200, {"data": {"repository": {"pullRequests": 7}}}), "not those of GitHub's API"),
        (Reply(200, {"data": {"repository": {"pullRequests": {"nodes": [{"createdAt": "x"}]}}}}), "is no time"),
        (
            Reply(200, {"data": {"repository": {"pullRequests": {"nodes": [{"createdAt": "2026-01-01"}]}}}}),
            "has no number",
        ),
    ],
)  # fmt: skip
def test_what_no_retry_would_change_is_told_with_the_fix(pull, reply, words):
    with sample_server(script=lambda exchange: reply) as server, pytest.raises(UsageError) as refusal:
        pull(server)
    assert words in str(refusal.value)
    assert TOKEN not in str(refusal.value)
    assert pull.clock.waits == []


def test_pages_that_run_in_a_circle_are_left(pull):
    page = {"pageInfo": {"hasNextPage": True, "endCursor": "x"}, "nodes": []}
    reply = Reply(200, {"data": {"repository": {"pullRequests": page}}})
    with sample_server(script=lambda exchange: reply) as server, pytest.raises(UsageError, match="run in a circle"):
        pull(server)


def test_a_server_that_is_not_there(pull):
    with sample_server() as server:
        pass
    with pytest.raises(UsageError, match=r"does not answer \(no connection: .*\)"):
        pull(server)
    assert pull.clock.waits == [1, 2, 4]


def test_a_server_that_never_answers(pull, monkeypatch):
    monkeypatch.setattr("metareview.sources.api._SECONDS", 0.05)
    with sample_server(latency=0.5) as server, pytest.raises(UsageError, match=r"no answer within 0\.05 s"):
        pull(server)


def test_a_reply_without_an_end_is_refused(pull, monkeypatch):
    monkeypatch.setitem(Connections.exchange.__kwdefaults__, "largest", 999)
    with sample_server() as server, pytest.raises(UsageError, match="the reply is larger than"):
        pull(server)


def test_another_server_never_gets_the_token(pull, whole):
    with sample_server() as other:

        def script(exchange):
            where = {"location": f"{other.url}{exchange.path}"}
            return Reply(301, b"", where) if exchange.method == "GET" else None

        with sample_server(script=script) as server, pytest.raises(UsageError, match="redirects to another server"):
            pull(server)
        assert other.log == []


def test_a_redirect_of_the_server_to_itself_is_followed(pull, whole):
    """As for a repository that was renamed."""

    def script(exchange):
        moved = exchange.path.replace("/repos/acme/shop/", "/repos/old/name/")
        return Reply(301, b"", {"location": moved}) if "/repos/acme/" in exchange.path else None

    with sample_server(script=script) as server:
        assert pull.bytes(server) == whole[0]


def test_the_token_is_sent_and_never_shown(pull, tmp_path):
    def script(exchange):
        if exchange.number in (1, 3):
            return Reply(200, {"errors": [{"message": f"Something went wrong, {TOKEN} {TOKEN[::-1]}"}]})
        return None

    with sample_server(script=script) as server:
        with pytest.raises(UsageError) as refusal:
            pull(server, "acme/shop#1-3")
        pull(server)
    assert {each.headers["authorization"] for each in server.log} == {f"Bearer {TOKEN}"}
    shown = [*pull.told, str(refusal.value), (tmp_path / "out.jsonl").read_text("utf-8")]
    assert not any(TOKEN in text or TOKEN[::-1] in text for text in shown)
    assert any("problem with the query; trying again" in line for line in pull.told)


def test_where_no_pull_request_is_found(pull):
    with GitHubServer(repository([])) as server:
        result = pull(server)
        assert (result.prs, result.lines, result.file.read_bytes()) == (0, 0, b"")
        with pytest.raises(UsageError, match=r"acme/shop has no pull request #5\."):
            pull(server, "acme/shop#5", file="five.jsonl")
