"""Where a GitLab server's API is, and which token goes there."""

import pytest

from metareview.errors import UsageError
from metareview.sources.access import gitlab_access, gitlab_host
from metareview.sources.targets import parse_targets

PUBLIC = parse_targets(["https://gitlab.com/group/shop"])
OWN = parse_targets(["https://gitlab.corp.example/group/shop"])


def access(target, api=None, **environ):
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


def test_addresses_and_tokens():
    assert access(PUBLIC, GITLAB_TOKEN=" t\n") == ("https://gitlab.com/api/v4", "t")
    own = {"GITLAB_HOST": "gitlab.corp.example", "GITLAB_TOKEN": "t"}
    assert access(OWN, **own) == ("https://gitlab.corp.example/api/v4", "t")
    assert access(OWN, "http://127.0.0.1:8080/api/v4/", **own) == ("http://127.0.0.1:8080/api/v4", "t")
    assert access(OWN, CI_SERVER_URL="https://gitlab.corp.example", GITLAB_TOKEN="t")[1] == "t"


def test_another_server_does_not_get_the_token_of_this_one():
    with pytest.raises(UsageError) as refusal:
        access(OWN, GITLAB_TOKEN="hidden-token")
    assert str(refusal.value) == (
        "there is no token for gitlab.corp.example: GITLAB_TOKEN is that of gitlab.com. "
        "Set GITLAB_HOST=gitlab.corp.example, and GITLAB_TOKEN to one of that server's with the scope read_api."
    )
    with pytest.raises(UsageError, match=r"no token for gitlab\.com: GITLAB_TOKEN is that of gitlab\.corp\.example"):
        access(PUBLIC, CI_SERVER_URL="https://gitlab.corp.example", GITLAB_TOKEN="t")


def test_a_runner_s_own_token_is_not_enough():
    with pytest.raises(UsageError, match=r"no token for gitlab\.com\. Set GITLAB_TOKEN to one with the scope read_api"):
        access(PUBLIC, CI_JOB_TOKEN="job", GITHUB_TOKEN="other")


@pytest.mark.parametrize(
    ("target", "api", "token", "words"),
    [
        ("https://gitlab.com/a/b", "http://mirror.example", "hidden-token", "unencrypted"),
        ("http://gitlab.com/a/b", None, "hidden-token", "unencrypted"),
        ("https://gitlab.com/a/b", "mirror", "hidden-token", "--api is not an http"),
        ("https://gitlab.com/a/b", "https://u:hidden-token@m.example", "x", "set GITLAB_TOKEN instead"),
        ("https://gitlab.com/a/b", None, "hidden-token\r\nX: y", "characters that no token has"),
    ],
)
def test_addresses_and_tokens_that_cannot_be_used(target, api, token, words):
    with pytest.raises(UsageError, match=words) as refusal:
        access(parse_targets([target]), api, GITLAB_TOKEN=token)
    assert "hidden-token" not in str(refusal.value)


def test_the_token_does_not_show():
    assert "hidden-token" not in repr(gitlab_access(PUBLIC, None, {"GITLAB_TOKEN": "hidden-token"}))
