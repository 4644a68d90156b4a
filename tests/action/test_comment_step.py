"""One comment per pull request and key: found again, edited, and never anybody else's."""

import json

import pytest
from comment_server import BOT, CommentServer

from metareview.action import kept_comment
from metareview.action.comment import body_of, main, marker_of
from metareview.action.event import PullRequest, pull_request_of
from metareview.action.kept_comment import CommentApi, Patience
from metareview.errors import UsageError
from metareview.sources.access import github_access
from metareview.sources.clock import Clock
from metareview.sources.targets import PullTarget
from scripted_server import Reply

TOKEN = "ghs_step0123456789verysecret"
PERSON = {"login": "mallory", "type": "User"}
PULL_REQUEST = {"pull_request": {"number": 7}}


class NoTime(Clock):
    def __init__(self):
        self.slept = []

    def sleep(self, seconds):
        self.slept.append(seconds)


@pytest.fixture
def server():
    with CommentServer(TOKEN) as started:
        yield started


@pytest.fixture
def step(server, tmp_path, monkeypatch, capsys):
    """The step `comment` as action.yml runs it; gives its exit code and what it printed."""
    monkeypatch.setattr(kept_comment.Clock, "sleep", lambda self, seconds: None)
    for name in ("HTTP_PROXY", "http_proxy", "ALL_PROXY", "all_proxy", "GITHUB_GRAPHQL_URL", "GITHUB_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)

    def run(text="## All well", event=PULL_REQUEST, **environment):
        (tmp_path / "comment.md").write_text(text, "utf-8")
        (tmp_path / "event.json").write_text(json.dumps(event), "utf-8")
        known = {
            "GITHUB_ACTIONS": "true", "GITHUB_API_URL": server.url, "GITHUB_REPOSITORY": "acme/shop",
            "GITHUB_EVENT_PATH": str(tmp_path / "event.json"), "GITHUB_EVENT_NAME": "pull_request",
            "GITHUB_WORKFLOW": "quality", "GITHUB_JOB": "gate", "INPUT_COMMAND": "comments", "INPUT_COMMENT": "true",
            "INPUT_COMMENT_KEY": "", "INPUT_PULL_REQUEST": "", "INPUT_GITHUB_TOKEN": TOKEN,
            "COMMENT_FILE": str(tmp_path / "comment.md"), "EXIT_CODE": "0", **environment,
        }  # fmt: skip
        for name, value in known.items():
            monkeypatch.setenv(name, value)
        code = main()
        seen = capsys.readouterr()
        assert TOKEN not in seen.out + seen.err
        return code, seen.out + seen.err

    return run


def test_the_first_run_creates_and_the_second_edits(server, step):
    code, said = step("first")
    assert (code, server.written) == (0, [("POST", "/repos/acme/shop/issues/7/comments")])
    assert "Commented on pull request 7: https://github.com/acme/shop/pull/7#issuecomment-1001" in said
    assert server.bodies == ["<!-- metareview: quality/gate/comments -->\nfirst"]
    code, said = step("second")
    assert server.written[1:] == [("PATCH", "/repos/acme/shop/issues/comments/1001")]
    assert "Updated the comment" in said
    assert server.bodies == ["<!-- metareview: quality/gate/comments -->\nsecond"]
    step("second")
    assert len(server.written) == 2  # nothing new, nothing sent


def test_an_address_that_repeats_the_token_is_not_shown(server, step):
    server.script = lambda exchange: (
        Reply(201, {"html_url": f"https://github.com/{'y' * 270}?{TOKEN}"})
        if exchange.method == "POST" and exchange.path != "/graphql"
        else None
    )
    code, said = step("first")
    assert code == 0
    assert "Commented on pull request 7: " in said
    assert TOKEN[:8] not in said


def test_another_key_is_another_comment(server, step):
    step("a", INPUT_COMMENT_KEY="prompt")
    step("b", INPUT_COMMENT_KEY="prompt-2")
    step("c", INPUT_COMMENT_KEY="prompt")
    assert server.bodies == ["<!-- metareview: prompt -->\nc", "<!-- metareview: prompt%2D2 -->\nb"]


def test_keys_of_jobs_and_commands_differ_by_themselves(server, step):
    step("a")
    step("b", GITHUB_JOB="weekly")
    step("c", INPUT_COMMAND="outcomes")
    assert len(server.comments[7]) == 3


def test_a_key_cannot_end_the_line(server, step):
    step("text", INPUT_COMMENT_KEY="x --> @everyone <script>\n## new")
    first, rest = server.bodies[0].split("\n", 1)
    assert first == "<!-- metareview: x%20%2D%2D%3E%20%40everyone%20%3Cscript%3E%0A%23%23%20new -->"
    assert rest == "text"


def test_keys_that_differ_have_markers_that_differ():
    keys = ["a b", "a%20b", "a-b", "a%2Db", "a/b", "ä", "%C3%A4", "\udcff", "?"]
    markers = [marker_of({"INPUT_COMMENT_KEY": key}) for key in keys[:-2]]
    assert len(set(markers)) == len(markers)
    assert all(marker.count("--") == 2 for marker in markers)
    marker_of({"INPUT_COMMENT_KEY": "\udcff"})  # a byte that is no UTF-8 ends nothing
    with pytest.raises(UsageError, match="longer than 200"):
        marker_of({"INPUT_COMMENT_KEY": "k" * 201})


def test_more_than_a_page_of_comments_is_read(server, step):
    for number in range(230):
        server.add(f"comment {number}", PERSON)
    step("first")
    for number in range(30):
        server.add(f"later {number}", PERSON)
    step("second")
    assert [method for method, _ in server.written] == ["POST", "PATCH"]
    assert sum("metareview" in body for body in server.bodies) == 1
    asked = [each.path for each in server.log if each.method == "GET"]
    assert asked[:3] == [f"/repos/acme/shop/issues/7/comments?per_page=100&page={page}" for page in (1, 2, 3)]


def test_what_others_wrote_is_never_edited(server, step):
    marker = "<!-- metareview: quality/gate/comments -->"
    others = [
        server.add(f"{marker}\nfrom a person who copied it", PERSON),
        server.add(f"{marker}\nfrom another bot", {"login": "other[bot]", "type": "Bot"}),
        server.add(f"{marker}\nfrom a person with the bot's name", {"login": "github-actions", "type": "User"}),
        server.add(f"{marker}\nfrom nobody", None),
        server.add(f"> {marker}\nours, but a quotation"),
        server.add(f"ours, but it stands below\n{marker}"),
    ]
    before = [each["body"] for each in others]
    step("new")
    assert server.bodies[:6] == before
    assert server.bodies[6:] == [f"{marker}\nnew"]


def test_the_owner_of_a_personal_token_is_known(step, server):
    server.me = {"login": "Octo-Cat", "type": "User"}
    server.add("<!-- metareview: quality/gate/comments -->\nof the bot", BOT)
    step("one")
    step("two")
    assert server.bodies[1:] == ["<!-- metareview: quality/gate/comments -->\ntwo"]
    assert server.bodies[0].endswith("of the bot")


def test_where_the_owner_is_not_known_a_bots_comment_is_taken(server, step):
    server.script = lambda exchange: Reply(403, {"message": "no"}) if exchange.path == "/graphql" else None
    server.add("<!-- metareview: quality/gate/comments -->\nof a person", PERSON)
    server.add("<!-- metareview: quality/gate/comments -->\nold", BOT)
    step("new")
    assert [body.split("\n")[1] for body in server.bodies] == ["of a person", "new"]


def test_a_token_that_only_reads_is_a_warning(server, step):
    refused = Reply(403, {"message": "Resource not accessible by integration"})
    server.script = where("POST", refused)
    code, said = step()
    assert code == 0
    [line] = [line for line in said.splitlines() if line.startswith("::")]
    assert line.startswith("::warning title=metareview::the comment on pull request 7 is not written: ")
    assert "Resource not accessible by integration" in line
    assert "pull-requests: write" in line


def where(method, reply):
    """Answers REST requests of this method."""
    return lambda exchange: reply if exchange.method == method and exchange.path != "/graphql" else None


ELSEWHERE = Reply(302, b"", {"location": "https://evil.example/x"})


@pytest.mark.parametrize(
    ("script", "words"),
    [
        (lambda exchange: Reply(401, {"message": "Bad credentials"}), "refuses the token"),
        (where("GET", Reply(404, {"message": "Not Found"})), "no pull request"),
        (where("POST", Reply(404, {"message": "Not Found"})), "no pull request"),
        (lambda exchange: Reply(503), "does not answer"),
        (where("GET", Reply(429, {}, {"retry-after": "4000"})), "later than a build should wait"),
        (where("POST", Reply(422)), "HTTP 422"),
        (where("GET", Reply(200, {})), "does not answer"),
        (where("GET", ELSEWHERE), "another server"),
        (where("POST", ELSEWHERE), "HTTP 302"),
    ],
)
def test_whatever_goes_wrong_is_a_warning(server, step, script, words):
    server.script = script
    code, said = step()
    assert code == 0
    assert "::warning title=metareview::the comment on pull request 7 is not written: " in said
    assert words in said
    assert "same command" not in said  # nobody typed one
    assert not server.bodies


def test_a_server_that_repeats_the_token_does_not_get_it_into_the_log(server, step):
    server.script = lambda exchange: Reply(403, {"message": f"bad token {TOKEN}"}) if exchange.method == "GET" else None
    code, said = step()  # the fixture looks for the token
    assert code == 0
    assert "HTTP 403" in said


def test_what_passes_is_tried_again(server, step):
    failures = [Reply(500), Reply(502), Reply(drop=True)]
    server.script = lambda exchange: failures.pop() if failures and exchange.method == "POST" and (
        exchange.path != "/graphql") else None  # fmt: skip
    code, said = step()
    assert code == 0
    assert "Commented on" in said
    assert len(server.comments[7]) == 1


def test_a_comment_whose_reply_was_lost_is_not_written_twice(server, step):
    lost = []

    def script(exchange):
        if exchange.method == "POST" and exchange.path != "/graphql" and not lost:
            lost.append(server.add(exchange.body["body"], BOT))
            return Reply(drop=True)
        return None

    server.script = script
    code, said = step()
    assert (code, len(server.comments[7])) == (0, 1)
    assert "up to date" in said


def test_a_comment_that_was_deleted_meanwhile_is_written_anew(server, step):
    server.add("<!-- metareview: quality/gate/comments -->\nold")
    server.script = lambda exchange: Reply(404, {}) if exchange.method == "PATCH" else None
    assert step("new")[0] == 0
    assert server.bodies[1:] == ["<!-- metareview: quality/gate/comments -->\nnew"]


def test_on_failure_begins_with_a_failure_and_goes_on_to_the_end(server, step):
    assert "gets no comment" in step("fine", INPUT_COMMENT="on-failure")[1]
    assert server.bodies == []
    step("bad", INPUT_COMMENT="on-failure", EXIT_CODE="3")
    assert server.bodies[0].endswith("\nbad")
    step("fine again", INPUT_COMMENT="on-failure")
    assert [body.split("\n")[1] for body in server.bodies] == ["fine again"]


def test_inputs_that_cannot_be_meant(step, server):
    for wrong in ({"INPUT_COMMENT": "yes"}, {"INPUT_PULL_REQUEST": "7; ls"}, {"INPUT_COMMENT_KEY": "k" * 300}):
        code, said = step(**wrong)
        assert code == 2
        assert said.startswith("::error title=metareview::")
    assert server.log == []


@pytest.mark.parametrize(
    ("event", "name"),
    [
        ({"workflow_run": {"pull_requests": [{"number": 7}]}}, "workflow_run"),
        ({"inputs": {}}, "workflow_dispatch"),
        ({"schedule": "0 5 * * 1"}, "schedule"),
        ({"ref": "refs/heads/main"}, "push"),
        ({"issue": {"number": 7}}, "issue_comment"),
        ([], "push"),
        ({"pull_request": {"number": "7"}}, "pull_request"),
    ],
)
def test_an_event_about_no_pull_request_is_said_in_a_line(step, server, event, name):
    code, said = step(event=event, GITHUB_EVENT_NAME=name)
    assert code == 0
    assert said == f"The event {name} is about no pull request: there is nothing to comment on.\n"
    assert server.log == []


def test_the_pull_request_of_an_event(tmp_path):
    def found(event, **more):
        path = tmp_path / "event.json"
        path.write_text(json.dumps(event), "utf-8")
        return pull_request_of({"GITHUB_EVENT_PATH": str(path), "GITHUB_REPOSITORY": "acme/shop", **more})

    of_a_fork = {"pull_request": {"number": 12, "head": {"repo": {"full_name": "mallory/shop"}}}}
    assert found(of_a_fork) == PullRequest("acme/shop", 12)
    assert found({"issue": {"number": 5, "pull_request": {"url": "x"}}}) == PullRequest("acme/shop", 5)
    assert found({"workflow_run": {}}, INPUT_PULL_REQUEST=" 9 ") == PullRequest("acme/shop", 9)
    for repository in ("acme", "acme/shop/../../x", "../x", "acme/..", "a b/c", "acme/shop\n"):
        with pytest.raises(UsageError, match="GITHUB_REPOSITORY"):
            found(of_a_fork, GITHUB_REPOSITORY=repository)


def test_without_a_token_there_is_a_warning(step, server):
    code, said = step(INPUT_GITHUB_TOKEN=" ")
    assert code == 0
    assert "there is no token" in said
    assert server.log == []


def test_a_token_does_not_go_to_a_server_without_encryption(step, server):
    code, said = step(GITHUB_API_URL="http://ghe.corp.example/api/v3")
    assert code == 0
    assert "unencrypted" in said


def test_patience_ends(monkeypatch):
    slept = []
    monkeypatch.setattr(Clock, "sleep", lambda self, seconds: slept.append(seconds))
    clock = Patience()
    clock.sleep(200.0)
    with pytest.raises(UsageError, match="later than a build should wait"):
        clock.sleep(101.0)
    assert slept == [200.0]


def test_a_limit_is_waited_for(server):
    replies = [Reply(403, {"message": "secondary rate limit"}, {"retry-after": "17"})]
    server.script = lambda exchange: replies.pop() if replies and exchange.method == "POST" and (
        exchange.path != "/graphql") else None  # fmt: skip
    clock = NoTime()
    environ = {"GITHUB_API_URL": server.url, "GITHUB_TOKEN": TOKEN}
    api = CommentApi(github_access(PullTarget("github.com", "acme", "shop"), environ=environ), clock, lambda line: None)
    api.keep(PullRequest("acme/shop", 7), "<!-- m -->", "<!-- m -->\nbody", create=True)
    api.close()
    assert clock.slept == [17.0]
    assert server.bodies == ["<!-- m -->\nbody"]


@pytest.mark.parametrize("letter", ["x", "ä", "\N{PILE OF POO}"])
def test_a_body_is_as_long_as_github_takes(server, step, letter):
    line = "| " + letter * 97 + " |\n"
    code, said = step("## Title\n\n<details><summary>s</summary>\n\n" + line * 1_000 + "</details>\n")
    assert (code, "Commented" in said) == (0, True)
    [body] = server.bodies
    assert 60_000 < len(body.encode("utf-16-le")) // 2 <= 65_536
    assert body.count("<details>") == body.count("</details>") == 1
    assert body.rstrip().endswith("The run has all of it.")
    assert body.replace(line, "").count(letter * 3) == 0  # cut between lines


def test_a_body_that_just_fits_is_whole():
    marker = "<!-- m -->"
    text = "y" * (65_536 - len(marker) - 1)
    assert body_of(marker, text) == f"{marker}\n{text}"
    assert "cut here" in body_of(marker, text + "y")
