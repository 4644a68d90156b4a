"""The invented repository of examples/github: its comments and its commits tell the same story."""

import json
import re

import pytest

from github_data import SAMPLE, all_commits

PULLS = {pull["number"]: pull for pull in json.loads(SAMPLE.read_text("utf-8"))["pull_requests"]}
HEADER = re.compile(r"@@ -(\d+),(\d+) \+(\d+),(\d+) @@.*")


def changed_lines(patch):
    """The lines that a patch takes away, by their old numbers, and those that it adds, by their new ones."""
    removed, added = set(), set()
    old = new = old_end = new_end = 0
    for line in patch.split("\n"):
        if header := HEADER.fullmatch(line):
            assert (old, new) == (old_end, new_end)
            assert int(header[1]) >= old
            old, new = int(header[1]), int(header[3])
            old_end, new_end = old + int(header[2]), new + int(header[4])
            continue
        if line[0] == "-":
            removed.add(old)
        if line[0] == "+":
            added.add(new)
        old += line[0] in " -"
        new += line[0] in " +"
    assert (old, new) == (old_end, new_end)
    return removed, added


FILES = [
    (number, commit["name"], file)
    for number, pull in PULLS.items()
    for commit in all_commits(pull)
    for file in commit.get("files", ())
]


@pytest.mark.parametrize(
    ("number", "name", "file"), FILES, ids=lambda each: None if isinstance(each, dict) else str(each)
)
def test_patches_are_as_long_as_they_say(number, name, file):
    if file["status"] == "renamed":
        assert "patch" not in file
        return
    removed, added = changed_lines(file["patch"])
    assert file["changes"] == len(removed) + len(added) > 0
    assert file["filename"] in PULLS[number]["files"]


THREADS = [
    (number, thread)
    for number, pull in PULLS.items()
    for thread in pull["threads"]
    if thread["line"] is not None and not (thread.get("outdated") and "on" in thread)
]


@pytest.mark.parametrize(("number", "thread"), THREADS, ids=lambda each: "" if isinstance(each, dict) else str(each))
def test_a_comment_is_outdated_where_a_later_commit_changed_its_lines(number, thread):
    """But for a file that was renamed, whose comments are outdated whatever they are about."""
    lines = set(range(thread.get("start", thread["line"]), thread["line"] + 1))
    later = [commit for commit in PULLS[number]["commits"] if commit["after"] > thread["after"]]
    files = [file for commit in later for file in commit.get("files", ())]
    renamed = thread["path"] in {file.get("previous_filename") for file in files}
    touched = any(
        lines & changed_lines(file["patch"])[0 if thread.get("outdated") else 1]
        for file in files
        if file["filename"] == thread["path"]
    )
    assert thread.get("outdated", False) == (touched or renamed)


def test_everything_that_can_become_of_a_comment_is_there():
    threads = [(pull, thread) for pull in PULLS.values() for thread in pull["threads"]]

    def count(condition):
        bots = sum(condition(pull, thread) for pull, thread in threads if thread["by"].endswith("[bot]"))
        return bots, sum(condition(pull, thread) for pull, thread in threads) - bots

    assert count(lambda pull, thread: True) == (33, 22)
    assert count(lambda pull, thread: thread.get("resolved", False)) == (19, 17)
    assert count(lambda pull, thread: bool(thread.get("replies"))) == (4, 14)
    assert count(lambda pull, thread: "```suggestion" in thread["note"]) == (4, 1)
    assert count(lambda pull, thread: "THUMBS_UP" in thread.get("reactions", {})) == (10, 0)
    assert count(lambda pull, thread: {"THUMBS_DOWN", "CONFUSED"} & set(thread.get("reactions", ())) != set()) == (2, 0)
    assert count(lambda pull, thread: thread.get("on") in {each["name"] for each in pull.get("other_commits", ())}) == (
        2,
        1,
    )
