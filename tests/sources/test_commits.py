"""The commits of a pull request that are fetched, and their order."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from metareview.model.comment import Comment, Commit
from metareview.sources.commits import with_patches


def commit(sha, minute, *parents):
    return Commit(sha, f"2026-03-02T09:{minute:02d}:00Z", parents=parents)


def comment(sha, minute=5, **more):
    return Comment("A note", id="1", **{"to_line": 3, "commit": sha, "at": f"2026-03-02T09:{minute:02d}:00Z", **more})


class Repository:
    """Has these commits, those on `base` first of all, and keeps what it was asked."""

    def __init__(self, *commits, base=()):
        self.known = {each.sha: each for each in commits}
        self.base = frozenset(base)
        self.asked = []

    def with_files(self, commit):
        self.asked.append(commit.sha)
        return replace(commit, files=())

    def commit(self, sha):
        self.asked.append(sha)
        found = self.known.get(sha)
        return found and replace(found, files=())

    def only_in(self, sha, head):
        self.asked.append(f"{head}...{sha}")
        return {each for each in self.known if each not in self.base}


NEW = [commit("n1", 10, "b"), commit("n2", 20, "n1"), commit("n3", 30, "n2")]


@pytest.mark.parametrize(
    ("comments", "asked"),
    [
        ([comment("n3", 40)], []),
        ([comment("n3", 30)], []),
        ([comment("n3", 29)], ["n3"]),
        ([comment("n3", 5)], ["n1", "n2", "n3"]),
        ([comment("n1", 40)], ["n2", "n3"]),
        ([comment("n3", 40), comment("n2", 40)], ["n3"]),
        ([comment("n1", 5, in_reply_to="1")], []),
        ([comment("n1", to_line=None, path="a.py")], []),
        # A finding in a body says when, and no more.
        ([comment(None, 15)], ["n2", "n3"]),
        # The commit that all of it is based on.
        ([comment("b", 40)], ["n1", "n2", "n3"]),
        ([comment("gone", 40)], ["gone", "n1", "n2", "n3"]),
    ],
)
def test_only_what_somebody_may_want_is_asked_for(comments, asked):
    repository = Repository()
    found = with_patches(NEW, comments, repository)
    assert repository.asked == asked
    assert [each.sha for each in found] == ["n1", "n2", "n3"]
    assert [each.sha for each in found if each.files is not None] == [sha for sha in asked if sha.startswith("n")]


def test_after_the_commit_where_two_lines_part_all_of_the_new_one_is_wanted():
    repository = Repository(commit("o2", 15, "n1"), commit("o3", 25, "o2"))
    found = with_patches(NEW, [comment("o3", 40)], repository)
    # o2's parent is a commit of the pull request, so it is known to be no commit of the base.
    assert repository.asked == ["o3", "n3...o3", "o2", "n2", "n3"]
    assert [each.sha for each in found] == ["n1", "o2", "n2", "o3", "n3"]
    assert [each.sha for each in found if each.files is not None] == ["o2", "n2", "o3", "n3"]


def test_two_comments_on_one_line_of_commits_share_it():
    repository = Repository(commit("o1", 11, "b"), commit("o2", 11, "o1"), commit("o3", 11, "o2"))
    found = with_patches(NEW, [comment("o2", 40), comment("o3", 40), comment("o2", 50)], repository)
    assert repository.asked == ["o2", "n3...o2", "o1", "o3", "n1", "n2", "n3"]
    # All of one minute, as a rebase leaves them, and each after its parent.
    assert [each.sha for each in found] == ["n1", "o1", "o2", "o3", "n2", "n3"]


def test_the_head_of_the_pull_request_stays_the_last():
    found = with_patches(NEW, [comment("o1", 40)], Repository(commit("o1", 50, "b")))
    assert [each.sha for each in found] == ["n1", "n2", "o1", "n3"]


def test_a_commit_of_the_base_ends_the_way_back():
    repository = Repository(commit("o1", 3, "b0"), commit("b0", 1, "a"), commit("a", 0), base=("b0", "a"))
    assert [each.sha for each in with_patches(NEW, [comment("o1")], repository)] == ["o1", "n1", "n2", "n3"]
    assert repository.asked[:2] == ["o1", "n3...o1"]
    told = Repository(commit("o1", 3, "b0"))
    with_patches(NEW, [comment("o1")], told, bases=["b0"])
    assert told.asked[:2] == ["o1", "n1"]


def test_the_way_back_has_an_end():
    endless = Repository(*(commit(f"o{i}", 1, f"o{i + 1}") for i in range(100)))
    found = with_patches(NEW, [comment("o0")], endless)
    assert [each.sha for each in found] == [*(f"o{i}" for i in range(19, -1, -1)), "n1", "n2", "n3"]
    circle = Repository(commit("o1", 3, "o2"), commit("o2", 2, "o1"))
    found = with_patches(NEW, [comment("o1")], circle)
    assert sorted(each.sha for each in found) == ["n1", "n2", "n3", "o1", "o2"]


def test_without_a_commit_or_a_comment_nothing_is_asked():
    repository = Repository(commit("o1", 3, "b"))
    assert with_patches([], [comment("o1")], repository) == []
    assert with_patches(NEW, [], repository) == NEW
    assert repository.asked == []


DATES = st.lists(st.integers(0, 9), min_size=1, max_size=6)


@given(DATES, DATES, st.data())
def test_whatever_the_clocks_say_parents_come_first(dates, old_dates, data):
    listed = [commit(f"n{i}", at, f"n{i - 1}" if i else "b") for i, at in enumerate(dates)]
    fork = data.draw(st.integers(-1, len(dates) - 1))
    first = f"n{fork}" if fork >= 0 else "b"
    old = [commit(f"o{i}", at, f"o{i - 1}" if i else first) for i, at in enumerate(old_dates)]
    comments = [comment(f"o{i}") for i in data.draw(st.permutations(range(len(old))))]
    found = with_patches(listed, comments, Repository(*old))
    shas = [each.sha for each in found]
    assert sorted(shas) == sorted(each.sha for each in (*listed, *old))
    assert [sha for sha in shas if sha[0] == "n"] == [each.sha for each in listed]
    assert shas[-1] == listed[-1].sha
    # Upon the head itself nothing can stand before it.
    if fork < len(dates) - 1:
        places = {sha: place for place, sha in enumerate(shas)}
        assert all(places.get(each.parents[0], -1) < places[each.sha] for each in found)
    assert all(each.files is not None for each in found if each.sha[0] == "o" or int(each.sha[1:]) > fork)
