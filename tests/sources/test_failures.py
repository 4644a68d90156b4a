"""Servers that misbehave: all that passes is waited out and ends with the same bytes, everything else is refused."""

import json
import re
from base64 import b64encode
from urllib.parse import quote

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import gitlab_server
from github_data import repository, sample_server
from github_server import TOKEN, GitHubServer
from gitlab_server import PATH, GitLabServer, discussion, merge_request, note, on_line, project, sample
from metareview.errors import InputError, UsageError
from metareview.formats.comments.gitlab import conversation
from metareview.formats.comments.jsonl import line_of
from metareview.http.connections import Connections
from metareview.model.selection import ALL_NAMES
from pulls import GitLabPull, Pull
from scripted_server import Reply

GITLAB_TOKEN = gitlab_server.TOKEN
TOKENS = {"github": TOKEN, "gitlab": GITLAB_TOKEN}
PULLS = {"github": Pull, "gitlab": GitLabPull}
ERROR = "Something went wrong while executing your query. Please include `A1` when reporting this issue."
LIMITED = {"errors": [{"type": "RATE_LIMITED", "message": "API rate limit exceeded for user ID 1."}]}
SECONDARY = {"message": "You have exceeded a secondary rate limit. Please wait a few minutes."}


# What a server does once, and the seconds that are waited for it. The clock is at 1,800,000,000.
PASSING = {
    "500": (Reply(500, {}), 1),
    "502 in HTML": (Reply(502, b"<html>Bad Gateway</html>"), 1),
    "dropped": (Reply(drop=True), 1),
    "breaks off": (Reply(200, b'{"data": {"repository": {', cut=12), 1),
    "half of a JSON": (Reply(200, b'[{"iid": 1'), 1),
    "empty": (Reply(200, b""), 1),
    "a number": (Reply(200, 7), 1),
    "429 with retry-after": (Reply(429, b"Retry later\n", {"Retry-After": "7"}), 7),
    "429 alone": (Reply(429, {"message": {"error": "too many times"}}), 60),
}
PASSING_GITLAB = {"429 until": (Reply(429, {}, {"RateLimit-Remaining": "5", "RateLimit-Reset": "1800000040"}), 41)}
PASSING_GITHUB = {
    "504": (Reply(504, b""), 1),
    "503 with retry-after": (Reply(503, {}, {"retry-after": "9"}), 1),
    "a list": (Reply(200, []), 1),
    "too deep": (Reply(200, b"[" * 100_000), 1),
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


def serve(host, script=lambda exchange: None):
    return sample_server(script=script) if host == "github" else GitLabServer(sample(), script)


@pytest.fixture(params=PULLS)
def host(request):
    return request.param


@pytest.fixture
def pull_from(tmp_path, host):
    return PULLS[host](tmp_path)


@pytest.fixture(scope="module")
def wholes(tmp_path_factory):
    """What each server's pull writes, and its requests."""
    found = {}
    for host, pull in PULLS.items():
        with serve(host) as server:
            found[host] = pull(tmp_path_factory.mktemp("whole")).bytes(server), len(server.log)
    return found


def once(host, faults, requests):
    return [(host, reply, number, seconds) for reply, seconds in faults.values() for number in range(requests)]


@pytest.mark.parametrize(
    ("host", "reply", "number", "seconds"),
    [
        *once("github", PASSING | PASSING_GITHUB, 3),
        *once("github", PASSING_INSIDE, 2),
        *once("gitlab", PASSING | PASSING_GITLAB, 7),
    ],
)
def test_what_passes_changes_nothing(pull_from, wholes, host, reply, number, seconds):
    """At the listing, at the pull requests (GraphQL), and at a commit (REST). At GitLab's listing, the project, a merge
    request, its discussions, its commits, a commit and its diff."""
    whole, requests = wholes[host]
    with serve(host, lambda exchange: reply if exchange.number == number else None) as server:
        assert pull_from.bytes(server) == whole
    assert host == "github" or len(server.log) == requests + 1
    assert pull_from.clock.waits == [seconds]
    assert len([line for line in pull_from.told if "goes on at" in line or "trying again" in line]) == 1


REFUSED = {
    "github": [
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
    "gitlab": [
        (
            Reply(401, {"message": f"401 {GITLAB_TOKEN}"}),
            "refuses the token (HTTP 401). Set GITLAB_TOKEN to a valid one.",
        ),
        (Reply(403, {"error": "insufficient_scope"}), "refuses (HTTP 403). Give a token with the scope read_api"),
        (Reply(403, {"message": "403 Forbidden"}), "refuses (HTTP 403: 403 Forbidden)"),
        (Reply(403, {"message": f"no {GITLAB_TOKEN[:12]}…"}), "refuses (HTTP 403). Give"),
        (Reply(403, {"message": "y" * 195 + GITLAB_TOKEN}), "refuses (HTTP 403). Give"),
        (Reply(403, {"message": "".join(f"\\x{ord(c):02x}" for c in GITLAB_TOKEN)}), "refuses (HTTP 403). Give"),
        (Reply(200, [7]), "replies that are not those of GitLab's API"),
        (Reply(200, [{"iid": 1}]), "created_at is missing"),
        (Reply(200, [{"iid": 0, "created_at": "2026-01-01T00:00:00Z"}]), "has no number"),
        (Reply(200, [{"iid": 1, "created_at": "today"}]), "is no time"),
        (Reply(200, [], {"x-next-page": "1"}), "run in a circle"),
        (Reply(200, [], {"x-next-page": "-3"}), "run in a circle"),
        (Reply(200, [], {"x-next-page": "9" * 5_000}), "run in a circle"),
        (Reply(302, b"", {"location": "https://elsewhere.example/users/sign_in"}), "redirects to another server"),
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("host", "reply", "words"), [(host, *refusal) for host, refusals in REFUSED.items() for refusal in refusals]
)
def test_what_no_retry_would_change_is_refused_with_the_fix(pull_from, tmp_path, host, reply, words):
    with serve(host, lambda exchange: reply) as server, pytest.raises(UsageError) as refusal:
        pull_from(server, since="2025-01-01")
    assert words in str(refusal.value)
    assert TOKENS[host] not in str(refusal.value)
    assert pull_from.clock.waits == []
    assert not (tmp_path / "out.jsonl").exists()


def test_another_server_never_gets_the_token(pull_from, host):
    with serve(host) as other:

        def script(exchange):
            where = {"location": f"{other.url}{exchange.path}"}
            return Reply(301, b"", where) if exchange.method == "GET" else None

        with serve(host, script) as server, pytest.raises(UsageError, match="redirects to another server"):
            pull_from(server)
        assert other.log == []


def test_a_repository_that_moved_is_followed_on_its_server(pull_from, wholes, host):
    def script(exchange):
        if "moved" in exchange.path or exchange.method != "GET":
            return None
        joint = "&" if "?" in exchange.path else "?"
        return Reply(301, b"", {"location": f"{exchange.path}{joint}moved=1"})

    with serve(host, script) as server:
        assert pull_from.bytes(server) == wholes[host][0]


# GitHub


def test_a_request_that_is_too_much_is_made_smaller(pull, wholes):
    asked = []

    def script(exchange):
        if "p31" not in exchange.query:
            return None
        asked.append(len(re.findall(r"p\d+: pullRequest", exchange.query)))
        sizes = [int(size) for size in re.findall(r"first: (\d+)", exchange.query)]
        return Reply(502, b"") if asked[-1] > 2 or max(sizes) > 10 else None

    with sample_server(script=script) as server:
        assert pull.bytes(server) == wholes["github"][0]
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


def test_a_limit_that_is_used_up_is_waited_for_before_the_next_request(pull, wholes):
    with sample_server() as server:
        server.remaining = 1
        server.resets_at = "2027-01-15T08:10:00Z"  # the clock is at 08:00
        assert pull.bytes(server) == wholes["github"][0]
    assert pull.clock.waits == [601.0]
    assert any("the hourly limit is used up; goes on at" in line for line in pull.told)


def test_the_progress_tells_what_is_left_of_the_limit(pull):
    with sample_server() as server:
        pull(server, command="history")
    resets = re.search(r"resets (\d\d:\d\d)", pull.told[-1])
    assert resets
    assert pull.told[-1] == f"14 of 14 pull requests, 4,997 of 5,000 requests left, resets {resets[1]}"


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


# GitLab


def test_a_limit_of_gitlab_that_is_used_up_is_waited_for_and_shown(gitlab_pull, wholes):
    headers = {"RateLimit-Limit": "2000", "RateLimit-Remaining": "0", "RateLimit-Reset": "1800000009"}
    with GitLabServer(sample(), headers=headers) as server:
        assert gitlab_pull.bytes(server) == wholes["gitlab"][0]
    assert gitlab_pull.clock.waits == [10.0]
    assert gitlab_pull.told[-1].startswith("5 of 5 pull requests, 0 of 2,000 requests left, resets ")
    assert any(line.startswith("the limit is used up; goes on at") for line in gitlab_pull.told)


def test_the_token_goes_with_every_request_and_is_shown_nowhere(gitlab_pull, tmp_path):
    def script(exchange):
        return Reply(503, {"message": GITLAB_TOKEN}, {"x-echo": GITLAB_TOKEN}) if exchange.number in (0, 4) else None

    with GitLabServer(sample(), script) as server:
        gitlab_pull(server)
    assert {each.headers["private-token"] for each in server.log} == {GITLAB_TOKEN}
    assert not any(GITLAB_TOKEN in each.path for each in server.log)
    assert not any(GITLAB_TOKEN in text for text in [*gitlab_pull.told, (tmp_path / "out.jsonl").read_text("utf-8")])


def test_a_pull_that_was_cut_off_goes_on_without_asking_again(gitlab_pull, wholes):
    """It is cut off at every request in turn, and ends with the same bytes."""
    for number in range(wholes["gitlab"][1]):

        def script(exchange, last=number):
            return None if exchange.number < last else Reply(drop=True)

        with GitLabServer(sample(), script) as one, pytest.raises(UsageError, match="does not answer"):
            gitlab_pull(one, file=f"{number}.jsonl")
        with GitLabServer(sample()) as other:
            gitlab_pull(other, file=f"{number}.jsonl")
        assert (gitlab_pull.folder / f"{number}.jsonl").read_bytes() == wholes["gitlab"][0]
        listed = [each for each in other.log if "/merge_requests?" in each.path]
        assert len(listed) == (number == 0)
    assert len(other.log) == 1 + 2  # the project again, and the last merge request


def test_merge_requests_that_run_out_between_the_listing_and_the_fetching(gitlab_pull):
    def script(exchange):
        return Reply(404, {}) if exchange.path.endswith("/merge_requests/4") else None

    with GitLabServer(sample(), script) as server:
        result = gitlab_pull(server)
    assert (result.prs, result.warnings) == (4, ("group/sub/shop has no pull request #4",))


def test_a_detail_that_cannot_be_read_is_left_out_and_counted(gitlab_pull, tmp_path):
    odd = discussion(note(1, "ben", "Off.", **on_line(0, "c1")))
    with GitLabServer(project(merge_request(1, odd))) as server:
        result = gitlab_pull(server)
    assert result.warnings == ("2 details of comments are not what GitLab writes; left out",)
    [record] = map(json.loads, (tmp_path / "out.jsonl").read_text("utf-8").splitlines())
    assert "from_line" not in record["comments"][0]
    assert record["comments"][0]["path"] == "src/cart.py"


def test_every_detail_that_cannot_be_read_is_counted(gitlab_pull):
    odd = [discussion(note(number, "ben", "Off.", **on_line(3, "c1", path=[number]))) for number in range(1, 26)]
    with GitLabServer(project(merge_request(1, *odd))) as server:
        result = gitlab_pull(server)
    assert result.warnings == ("25 details of comments are not what GitLab writes; left out",)


NAMES = st.sampled_from(
    ["id", "body", "author", "username", "bot", "system", "notes", "individual_note", "noteable_type", "position",
     "new_line", "old_line", "new_path", "line_range", "resolvable", "resolved", "created_at", "web_url", "diff_refs",
     "head_sha", "merged_at", "closed_at"]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers(-3, 12) | st.sampled_from(["2026-01-01", "ben", "\ud800", ""])
ANYTHING = st.recursive(LEAVES, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=8))
OBJECTS = st.dictionaries(NAMES, ANYTHING, max_size=8)


@settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(OBJECTS, st.lists(OBJECTS, max_size=3), st.lists(OBJECTS, max_size=3))
def test_whatever_a_server_sends_is_read_or_unexpected(fields, discussions, notes):
    about = {"web_url": f"https://gitlab.example/{PATH}/-/merge_requests/1"} | fields
    said = [*discussions, {"individual_note": False, "notes": [note(1, "ben", "x") | each for each in notes]}]
    try:
        found, _ = conversation(about, said)
        lines = list(map(line_of, found.reviews(ALL_NAMES, lambda comments: [])))
    except InputError:
        return
    assert all(isinstance(json.loads(line), dict) for line in lines)
