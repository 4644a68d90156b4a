"""One comment of GitHub's or GitLab's that was pulled and exported as well counts once; ids of two kinds never mix."""

import json

import pytest

import gitlab_server
from github_data import repository
from github_server import GitHubServer
from metareview.cli import main

WEB = "https://github.com/acme/shop/pull/7"
API = "https://api.github.com/repos/acme/shop"
NOTE = "Leaks the handle."
REVIEWER = {"login": "eye[bot]", "type": "Bot"}
THREAD = {"path": "a.py", "line": 9, "by": "eye[bot]", "after": 5, "note": NOTE, "replies": [["ana", 9, "Fixed."]]}
PULL_REQUEST = {
    "number": 7,
    "at": "2026-03-02T09:00:00Z",
    "by": "ana",
    "title": "Carts",
    "threads": [THREAD],
    "reviews": [["eye[bot]", 6, "COMMENTED", NOTE]],
    "comments": [["eye[bot]", 7, NOTE]],
}
KINDS = ("discussion_r", "pullrequestreview-", "issuecomment-")


@pytest.fixture
def here(monkeypatch, tmp_path):
    for name in ("GITHUB_SERVER_URL", "GITLAB_HOST", "GITLAB_TOKEN", "CI_SERVER_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lines(file):
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.fixture
def run(capsys):
    """Runs a command; what it printed as JSON, if that was asked for."""

    def call(*arguments):
        with pytest.raises(SystemExit) as end:
            main([*map(str, arguments), "-q"])
        out, err = capsys.readouterr()
        assert (end.value.code, err) == (0, "")
        return json.loads(out) if "--json" in arguments else None

    return call


@pytest.fixture
def pulled(here, monkeypatch, run):
    """The ids of what was pulled: the bot's comment, its review, its comment on the whole, and the reply."""
    with GitHubServer(repository([PULL_REQUEST])) as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        run("pull", "comments", "acme/shop", "-o", "pulled.jsonl")
    comments = [each for record in lines(here / "pulled.jsonl") for each in record["comments"]]
    ids = {next(kind for kind in KINDS if each["id"].startswith(kind)): each["id"] for each in comments[:3]}
    assert sorted(ids) == sorted(KINDS)
    return {kind: int(name.removeprefix(kind)) for kind, name in ids.items()} | {"reply": comments[3]["id"]}


def rest(ids):
    comment, review, remark = (ids[kind] for kind in KINDS)
    reply = int(ids["reply"].removeprefix(KINDS[0]))
    place = {"path": "a.py", "side": "RIGHT", "line": 9, "pull_request_url": f"{API}/pulls/7"}
    return [
        {"id": comment, "user": REVIEWER, "body": NOTE, "created_at": "2026-03-02T09:05:00Z", **place},
        {"id": reply, "user": {"login": "ana"}, "body": "Fixed.", "in_reply_to_id": comment, **place},
        {"id": review, "user": REVIEWER, "body": NOTE, "state": "COMMENTED", "pull_request_url": f"{API}/pulls/7"},
        {"id": remark, "user": REVIEWER, "body": NOTE, "html_url": f"{WEB}#issuecomment-{remark}"},
    ]


def graphql(ids, name):
    author = {"login": "eye", "__typename": "Bot"}

    def node(kind):
        return {**name(kind, ids[kind]), "author": author, "body": NOTE}

    thread = {"isResolved": True, "path": "a.py", "line": 9, "comments": {"nodes": [node(KINDS[0])]}}
    review = node(KINDS[1])
    if "url" not in review:  # else its address tells what it is
        review["state"] = "COMMENTED"
    lists = {"reviewThreads": [thread], "reviews": [review], "comments": [node(KINDS[2])]}
    nodes = {name: {"nodes": each} for name, each in lists.items()}
    return {"data": {"repository": {"pullRequest": {"url": WEB, **nodes}}}}


EXPORTS = {
    "gh api": rest,
    "GraphQL": lambda ids: graphql(ids, lambda kind, number: {"databaseId": number}),
    "GraphQL's long numbers": lambda ids: graphql(ids, lambda kind, number: {"fullDatabaseId": str(number)}),
    "GraphQL's addresses": lambda ids: graphql(ids, lambda kind, number: {"id": "?", "url": f"{WEB}#{kind}{number}"}),
}


@pytest.mark.parametrize("export", EXPORTS.values(), ids=EXPORTS)
@pytest.mark.parametrize("pulled_first", [True, False])
def test_a_comment_that_is_pulled_and_exported_counts_once(pulled, here, run, export, pulled_first):
    both = here / "both"
    both.mkdir()
    both.joinpath("2.json").write_text(json.dumps(export(pulled)), "utf-8")
    both.joinpath("1.jsonl" if pulled_first else "3.jsonl").write_bytes(here.joinpath("pulled.jsonl").read_bytes())
    summary = run("outcomes", both, "--json", "--out", "run")
    assert summary["reviewers"]["eye[bot]"]["comments"] == 3
    record = next(each for each in lines(here / "run" / "results.jsonl") if each["reviewer"] == "eye[bot]")
    assert sorted(each["comment"]["id"] for each in record["comments"]) == sorted(
        f"{kind}{pulled[kind]}" for kind in KINDS
    )
    summary = run("comments", both, "--reference", "pulled.jsonl", "--reviewer", "eye*", "--force", "--json")
    counted = summary["reviewers"]["eye[bot]"]
    assert (counted["total_generated_nums"], counted["positive_match_nums"]) == (3, 3)


@pytest.mark.parametrize("bare_first", [True, False])
def test_the_number_of_a_comment_is_its_id_too(here, run, bare_first):
    """Files of one's own, and those that were converted earlier, have the number alone."""
    ids = ["12", *(f"{kind}12" for kind in KINDS)]
    comments = [
        {"id": each, "note": "Leaks.", "path": "a.py", "from_line": 1} for each in ids[:: 1 if bare_first else -1]
    ]
    for number, comment in enumerate(comments):
        line = json.dumps({"pr": WEB, "reviewer": "eye[bot]", "comments": [comment]})
        here.joinpath(f"{number}.jsonl").write_text(line + "\n", "utf-8")
    summary = run("outcomes", *sorted(here.glob("*.jsonl")), "--json", "--out", "run")
    assert summary["reviewers"]["eye[bot]"]["comments"] == 3
    [record] = lines(here / "run" / "results.jsonl")
    assert {each["comment"]["id"] for each in record["comments"]} == set(ids[1:])


def test_comments_of_three_kinds_may_have_one_number(here, run):
    everything = rest({**dict.fromkeys(KINDS, 12), "reply": "13"})
    for number, each in enumerate(everything):
        here.joinpath(f"page-{number}.json").write_text(json.dumps([each]), "utf-8")
    files = sorted(here.glob("*.json"))
    summary = run("outcomes", *files, "--json", "--out", "run")
    assert summary["reviewers"]["eye[bot]"]["comments"] == 3
    [record] = lines(here / "run" / "results.jsonl")
    assert {each["comment"]["id"]: bool(each["replies"]) for each in record["comments"]} == {
        "discussion_r12": True,
        "pullrequestreview-12": False,
        "issuecomment-12": False,
    }


def test_a_note_of_gitlab_that_is_pulled_and_exported_counts_once(here, monkeypatch, run):
    sample = gitlab_server.sample()
    with gitlab_server.GitLabServer(sample) as server:
        for name, value in server.environment().items():
            monkeypatch.setenv(name, value)
        run("pull", "comments", f"{server.url}/{gitlab_server.PATH}", "-o", "pulled.jsonl")
    [pulled] = {record["pr"] for record in lines(here / "pulled.jsonl") if record["pr"].endswith("/1")}
    exported = {**sample["merge_requests"][0], "web_url": pulled}
    here.joinpath("exported.json").write_text(json.dumps(exported), "utf-8")

    def counts(*files):
        reviewers = run("outcomes", *files, "--json", "--out", f"run-{len(files)}")["reviewers"]
        return {name: each["comments"] for name, each in reviewers.items()}

    assert counts("pulled.jsonl", "exported.json") == counts("pulled.jsonl")
