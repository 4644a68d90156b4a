"""Pull requests that are made to take the square of their size, through the command, with a limit of processor time."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from limited import run_limited
from metareview.outcomes import reasons
from metareview.outcomes.line_search import occurrences

PR = "https://github.com/o/r/pull/1"


def comment(note="?", line=2, **more):
    place = {"path": "a.py", "side": "right", "from_line": line, "to_line": line}
    return {**place, "note": note, "at": "2026-01-02T00:00:00Z", "commit": "c100000", **more}


def commit(sha, day, parent, patch):
    changed = {"path": "a.py", "status": "modified", "patch": patch}
    return {"sha": sha, "at": f"2026-01-0{day}T00:00:00Z", "author": "ann", "parents": [parent], "files": [changed]}


def replaced_by(lines):
    """Line 2 of three makes way for so many lines `x`."""
    return [
        commit("c100000", 1, "b000000", "@@ -1,2 +1,3 @@\n a\n+b\n c"),
        commit("c200000", 3, "c100000", f"@@ -2,1 +2,{lines} @@\n-b\n" + "+x\n" * lines),
    ]


def suggestion(*lines):
    return "\n".join(["```suggestion", *lines, "```"])


def far_apart(before, after, number=9_000):
    head = "@@ -{0},1 +{0},1 @@\n-{1}{0}\n+{2}{0}"
    return "\n".join(head.format(1 + 2_000 * each, before, after) for each in range(number))


CASES = {
    "a chain of 30,000 replies": (
        [comment(id="0"), *(comment(id=f"{n + 1}", in_reply_to=f"{n}", author="ann") for n in range(30_000))],
        [],
        {"answered": True},
    ),
    "a suggestion of equal lines in a place of equal lines": (
        [comment(suggestion(*["x"] * 4_900, "y"))],
        replaced_by(9_900),
        {"suggestion_taken": False},
    ),
    "a thousand suggestions in one note": (
        [comment("\n".join(suggestion("x", "x", f"y{number}") for number in range(1_000)))],
        replaced_by(9_900),
        {"suggestion_taken": reasons.TOO_MANY_SUGGESTIONS},
    ),
    "neighbours of equal lines after a force push": (
        [comment(line=4)],
        [
            commit("c100000", 1, "b000000", "@@ -1,6 +1,7 @@\n x\n x\n x\n+y\n x\n x\n x"),
            commit("c300000", 3, "d000000", "@@ -1,20000 +1,20001 @@\n" + " x\n" * 20_000 + "+z"),
        ],
        {"lines_changed": reasons.REWRITTEN},
    ),
    "patches of thousands of parts far from each other": (
        [comment(line=1, commit="c200000")],
        [
            commit("c100000", 1, "b000000", far_apart("a", "b")),
            commit("c200000", 1, "c100000", far_apart("b", "c")),
            commit("c300000", 3, "d000000", far_apart("a", "d")),
        ],
        {"lines_changed": reasons.REWRITTEN},
    ),
    "a part of 400,000 short lines": (
        [comment(line=1), comment(line=2)],
        [
            commit("c100000", 1, "b000000", "@@ -1,1 +1,2 @@\n x\n+y"),
            commit("c200000", 3, "c100000", "@@ -1,2 +1,400001 @@\n x\n" + "+\n" * 400_000 + "-y"),
        ],
        {"lines_changed": False},
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_a_pull_request_does_not_take_the_square_of_its_size(case, tmp_path):
    comments, commits, expected = CASES[case]
    written(tmp_path, comments, commits)
    ran = run_limited("outcomes", "said.jsonl", "--out", "run", "-q", folder=tmp_path, seconds=20)
    assert ran.returncode == 0, ran.stderr[-2000:]
    first = outcomes_in(tmp_path)[0]
    for name, value in expected.items():
        assert (first["outcomes"][name], first["cannot_tell"].get(name)) in ((value, None), (None, value))


def test_replies_to_an_id_that_many_comments_have_are_kept_a_hundred_times(tmp_path):
    sizes = []
    for number in (300, 600):
        folder = tmp_path / str(number)
        folder.mkdir()
        replies = [{"note": "no" * 50, "id": f"r{n}", "in_reply_to": "1", "author": "ann"} for n in range(number)]
        written(folder, [*({"note": f"note {n}", "id": "1"} for n in range(number)), *replies], [])
        ran = run_limited("outcomes", "said.jsonl", "--out", "run", "-q", folder=folder)
        assert ran.returncode == 0, ran.stderr
        found = outcomes_in(folder)
        assert [len(each["replies"]) for each in found] == [100] * 100 + [0] * (number - 100)
        assert all(each["outcomes"]["answered"] for each in found)
        sizes.append((folder / "run" / "results.jsonl").stat().st_size)
    assert sizes[1] < 2 * sizes[0]


@given(
    st.lists(st.sampled_from(["a", "b", None]), max_size=12), st.lists(st.sampled_from("ab"), min_size=1, max_size=4)
)
def test_occurrences_are_those_of_a_plain_search(texts, wanted):
    starts = range(len(texts) - len(wanted) + 1)
    fits = [all(texts[at + n] in (None, line) for n, line in enumerate(wanted)) for at in starts]
    assert list(occurrences(texts, wanted)) == [at for at in starts if fits[at]]


def written(folder, comments, commits):
    about = {"pr": PR, "reviewer": "bot", "author": "ann", "commits": commits, "comments": comments}
    (folder / "said.jsonl").write_text(json.dumps(about), "utf-8")


def outcomes_in(folder):
    lines = (folder / "run" / "results.jsonl").read_text("utf-8").splitlines()
    return [outcome for line in lines for outcome in json.loads(line)["comments"]]
