import pytest
from hypothesis import given
from hypothesis import strategies as st

from metareview.comments.pull_requests import PullRequestIndex
from metareview.formats.reader import read_reference_set
from metareview.model.address import AddressBook, full_addresses, parse_address, pull_request_key, repository_key
from metareview.model.comment import Comment, Review, Skipped, merged

WEB = "https://github.com/acme/shop/pull/7"
ENTERPRISE = "https://ghe.corp/acme/shop/pull/7"


@pytest.mark.parametrize(
    "text",
    [
        WEB,
        f"{WEB}/files",
        f"{WEB}#discussion_r12",
        "http://www.github.com:443/Acme/Shop/pull/007/commits?w=1",
        "https://me:secret@github.com/acme/shop/pull/7",
        "github.com/acme/shop/pull/7",
        "github.com/acme/shop#7",
        "https://api.github.com/repos/acme/shop/pulls/7",
        "https://api.github.com/repos/acme/shop/pulls/7/comments",
        "https://api.github.com/repos/acme/shop/issues/7/comments",
    ],
)
def test_github(text):
    assert pull_request_key(text) == "github.com/acme/shop#7"


@pytest.mark.parametrize(
    "text",
    [ENTERPRISE, "https://ghe.corp/api/v3/repos/acme/shop/pulls/7", "https://ghe.corp/api/v3/repos/acme/shop/issues/7"],
)
def test_github_enterprise(text):
    assert pull_request_key(text) == "ghe.corp/acme/shop#7"


@pytest.mark.parametrize(
    "text",
    [
        "https://gitlab.com/group/sub/shop/-/merge_requests/7",
        "https://gitlab.com/group/sub/shop/-/merge_requests/7/diffs#note_1",
        "https://gitlab.com/api/v4/projects/group%2Fsub%2Fshop/merge_requests/7",
        "https://gitlab.com/api/v4/projects/group%2fsub%2fshop/merge_requests/7/discussions",
        "gitlab.com/group/sub/shop!7",
    ],
)
def test_gitlab(text):
    assert pull_request_key(text) == "gitlab.com/group/sub/shop#7"


@pytest.mark.parametrize("text", ["Acme/Shop#7", "acme/shop/pull/7", "acme/shop/pulls/07", " acme/shop!7 "])
def test_without_a_host(text):
    assert pull_request_key(text) == "acme/shop#7"


@pytest.mark.parametrize(
    ("text", "key"),
    [
        ("https://ghe.corp:8443/acme/shop/pull/7", "ghe.corp:8443/acme/shop#7"),
        ("ghe.corp:8443/acme/shop#7", "ghe.corp:8443/acme/shop#7"),
        ("https://gitlab.com/api/v4/projects/42/merge_requests/7", "gitlab.com/42#7"),
        ("group/sub/shop/-/merge_requests/7", "group/sub/shop#7"),
        ("my.group/shop!7", "my.group/shop#7"),
        ("https://github.com/repos/shop/pull/7", "github.com/repos/shop#7"),
        ("https://github.com/acme/pull/pull/7", "github.com/acme/pull#7"),
        ("Shop#7", "shop#7"),
    ],
)
def test_other_shapes(text, key):
    assert pull_request_key(text) == key


@pytest.mark.parametrize(
    "text",
    ["https://github.com/acme/shop/issues/7", "https://github.com/pull/7", "https://github.com/acme/shop#7", "#7",
     "a b#7", "acme/shop", "acme__shop-7", "acme/shop@c0ffee", "comments.txt", "", "acme/shop#7x", "acme/shop#",
     "a/b#" + "7" * 19],
)  # fmt: skip
def test_what_is_no_address_is_its_own_key(text):
    assert parse_address(text) is None
    assert pull_request_key(f" {text}\n") == text


_PART = st.text("abcXYZ019-_", min_size=1, max_size=6)


@given(st.sampled_from(["github.com", "ghe.corp", "git.x.org:8443"]), _PART, _PART, st.integers(1, 10**6))
def test_a_key_is_its_own_key_and_the_same_whatever_the_case(host, owner, name, number):
    text = f"https://{host}/{owner}/{name}/pull/{number}"
    key = pull_request_key(text)
    assert pull_request_key(key) == key == pull_request_key(text.upper())
    assert pull_request_key(f"{owner}/{name}#{number}") == key.partition("/")[2]


@given(st.text(max_size=60))
def test_any_text_has_a_key_that_is_its_own(text):
    key = pull_request_key(text)
    assert pull_request_key(key) == key


# Two spellings in one set


def note(text):
    return (Comment(text),)


def test_reviews_of_one_pull_request_are_merged_however_each_names_it():
    reviews = [Review("acme/shop#7", note("a")), Review(WEB, note("b")), Review("acme/shop/pull/7", note("c"))]
    [(key, review)] = merged(reviews).items()
    assert key == ("github.com/acme/shop#7", None)
    assert (review.pr, [comment.note for comment in review.comments]) == (WEB, ["a", "b", "c"])


def test_with_two_hosts_a_short_one_stays_its_own():
    reviews = [Review("acme/shop#7", note("a")), Review(WEB, note("b")), Review(ENTERPRISE, note("c"))]
    assert [key for key, _ in merged(reviews)] == [
        "acme/shop#7", "github.com/acme/shop#7", "ghe.corp/acme/shop#7"
    ]  # fmt: skip
    assert full_addresses(review.pr for review in reviews) == {}


def test_a_bare_name_is_not_merged():
    assert len(merged([Review("shop#7"), Review(WEB)])) == 2


def test_references_and_negatives_may_be_written_differently():
    for good, bad in ((WEB, "acme/shop#7"), ("acme/shop#7", WEB)):
        comments = [{"note": "x"}]
        found, _ = read_reference_set([{"pr": good, "comments": comments}], [{"pr": bad, "comments": comments}])
        assert list(found.negatives) == list(found.references) == [pull_request_key(good)]
        assert found.warnings == ()


# Looking up


def index(*texts):
    return PullRequestIndex({pull_request_key(text): Review(text) for text in texts})


def test_owner_and_name_meet_whatever_host_the_set_has():
    for full in (WEB, ENTERPRISE, "https://gitlab.com/acme/shop/-/merge_requests/7"):
        assert index(full).find(Review("Acme/Shop#7")) == pull_request_key(full)
        assert index("acme/shop#7").find(Review(full)) == "acme/shop#7"


def test_two_hosts_are_never_guessed_between():
    found = index(WEB, ENTERPRISE).find(Review("acme/shop#7", source="f"))
    assert found == Skipped(
        "f", "acme/shop#7 may be any of github.com/acme/shop#7, ghe.corp/acme/shop#7; give the full address (jsonl)"
    )


def test_another_owner_is_another_pull_request():
    assert isinstance(index(WEB).find(Review("other/shop#7")), Skipped)
    assert isinstance(index("other/shop#7").find(Review(WEB)), Skipped)


def test_reviews_of_two_hosts_cannot_both_be_about_one_short_reference():
    reviews = [Review(WEB, source="a"), Review(ENTERPRISE, source="b"), Review("acme/shop#7", source="c")]
    known, skipped = index("acme/shop#7").find_all(reviews)
    assert [review.source for review in known] == ["c"]
    why = "acme/shop#7 of the references may be any of github.com/acme/shop#7, ghe.corp/acme/shop#7"
    assert skipped == [Skipped(each, f"{why}; give its full address") for each in "ab"]


def test_names_that_are_no_addresses_are_looked_up_too():
    book = AddressBook({"acme__shop-7": ["acme__shop-7", "acme/shop@c0ffee"]})
    assert book.find("Acme__Shop-7") == book.find("acme/shop@C0FFEE") == ["acme__shop-7"]
    assert book.find("acme/shop@beef") == []


# Repositories


@pytest.mark.parametrize(
    "text",
    ["Acme/Shop", "https://github.com/acme/shop", "https://github.com/acme/shop.git", "github.com/acme/shop/",
     "https://api.github.com/repos/acme/shop", "http://ghe.corp/acme/shop?tab=readme"],
)  # fmt: skip
def test_repositories(text):
    assert repository_key(text) == "acme/shop"


def test_a_bare_repository_is_its_own_key():
    assert repository_key("android") == "android"
