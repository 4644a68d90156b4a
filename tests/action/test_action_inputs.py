"""What the steps make of their inputs, before anything runs."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from metareview.action.inputs import out_folder, read_inputs
from metareview.errors import UsageError

NOW = datetime(2026, 3, 29, 12, 0, 0, tzinfo=UTC)


def inputs(**given):
    known = {"FILES": "comments.jsonl", "REFERENCE": "references.jsonl"}
    return read_inputs({f"INPUT_{name}": value for name, value in {**known, **given}.items()}, NOW)


def test_a_command_is_made_of_whole_values():
    found = inputs(
        FILES="--judge=evil", REFERENCE="a b.jsonl\r\n\n  --out=/tmp/x  \n", NEGATIVES="$(id)", JUDGE="; ls",
        ARGS="--all-prs\n--name\nmy bot", FAIL_UNDER="f1=0.4\nbot.recall=0.2", FAIL_OVER="noise=0.5",
    )  # fmt: skip
    assert found.arguments(found.files, Path("out/current"), found.gates) == [
        "comments", "--reference=a b.jsonl", "--reference=--out=/tmp/x", "--negatives=$(id)", "--judge=; ls",
        "--out=out/current", "--fail-under=f1=0.4", "--fail-under=bot.recall=0.2", "--fail-over=noise=0.5",
        "--all-prs", "--name", "my bot", "--", "--judge=evil",
    ]  # fmt: skip


def test_outcomes_takes_several_files():
    found = inputs(COMMAND="outcomes", FILES="a.jsonl\nb.jsonl", REFERENCE="")
    assert found.arguments(found.files, Path("o")) == ["outcomes", "--out=o", "--", "a.jsonl", "b.jsonl"]


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"COMMAND": "coments"}, "Did you mean 'comments'"),
        ({"COMMAND": "routing"}, "one of comments, outcomes"),
        ({"FILES": ""}, "nothing to measure"),
        ({"FILES": "a\nb"}, "one file or folder"),
        ({"REFERENCE": " \n"}, "Set reference"),
        ({"COMMAND": "outcomes"}, "takes no references"),
        ({"FAIL_IF_WORSE": "f1"}, "fail-if-worse needs something to compare with. Set baseline"),
        ({"NO_WORSE": "f1=0.03"}, "no-worse needs something to compare with. Set baseline"),
        ({"ARGS": "--name my-bot"}, "one per line, as --name=my-bot"),
        ({"ARGS": "--out=elsewhere"}, "'--out=elsewhere', which is not for args"),
        ({"ARGS": "--dry-run"}, "not for args"),
        ({"BASELINE": "b", "COMPARE_ARGS": "--alpha 0.1"}, "compare-args has"),
        ({"PULL": "last week"}, "a span before now"),
        ({"PULL": "2026-02-31"}, "a span before now"),
    ],
)
def test_what_cannot_be_meant_names_the_input(given, words):
    with pytest.raises(UsageError, match=words):
        inputs(**given)


def test_a_note_with_spaces_may_be_a_value():
    assert inputs(ARGS="--name\nmy bot - new").args == ("--name", "my bot - new")


@pytest.mark.parametrize(
    ("text", "since"),
    [
        ("28d", "2026-03-01T12:00:00Z"),
        ("12h", "2026-03-29T00:00:00Z"),
        ("2026-01-31", "2026-01-31T00:00:00Z"),
        ("2026-01-31T10:00:00+02:00", "2026-01-31T08:00:00Z"),
        ("", None),
    ],
)
def test_since_when_to_pull(text, since):
    assert inputs(PULL=text).since == since


def test_pulled_comments_stand_where_nothing_else_does():
    file = Path("out/comments.jsonl")
    both = inputs(FILES="", REFERENCE="", PULL="28d").with_pulled(file)
    assert (both.files, both.reference) == ((str(file),), (str(file),))
    against_references = inputs(FILES="", PULL="28d").with_pulled(file)
    assert (against_references.files, against_references.reference) == ((str(file),), ("references.jsonl",))
    beside = inputs(COMMAND="outcomes", REFERENCE="", PULL="28d").with_pulled(file)
    assert beside.files == ("comments.jsonl", str(file))


def test_the_folder_for_everything():
    assert out_folder({}) == Path("metareview")
    assert out_folder({"INPUT_OUT": " build/review "}) == Path("build/review")
    with pytest.raises(UsageError, match="out has characters"):
        out_folder({"INPUT_OUT": "a\nrun=/etc"})
