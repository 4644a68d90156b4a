"""`metareview pull` as a user types it."""

import json
import re

import pytest

import gitlab_server
from github_data import SAMPLE, sample_server
from github_server import TOKEN, Reply
from metareview.cli import main


@pytest.fixture
def server(monkeypatch, tmp_path):
    with sample_server() as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        for name in ("GITHUB_SERVER_URL", "GITLAB_HOST", "GITLAB_TOKEN", "CI_SERVER_URL"):
            monkeypatch.delenv(name, raising=False)
        monkeypatch.chdir(tmp_path)
        yield running


def run(capsys, *arguments):
    with pytest.raises(SystemExit) as end:
        main(["pull", *arguments])
    out, err = capsys.readouterr()
    assert TOKEN not in out + err
    assert gitlab_server.TOKEN not in out + err
    return end.value.code, out, err


def test_comments_and_what_to_do_next(server, capsys, tmp_path):
    code, out, err = run(capsys, "comments", "acme/shop", "-o", "comments.jsonl")
    assert code == 0
    assert out == "acme/shop: 14 pull requests, 78 comments by 6 reviewers: comments.jsonl\n"
    assert "metareview comments comments.jsonl --reference comments.jsonl --reviewer '*[bot]'" in err
    people = [
        {each["by"] for each in pull["threads"]}
        | {reply[0] for each in pull["threads"] for reply in each.get("replies", ())}
        | {each[0] for each in (*pull["reviews"], *pull.get("comments", ()))}
        for pull in json.loads(SAMPLE.read_text("utf-8"))["pull_requests"]
    ]
    assert len((tmp_path / "comments.jsonl").read_text("utf-8").splitlines()) == sum(map(len, people)) == 58


def test_the_document(server, capsys):
    code, out, err = run(capsys, "comments", "acme/shop#32,99", "-o", "c.jsonl", "--json", "-q")
    document = json.loads(out)
    assert (code, err) == (0, "")
    assert document == {
        "schema": "metareview.pull/1",
        "file": "c.jsonl",
        "repository": "acme/shop",
        "prs": 1,
        "lines": 5,
        "comments": {"sharpeye[bot]": 3, "ben": 2, "chloe": 1, "dmitri": 1, "lintwise[bot]": 0},
        "requests": 2,
        "warnings": ["acme/shop has no pull request #99"],
    }


def test_only_the_bots(server, capsys):
    _, out, _ = run(capsys, "comments", "acme/shop", "-o", "c.jsonl", "--json", "--reviewer", "*[BOT]", "--no-patches")
    assert json.loads(out)["comments"] == {"sharpeye[bot]": 27, "lintwise[bot]": 9}
    assert not any(each.method == "GET" for each in server.log)


def test_who_only_answers_the_bots_is_nobody_to_other_commands(server, capsys, tmp_path):
    run(capsys, "comments", "acme/shop", "-o", "bots.jsonl", "-q", "--reviewer", "*[bot]", "--no-patches")
    kept = [json.loads(line) for line in (tmp_path / "bots.jsonl").read_text("utf-8").splitlines()]
    answers = {each["reviewer"]: each["comments"] for each in kept if not each["reviewer"].endswith("[bot]")}
    assert {name: [comment["note"][:14] for comment in said] for name, said in answers.items()} == {
        "ana": ["Right, fixed."],
        "ben": ["Fixed, thanks.", "These are two "],
    }

    def said(*arguments):
        with pytest.raises(SystemExit) as end:
            main(list(arguments))
        return end.value.code, *capsys.readouterr()

    run(capsys, "comments", "acme/shop", "-o", "all.jsonl", "-q", "--no-patches")
    people = ("--reference", "all.jsonl", "--reference-reviewer", "!*[bot]")
    code, out, _ = said("comments", "bots.jsonl", *people, "--out", "run", "--json")
    document = json.loads(out)
    assert (code, sorted(document["reviewers"])) == (0, ["lintwise[bot]", "sharpeye[bot]"])
    assert {name: each["total_generated_nums"] for name, each in document["reviewers"].items()} == {
        "lintwise[bot]": 9,
        "sharpeye[bot]": 26,
    }
    code, _, err = said("comments", "bots.jsonl", *people, "--reviewer", "ben", "--out", "run2")
    assert (code, err) == (2, "Error: --reviewer 'ben' matches no name. There are sharpeye[bot], lintwise[bot].\n")
    code, out, _ = said("check", "--reference", "bots.jsonl", "--json")
    assert json.loads(out)["references"] == 35
    assert "without a note" not in out
    assert said("convert", "bots.jsonl", "--to", "jsonl", "-o", "again.jsonl", "-q")[0] == 0
    assert [json.loads(line) for line in (tmp_path / "again.jsonl").read_text("utf-8").splitlines()] == kept


def test_a_history_that_routing_replays(server, capsys):
    code, out, err = run(capsys, "history", "acme/shop", "--since", "2026-03-16", "-o", "events.jsonl")
    assert (code, err) == (0, "Next: metareview routing events.jsonl\n")
    assert re.fullmatch(r"acme/shop: 6 pull requests, \d+ events: events\.jsonl\n", out)
    with pytest.raises(SystemExit) as end:
        main(["routing", "events.jsonl", "--router", "popularity", "--json", "--out", "run"])
    assert end.value.code == 0
    assert json.loads(capsys.readouterr().out)["prs"] == 6


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["comments", "shop", "-o", "c.jsonl"], "names no repository"),
        (["comments", "acme/shop"], "Missing option '-o'"),
        (["history", "acme/other", "-o", "c.jsonl"], "no repository acme/other"),
        (["comments", "acme/shop#5", "-o", "c.jsonl"], "no pull request #5"),
        (["comments", "acme/shop#5", "--since", "2026-01-01", "-o", "c.jsonl"], "Leave them out, or the numbers"),
        (["history", "acme/shop", "--since", "yesterday", "-o", "c.jsonl"], "is no time"),
        (["history", "acme/shop", "--since", "2026-02-01", "--until", "2026-01-01", "-o", "c.jsonl"], "Swap them"),
        (["comments", "acme/shop", "--reviewer", "!", "-o", "c.jsonl"], "is empty"),
        (["comments", "acme/shop", "--api", "nowhere", "-o", "c.jsonl"], "--api is not an http"),
        (["comments", "https://gitlab.com/g/p", "-o", "c.jsonl"], "Set GITLAB_TOKEN"),
        (["history", "https://gitlab.com/g/p", "-o", "c.jsonl"], "histories are pulled from GitHub alone. Pull the"),
    ],
)
def test_mistakes_are_exit_2_with_the_fix(server, capsys, tmp_path, arguments, words):
    code, _, err = run(capsys, *arguments)
    assert code == 2
    assert words in err
    assert "Traceback" not in err
    assert list(tmp_path.iterdir()) == []


def test_gitlab_comments_and_what_to_do_next(capsys, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    with gitlab_server.GitLabServer(gitlab_server.sample()) as running:
        for name, value in running.environment().items():
            monkeypatch.setenv(name, value)
        address = f"{running.url}/{gitlab_server.PATH}"
        code, out, err = run(capsys, "comments", address, "-o", "comments.jsonl")
        assert (code, out) == (0, "group/sub/shop: 5 pull requests, 6 comments by 5 reviewers: comments.jsonl\n")
        assert "metareview comments comments.jsonl --reference comments.jsonl --reviewer '*[bot]'" in err
        some = f"{gitlab_server.PATH}!3,4,9"
        code, out, err = run(
            capsys, "comments", some, "-o", "c.jsonl", "--json", "-q", "--no-patches", "--api", f"{running.url}/api/v4"
        )
    assert (code, err) == (0, "")
    assert json.loads(out) == {
        "schema": "metareview.pull/1",
        "file": "c.jsonl",
        "repository": "group/sub/shop",
        "prs": 2,
        "lines": 2,
        "comments": {"ben": 1, "chloe": 1},
        "requests": 8,
        "warnings": ["group/sub/shop has no pull request #9"],
    }
    with pytest.raises(SystemExit) as end:
        main(["comments", "comments.jsonl", "--reference", "comments.jsonl", "--reviewer", "*[bot]",
              "--reference-reviewer", "!*[bot]", "--judge", "exact", "--json", "--out", "run"])  # fmt: skip
    assert end.value.code == 0
    [scored] = json.loads(capsys.readouterr().out)["reviewers"].values()
    assert scored["total_generated_nums"] == 1


def test_a_file_that_is_there(server, capsys, tmp_path):
    (tmp_path / "c.jsonl").write_text("mine")
    code, _, err = run(capsys, "comments", "acme/shop#31", "-o", "c.jsonl")
    assert (code, "c.jsonl exists" in err, "--overwrite" in err) == (2, True, True)
    assert [path.read_text("utf-8") for path in tmp_path.iterdir()] == ["mine"]
    assert server.log == []
    assert run(capsys, "comments", "acme/shop#31", "-o", "c.jsonl", "--overwrite")[0] == 0
    assert (tmp_path / "c.jsonl").read_text("utf-8").startswith('{"pr":"https://github.com/acme/shop/pull/31"')


def test_without_a_token(server, capsys, monkeypatch, tmp_path):
    monkeypatch.delenv("GITHUB_TOKEN")
    monkeypatch.delenv("GH_TOKEN", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    code, _, err = run(capsys, "comments", "acme/shop", "-o", "c.jsonl")
    assert code == 2
    assert "Set GITHUB_TOKEN" in err


def test_a_token_that_is_refused_is_not_shown(server, capsys):
    server.script = lambda exchange: Reply(401, {"message": f"Bad credentials: {TOKEN}"})
    code, _, err = run(capsys, "comments", "acme/shop", "-o", "c.jsonl")
    assert code == 2
    assert "refuses the token (HTTP 401)" in err


@pytest.mark.parametrize("command", [[], ["comments"], ["history"]])
def test_help_has_an_example(capsys, command):
    code, out, _ = run(capsys, *command, "--help")
    assert code == 0
    assert "Example: metareview pull" in out


def test_what_a_server_says_of_a_password_is_shown_beside_a_token_of_github(monkeypatch, capsys, tmp_path):
    token = "github_pat_11ABCDEFG0hTq8XyZ2mN4v_k3JdLw9RsPzQ7uYbVcEaWfGh"
    told = "Your GitHub password is not accepted"
    monkeypatch.chdir(tmp_path)
    for message, shown in ((told, True), (f"{told}: {token[11:]}", False)):
        with sample_server(script=lambda exchange, text=message: Reply(403, {"message": text})) as running:
            for name, value in running.environment(token).items():
                monkeypatch.setenv(name, value)
            code, _, err = run(capsys, "comments", "acme/shop", "-o", "comments.jsonl")
        assert (code, told in err) == (2, shown)
        assert token[11:] not in err
