"""The address of an API, and the token that goes there."""

import os
import sys

import pytest

from metareview.errors import UsageError
from metareview.sources.access import github_access, gitlab_access, gitlab_host, server_host
from metareview.sources.targets import PullTarget, parse_targets

PUBLIC = PullTarget("github.com", "acme", "shop")
OWN = PullTarget("ghe.corp.example", "acme", "shop")
GITLAB = parse_targets(["https://gitlab.com/group/shop"])
OWN_GITLAB = parse_targets(["https://gitlab.corp.example/group/shop"])
HIDDEN = "hidden-token"


@pytest.fixture(autouse=True)
def no_gh(monkeypatch, tmp_path):
    """Whoever runs the tests may be logged in."""
    monkeypatch.setenv("PATH", str(tmp_path))


def access(target, api=None, **environ):
    found = github_access(target, api, environ)
    return found.graphql, found.rest, found.token.reveal()


def test_addresses_of_the_two_kinds_of_server():
    assert access(PUBLIC, GITHUB_TOKEN="t") == ("https://api.github.com/graphql", "https://api.github.com", "t")
    own = ("https://ghe.corp.example/api/graphql", "https://ghe.corp.example/api/v3", "e")
    assert access(OWN, GH_ENTERPRISE_TOKEN="e") == own


def test_addresses_as_a_runner_sets_them():
    runner = {
        "GITHUB_SERVER_URL": "https://ghe.corp.example",
        "GITHUB_API_URL": "https://ghe.corp.example/api/v3",
        "GITHUB_GRAPHQL_URL": "https://ghe.corp.example/api/graphql",
        "GITHUB_TOKEN": "runner",
    }
    target = parse_targets(["acme/shop"], server_host(runner))
    assert access(target, **runner) == (
        "https://ghe.corp.example/api/graphql",
        "https://ghe.corp.example/api/v3",
        "runner",
    )
    # The runner's token and addresses are not for github.com.
    with pytest.raises(UsageError, match=r"no token for github\.com"):
        access(PUBLIC, **runner)
    assert access(PUBLIC, **runner, GH_TOKEN="mine") == (
        "https://api.github.com/graphql",
        "https://api.github.com",
        "mine",
    )


def test_an_address_by_option():
    assert access(PUBLIC, "http://127.0.0.1:8080/", GITHUB_TOKEN="t", GITHUB_API_URL="https://other.example") == (
        "http://127.0.0.1:8080/graphql",
        "http://127.0.0.1:8080",
        "t",
    )
    assert access(PUBLIC, "https://m.example/api/v3", GITHUB_TOKEN="t")[0] == "https://m.example/api/graphql"


def test_the_order_of_tokens():
    assert access(PUBLIC, GITHUB_TOKEN="a", GH_TOKEN="b")[2] == "a"
    assert access(PUBLIC, GITHUB_TOKEN=" ", GH_TOKEN="b\n")[2] == "b"
    assert access(OWN, GITHUB_TOKEN="a", GH_ENTERPRISE_TOKEN="e")[2] == "e"


def test_another_server_does_not_get_the_token_of_this_one():
    with pytest.raises(UsageError, match=r"no token for ghe\.corp\.example\. Set GH_ENTERPRISE_TOKEN"):
        access(OWN, GITHUB_TOKEN="a", GH_TOKEN="b")


def test_without_a_token_the_fix_is_told():
    with pytest.raises(
        UsageError, match=r"Set GITHUB_TOKEN .* or log in once with gh auth login --hostname github\.com"
    ):
        access(PUBLIC)


@pytest.mark.parametrize(
    ("target", "api", "environ", "words"),
    [
        ("a/b", None, {"GITHUB_API_URL": "http://mirror.example", "GITHUB_TOKEN": HIDDEN}, "unencrypted"),
        ("a/b", None, {"GITHUB_API_URL": "mirror", "GITHUB_TOKEN": HIDDEN}, "not an http"),
        ("a/b", None, {"GITHUB_API_URL": f"https://u:{HIDDEN}@m.example", "GITHUB_TOKEN": "x"}, "user name or"),
        (
            "a/b", None, {"GITHUB_API_URL": "https://a.example", "GITHUB_GRAPHQL_URL": "https://b.example/graphql"},
            "different servers",
        ),
        ("a/b", None, {"GITHUB_TOKEN": f"{HIDDEN}\nX: y"}, "characters that no token has"),
        ("https://gitlab.com/a/b", "http://mirror.example", {"GITLAB_TOKEN": HIDDEN}, "unencrypted"),
        ("http://gitlab.com/a/b", None, {"GITLAB_TOKEN": HIDDEN}, "unencrypted"),
        ("https://gitlab.com/a/b", "mirror", {"GITLAB_TOKEN": HIDDEN}, "--api is not an http"),
        ("a/b!1", f"https://u:{HIDDEN}@m.example", {"GITLAB_TOKEN": "x"}, "set GITLAB_TOKEN instead"),
        ("a/b!1", None, {"GITLAB_TOKEN": f"{HIDDEN}\r\nX: y"}, "characters that no token has"),
    ],
)  # fmt: skip
def test_addresses_and_tokens_that_cannot_be_used(target, api, environ, words):
    target = parse_targets([target])
    with pytest.raises(UsageError, match=words) as refusal:
        (gitlab_access if target.gitlab else github_access)(target, api, environ)
    assert HIDDEN not in str(refusal.value)


@pytest.mark.skipif(sys.platform == "win32", reason="a shell script stands in for gh")
def test_the_token_of_gh_for_the_right_server(tmp_path, monkeypatch):
    gh = tmp_path / "gh"
    gh.write_text('#!/bin/sh\n[ "$1 $2 $3" = "auth token --hostname" ] && echo "of-$4"\n')
    gh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.defpath}")
    assert access(OWN)[2] == "of-ghe.corp.example"
    assert access(PUBLIC, GITHUB_TOKEN="mine")[2] == "mine"
    gh.write_text("#!/bin/sh\necho not logged in\nexit 1\n")
    with pytest.raises(UsageError, match="no token"):
        access(OWN)


def test_a_gh_that_does_not_end_is_left(tmp_path, monkeypatch):
    gh = tmp_path / "gh"
    gh.write_text("#!/bin/sh\nexec sleep 60\n")
    gh.chmod(0o755)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.defpath}")
    monkeypatch.setattr("metareview.sources.access._GH_SECONDS", 0.2)
    with pytest.raises(UsageError, match="no token"):
        access(OWN)


def test_the_token_does_not_show():
    assert HIDDEN not in repr(github_access(PUBLIC, None, {"GITHUB_TOKEN": HIDDEN}))
    assert HIDDEN not in repr(gitlab_access(GITLAB, None, {"GITLAB_TOKEN": HIDDEN}))


# GitLab


def gitlab(target, api=None, **environ):
    found = gitlab_access(target, api, environ)
    return found.rest, found.token.reveal()


@pytest.mark.parametrize(
    ("environ", "host"),
    [
        ({}, "gitlab.com"),
        ({"GITLAB_HOST": "Gitlab.Corp.example"}, "gitlab.corp.example"),
        ({"GITLAB_HOST": "https://gitlab.corp.example:8443/"}, "gitlab.corp.example:8443"),
        ({"CI_SERVER_URL": "https://gitlab.corp.example"}, "gitlab.corp.example"),
        ({"GITLAB_HOST": "gitlab.com", "CI_SERVER_URL": "https://gitlab.corp.example"}, "gitlab.com"),
        ({"GITLAB_HOST": "https://[::1"}, "gitlab.com"),
    ],
)
def test_the_server_that_the_environment_is_about(environ, host):
    assert gitlab_host(environ) == host


def test_addresses_and_tokens_of_gitlab():
    assert gitlab(GITLAB, GITLAB_TOKEN=" t\n") == ("https://gitlab.com/api/v4", "t")
    own = {"GITLAB_HOST": "gitlab.corp.example", "GITLAB_TOKEN": "t"}
    assert gitlab(OWN_GITLAB, **own) == ("https://gitlab.corp.example/api/v4", "t")
    assert gitlab(OWN_GITLAB, "http://127.0.0.1:8080/api/v4/", **own) == ("http://127.0.0.1:8080/api/v4", "t")
    assert gitlab(OWN_GITLAB, CI_SERVER_URL="https://gitlab.corp.example", GITLAB_TOKEN="t")[1] == "t"


def test_another_gitlab_does_not_get_the_token_of_this_one():
    with pytest.raises(UsageError) as refusal:
        gitlab(OWN_GITLAB, GITLAB_TOKEN=HIDDEN)
    assert str(refusal.value) == (
        "there is no token for gitlab.corp.example: GITLAB_TOKEN is that of gitlab.com. "
        "Set GITLAB_HOST=gitlab.corp.example, and GITLAB_TOKEN to one of that server's with the scope read_api."
    )
    with pytest.raises(UsageError, match=r"no token for gitlab\.com: GITLAB_TOKEN is that of gitlab\.corp\.example"):
        gitlab(GITLAB, CI_SERVER_URL="https://gitlab.corp.example", GITLAB_TOKEN="t")


def test_a_runner_s_own_token_is_not_enough():
    with pytest.raises(UsageError, match=r"no token for gitlab\.com\. Set GITLAB_TOKEN to one with the scope read_api"):
        gitlab(GITLAB, CI_JOB_TOKEN="job", GITHUB_TOKEN="other")
