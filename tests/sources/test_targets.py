"""The ways in which a user may name pull requests."""

import pytest

from metareview.errors import UsageError
from metareview.sources.targets import PullTarget, parse_targets


@pytest.mark.parametrize(
    ("texts", "target"),
    [
        (["acme/shop"], PullTarget("github.com", "acme", "shop")),
        (["acme/shop#12"], PullTarget("github.com", "acme", "shop", (12,))),
        (["acme/shop#12,15,20-22"], PullTarget("github.com", "acme", "shop", (12, 15, 20, 21, 22))),
        (["acme/shop#12#15"], PullTarget("github.com", "acme", "shop", (12, 15))),
        (["acme/shop#9", "Acme/Shop#7"], PullTarget("github.com", "acme", "shop", (7, 9))),
        (["acme/shop#9", "acme/shop"], PullTarget("github.com", "acme", "shop")),
        (["https://github.com/acme/shop"], PullTarget("github.com", "acme", "shop")),
        (["https://www.github.com/acme/shop.git"], PullTarget("github.com", "acme", "shop")),
        (["github.com/acme/shop/pull/7"], PullTarget("github.com", "acme", "shop", (7,))),
        (["https://github.com/acme/shop/pull/7/files#r1"], PullTarget("github.com", "acme", "shop", (7,))),
        (["https://github.com/acme/shop/pulls"], PullTarget("github.com", "acme", "shop")),
        (["https://ghe.corp.example:8443/acme/shop/pull/7"], PullTarget("ghe.corp.example:8443", "acme", "shop", (7,))),
        (
            ["https://gitlab.com/group/sub/shop/-/merge_requests/7"],
            PullTarget("gitlab.com", "group/sub", "shop", (7,), gitlab=True),
        ),
        (["https://gitlab.example/group/shop"], PullTarget("gitlab.example", "group", "shop", gitlab=True)),
        (
            ["https://code.example/group/shop/-/merge_requests"],
            PullTarget("code.example", "group", "shop", gitlab=True),
        ),
        (["group/shop!7"], PullTarget("gitlab.com", "group", "shop", (7,), gitlab=True)),
        (["group/sub/shop!7,9-11"], PullTarget("gitlab.com", "group/sub", "shop", (7, 9, 10, 11), gitlab=True)),
        (["g/shop!7!9", "G/Shop!8"], PullTarget("gitlab.com", "g", "shop", (7, 8, 9), gitlab=True)),
        (["code.example:8443/group/shop!7"], PullTarget("code.example:8443", "group", "shop", (7,), gitlab=True)),
        (["dotted.group/shop!7"], PullTarget("gitlab.com", "dotted.group", "shop", (7,), gitlab=True)),
    ],
)
def test_what_is_meant(texts, target):
    assert parse_targets(texts) == target


def test_a_short_name_is_of_the_server_whose_runner_we_are_on():
    assert parse_targets(["acme/shop"], "ghe.corp.example").host == "ghe.corp.example"
    assert parse_targets(["acme/shop!7"], gitlab_host="code.example") == PullTarget(
        "code.example", "acme", "shop", (7,), gitlab=True
    )


def test_an_address_of_the_environment_s_gitlab_server_is_gitlab_s():
    assert parse_targets(["https://code.example/a/b/c"], gitlab_host="code.example") == PullTarget(
        "code.example", "a/b", "c", gitlab=True
    )
    assert not parse_targets(["https://code.example/a/b"]).gitlab


@pytest.mark.parametrize(
    ("texts", "words"),
    [
        (["shop"], "names no repository"),
        (["acme/shop#x"], "'x' is no number"),
        (["acme/shop!x"], "'x' is no number"),
        (["acme/shop!"], "'' is no number"),
        (["shop!7"], "names no repository"),
        (["-x.example/acme/shop!7"], "not an http"),
        (["gitlab.com/a/b!1", "gitlab.example/a/b!1"], "several repositories"),
        (["acme/shop#"], "'' is no number"),
        (["acme/shop#0"], "no range"),
        (["acme/shop#9-3"], "no range"),
        (["acme/shop#1-999999"], "more than 100,000"),
        (["acme/shop#1", "acme/other#1"], "several repositories"),
        (["https://user:secret@github.com/acme/shop"], "user name or password"),
        (["ftp://github.com/acme/shop"], "not an http"),
        (["https://[::1/acme/shop"], "not an address"),
        (["https://github.com/acme"], "no repository and no pull request"),
        (["https://github.com/acme/shop/issues/7"], "no repository and no pull request"),
        (["../../etc"], "not an http"),
        (["../shop"], "names no repository"),
        (["https://-oProxyCommand=x/acme/shop"], "not an http"),
    ],
)
def test_what_cannot_be_meant_is_refused_with_the_fix(texts, words):
    with pytest.raises(UsageError, match=r"Give|Leave|Pull|Use") as refusal:
        parse_targets(texts)
    assert words in str(refusal.value)
    assert "secret" not in str(refusal.value)
