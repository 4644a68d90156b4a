"""A GitLab server that misbehaves: everything passing is waited out and ends with the same bytes, the rest is told."""

import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from gitlab_server import PATH, TOKEN, GitLabServer, discussion, merge_request, note, on_line, project, sample
from metareview.errors import InputError, UsageError
from metareview.formats.comments.gitlab import conversation
from metareview.formats.comments.jsonl import line_of
from metareview.model.selection import EVERYBODY
from pulls import GitLabPull
from scripted_server import Reply

# What the server does once, and the seconds that are waited for it. The clock is at 1,800,000,000.
PASSING = {
    "500": (Reply(500, {}), 1),
    "502 in HTML": (Reply(502, b"<html>Bad Gateway</html>"), 1),
    "dropped": (Reply(drop=True), 1),
    "breaks off": (Reply(200, b'[{"iid": 1', cut=4), 1),
    "half of a JSON": (Reply(200, b'[{"iid": 1'), 1),
    "empty": (Reply(200, b""), 1),
    "a number": (Reply(200, 7), 1),
    "429 with retry-after": (Reply(429, b"Retry later\n", {"Retry-After": "7"}), 7),
    "429 until": (Reply(429, {}, {"RateLimit-Remaining": "5", "RateLimit-Reset": "1800000040"}), 41),
    "429 alone": (Reply(429, {"message": {"error": "too many times"}}), 60),
}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    with GitLabServer(sample()) as server:
        return GitLabPull(tmp_path_factory.mktemp("whole")).bytes(server), len(server.log)


@pytest.mark.parametrize("fault", PASSING)
@pytest.mark.parametrize("number", [0, 1, 2, 3, 4, 5, 6])
def test_what_passes_changes_nothing(gitlab_pull, whole, fault, number):
    """At the listing, the project, a merge request, its discussions, its commits, a commit and its diff."""
    reply, seconds = PASSING[fault]
    with GitLabServer(sample(), lambda exchange: reply if exchange.number == number else None) as server:
        assert gitlab_pull.bytes(server) == whole[0]
    assert len(server.log) == whole[1] + 1
    assert gitlab_pull.clock.waits == [seconds]


def test_a_limit_that_is_used_up_is_waited_for_and_shown(gitlab_pull, whole):
    headers = {"RateLimit-Limit": "2000", "RateLimit-Remaining": "0", "RateLimit-Reset": "1800000009"}
    with GitLabServer(sample(), headers=headers) as server:
        assert gitlab_pull.bytes(server) == whole[0]
    assert gitlab_pull.clock.waits == [10.0]
    assert gitlab_pull.told[-1].startswith("5 of 5 pull requests, 0 of 2,000 requests left, resets ")
    assert any(line.startswith("the limit is used up; goes on at") for line in gitlab_pull.told)


@pytest.mark.parametrize(
    ("reply", "words"),
    [
        (Reply(401, {"message": f"401 {TOKEN}"}), "refuses the token (HTTP 401). Set GITLAB_TOKEN to a valid one."),
        (Reply(403, {"error": "insufficient_scope"}), "refuses (HTTP 403). Give a token with the scope read_api"),
        (Reply(403, {"message": "403 Forbidden"}), "refuses (HTTP 403: 403 Forbidden)"),
        (Reply(403, {"message": f"no {TOKEN[:12]}…"}), "refuses (HTTP 403). Give"),
        (Reply(403, {"message": "y" * 195 + TOKEN}), "refuses (HTTP 403). Give"),
        (Reply(403, {"message": "".join(f"\\x{ord(c):02x}" for c in TOKEN)}), "refuses (HTTP 403). Give"),
        (Reply(200, [7]), "replies that are not those of GitLab's API"),
        (Reply(200, [{"iid": 1}]), "created_at is missing"),
        (Reply(200, [{"iid": 0, "created_at": "2026-01-01T00:00:00Z"}]), "has no number"),
        (Reply(200, [{"iid": 1, "created_at": "today"}]), "is no time"),
        (Reply(200, [], {"x-next-page": "1"}), "run in a circle"),
        (Reply(200, [], {"x-next-page": "-3"}), "run in a circle"),
        (Reply(200, [], {"x-next-page": "9" * 5_000}), "run in a circle"),
        (Reply(302, b"", {"location": "https://elsewhere.example/users/sign_in"}), "redirects to another server"),
    ],
)  # fmt: skip
def test_what_no_retry_would_change_is_told_with_the_fix(gitlab_pull, tmp_path, reply, words):
    since = "2025-01-01"
    with GitLabServer(sample(), lambda exchange: reply) as server, pytest.raises(UsageError) as refusal:
        gitlab_pull(server, since=since)
    assert words in str(refusal.value)
    assert TOKEN not in str(refusal.value)
    assert gitlab_pull.clock.waits == []
    assert not (tmp_path / "out.jsonl").exists()


def test_another_server_never_gets_the_token(gitlab_pull):
    with GitLabServer(sample()) as other:

        def script(exchange):
            return Reply(301, b"", {"location": f"{other.url}{exchange.path}"})

        with GitLabServer(sample(), script) as server, pytest.raises(UsageError, match="redirects to another server"):
            gitlab_pull(server)
        assert other.log == []


def test_a_project_that_moved_is_followed_on_its_server(gitlab_pull, whole):
    def script(exchange):
        if "moved" in exchange.path:
            return None
        joint = "&" if "?" in exchange.path else "?"
        return Reply(301, b"", {"location": f"{exchange.path}{joint}moved=1"})

    with GitLabServer(sample(), script) as server:
        assert gitlab_pull.bytes(server) == whole[0]


def test_the_token_goes_with_every_request_and_is_shown_nowhere(gitlab_pull, tmp_path):
    def script(exchange):
        return Reply(503, {"message": TOKEN}, {"x-echo": TOKEN}) if exchange.number in (0, 4) else None

    with GitLabServer(sample(), script) as server:
        gitlab_pull(server)
    assert {each.headers["private-token"] for each in server.log} == {TOKEN}
    assert not any(TOKEN in each.path for each in server.log)
    assert not any(TOKEN in text for text in [*gitlab_pull.told, (tmp_path / "out.jsonl").read_text("utf-8")])


def test_a_pull_that_was_cut_off_goes_on_without_asking_again(gitlab_pull, whole):
    """It is cut off at every request in turn, and ends with the same bytes."""
    for number in range(whole[1]):

        def script(exchange, last=number):
            return None if exchange.number < last else Reply(drop=True)

        with GitLabServer(sample(), script) as one, pytest.raises(UsageError, match="does not answer"):
            gitlab_pull(one, file=f"{number}.jsonl")
        with GitLabServer(sample()) as other:
            gitlab_pull(other, file=f"{number}.jsonl")
        assert (gitlab_pull.folder / f"{number}.jsonl").read_bytes() == whole[0]
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
        lines = list(map(line_of, found.reviews(EVERYBODY, lambda comments: [])))
    except InputError:
        return
    assert all(isinstance(json.loads(line), dict) for line in lines)
