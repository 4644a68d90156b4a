"""What `pull history` writes: what was known when."""

import json

import pytest

from github_data import actor, event, repository, sample_server
from github_server import GitHubServer, Reply
from metareview.formats.histories.events import time_order
from metareview.formats.history import read_history

AT = "2026-03-02T09:00:00Z"


def told(**more):
    return {"number": 7, "at": AT, "by": "ana", "title": "Carts", "files": ["a.py"], **more}


def pulled(pull, *pulls, **server_options):
    with GitHubServer(repository(list(pulls)), **server_options) as server:
        return [json.loads(line) for line in pull.bytes(server, command="history").decode().splitlines()]


def short(events):
    return [(each["at"][11:16], each["kind"], each.get("actor")) for each in events]


def test_what_is_opened(pull):
    [opened] = pulled(pull, told(body="Fixes #1", by="dep[bot]"))
    assert opened == {
        "repo": "acme/shop",
        "pr": 7,
        "at": AT,
        "kind": "opened",
        "actor": "dep[bot]",
        "actor_type": "Bot",
        "id": "PR_acme/shop_7",
        "title": "Carts",
        "body": "Fixes #1",
        "files": ["a.py"],
        "draft": False,
        "base_sha": opened["base_sha"],
    }


def test_a_review_comment_happens_when_others_can_see_it(pull):
    """Written at 09:08, while its review was still a draft; the reply came after the review."""
    waited = {"path": "a.py", "line": 3, "by": "ben", "after": 8, "note": "x", "submitted": 40}
    waited["replies"] = [["ana", 50, "y"]]
    assert short(pulled(pull, told(threads=[waited], reviews=[["ben", 40, "COMMENTED", ""]])))[1:] == [
        ("09:40", "review_comment", "ben"),
        ("09:40", "review_submitted", "ben"),
        ("09:50", "review_comment", "ana"),
    ]


def test_everything_that_happens_in_time_order(pull):
    found = pulled(
        pull,
        told(
            timeline=[
                ["ReviewRequestedEvent", 1, "ana", "ben"],
                ["ReviewRequestRemovedEvent", 2, "ana", "ben"],
                ["ReviewRequestedEvent", 3, "ana", "acme/core"],
                ["ConvertToDraftEvent", 4, "ana"],
                ["ReadyForReviewEvent", 5, "ana"],
                ["RenamedTitleEvent", 6, "ana", "Cart", "Carts"],
                ["ClosedEvent", 20, "ana"],
                ["ReopenedEvent", 21, "ana"],
            ],
            threads=[{"path": "a.py", "line": 3, "by": "ben", "after": 8, "note": "x", "replies": [["ana", 9, "y"]]}],
            reviews=[["ben", 10, "APPROVED", "ok"], ["cleo", 11, "PENDING", ""]],
            comments=[["dana", 12, "@ben?"]],
            commits=[{"name": "one", "after": -3, "by": "ana"}, {"name": "two", "after": 13, "by": "ana"}],
            force_pushed=14,
            merged=[30, "ben"],
        ),
    )
    assert short(found) == [
        ("09:00", "opened", "ana"),
        ("09:01", "review_requested", "ana"),
        ("09:02", "review_request_removed", "ana"),
        ("09:03", "review_requested", "ana"),
        ("09:04", "converted_to_draft", "ana"),
        ("09:05", "ready_for_review", "ana"),
        ("09:06", "edited", "ana"),
        ("09:08", "review_comment", "ben"),
        ("09:09", "review_comment", "ana"),
        ("09:10", "review_submitted", "ben"),
        ("09:12", "comment", "dana"),
        ("09:13", "pushed", "ana"),
        ("09:14", "pushed", "ana"),
        ("09:20", "closed", "ana"),
        ("09:21", "reopened", "ana"),
        ("09:30", "merged", "ben"),  # and closes, which is no event of its own
    ]
    assert [each["target"] for each in found if "target" in each] == ["ben", "ben", "acme/core"]
    assert [each["title"] for each in found if "title" in each] == ["Cart", "Carts"]
    assert [each["state"] for each in found if "state" in each] == ["APPROVED"]


@pytest.mark.parametrize(
    ("now", "changes", "draft"),
    [
        (True, [], True),
        (False, [], False),
        (False, [["ReadyForReviewEvent", 5, "ana"]], True),
        (True, [["ConvertToDraftEvent", 5, "ana"]], False),
        (False, [["ConvertToDraftEvent", 5, "ana"], ["ReadyForReviewEvent", 6, "ana"]], False),
    ],
)
def test_the_draft_state_at_opening_is_that_before_its_first_change(pull, now, changes, draft):
    repo = repository([told()])
    repo["pullRequests"][0]["isDraft"] = now
    repo["pullRequests"][0]["timelineItems"] = [event(7, AT, change) for change in changes]
    with GitHubServer(repo) as server:
        opened = json.loads(pull.bytes(server, command="history").splitlines()[0])
    assert opened["draft"] is draft


def test_the_text_at_opening_is_its_first_version(pull):
    found = pulled(pull, told(body="one", edits=[[5, "two"], [9, "three"]]))
    assert [(each["kind"], each["body"]) for each in found] == [
        ("opened", "one"),
        ("edited", "two"),
        ("edited", "three"),
    ]


def test_a_text_whose_first_version_is_gone_is_unknown(pull):
    repo = repository([told(body="one", edits=[[5, "two"]])])
    repo["pullRequests"][0]["includesCreatedEdit"] = False
    repo["pullRequests"][0]["userContentEdits"].pop()  # the oldest is listed last
    with GitHubServer(repo) as server:
        opened, edited = [json.loads(line) for line in pull.bytes(server, command="history").splitlines()]
    assert "body" not in opened
    assert edited["body"] == "two"


def test_a_dismissed_review_was_something_else(pull):
    repo = repository([told(reviews=[["ben", 5, "DISMISSED", ""]])])
    [review] = repo["pullRequests"][0]["timelineItems"]
    repo["pullRequests"][0]["timelineItems"].append(
        event(7, AT, ["ReviewDismissedEvent", 9, "ana", "CHANGES_REQUESTED", review["id"]])
    )
    with GitHubServer(repo) as server:
        lines = [json.loads(line) for line in pull.bytes(server, command="history").splitlines()]
    assert [each["state"] for each in lines if each["kind"] == "review_submitted"] == ["CHANGES_REQUESTED"]


def test_a_deleted_account_is_nobody(pull):
    [opened, requested] = pulled(pull, told(by=None, timeline=[["ReviewRequestedEvent", 1, None, None]]))
    assert "actor" not in opened
    assert "target" not in requested
    assert actor(None) is None


def test_a_token_that_may_not_read_teams_still_gets_the_rest(pull):
    def script(exchange):
        if "combinedSlug" in exchange.query:
            words = "Your token has not been granted the required scopes: ['read:org']"
            return Reply(200, {"errors": [{"type": "INSUFFICIENT_SCOPES", "message": words}]})
        return None

    timeline = [["ReviewRequestedEvent", 1, "ana", "acme/core"], ["ReviewRequestedEvent", 2, "ana", "ben"]]
    with GitHubServer(repository([told(timeline=timeline)]), script=script) as server:
        result = pull(server, command="history")
        lines = [json.loads(line) for line in result.file.read_text("utf-8").splitlines()]
    assert [each.get("target") for each in lines] == [None, None, "ben"]
    assert result.warnings == ("the token may not read teams (scope read:org), so requests to teams have no target",)


def test_histories_of_many_pull_requests_are_in_the_order_that_readers_use(pull, tmp_path):
    with sample_server() as server:
        result = pull(server, command="history")
    lines = [json.loads(line) for line in result.file.read_text("utf-8").splitlines()]
    assert lines == sorted(lines, key=lambda line: time_order(json.dumps(line)))
    history = read_history(result.file)
    assert len(history.events) == len(lines) == result.lines
    assert history.warnings == ()
    assert {"lintwise[bot]", "sharpeye[bot]"} == history.bots
