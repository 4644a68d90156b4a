"""No figure of the commands in `golden/commands.py` has changed. `golden/__init__.py` says how to see a difference."""

import json
import re

import pytest

from golden.expected import differences, read_expected
from golden.normal import digest, normal_text
from golden.workspace import NAMES, SHARED, Outcome, Workspace, needs_shared

EXPECTED = read_expected()


@pytest.fixture(scope="module")
def workspace(tmp_path_factory):
    with Workspace(tmp_path_factory.mktemp("golden")) as workspace:
        yield workspace


@pytest.mark.parametrize("name", NAMES)
def test_no_figure_of_a_command_has_changed(workspace, name):
    if needs_shared(name) and not SHARED.is_dir():
        pytest.skip("the published data (../shared/data) is not here")
    different = list(differences(name, workspace.outcome(name), EXPECTED, exact=False))
    assert not different, (
        f"{'; '.join(different)}. To see how: PYTHONPATH=tests python -m golden --only {name} --dump FOLDER,"
        " here and in a checkout whose figures are known to be right, then diff -r the two folders."
    )


def test_exactly_the_commands_are_expected():
    assert list(EXPECTED) == list(NAMES)


def test_only_hashes_and_counts_are_kept():
    def leaves(value):
        for inner in value.values():
            yield from leaves(inner) if isinstance(inner, dict) else [inner]

    odd = [leaf for leaf in leaves(EXPECTED) if type(leaf) is not int and not re.fullmatch("[0-9a-f]{64}", leaf)]
    assert odd == []


def test_prose_and_paths_are_blanked_and_figures_stay():
    document = {
        "f1": 0.1 + 0.2,
        "by": "judge",
        "run": "runs/a",
        "reason": None,
        "warnings": ["one", "two"],
        "skipped": [{"file": "/data/x.json", "reason": "not there"}],
        "bytes": 512,
        "counts": [1, 1.0],
    }
    text = json.dumps(document)
    assert normal_text(".jsonl", text + "\n", {"/data": "<shared>"}) == (
        '{"f1": 0.30000000000000004, "by": "judge", "run": "", "reason": null, "warnings": ["", ""],'
        ' "skipped": [{"file": "<shared>/x.json", "reason": ""}], "bytes": 0, "counts": [1, 1.0]}\n'
    )
    assert json.loads(normal_text(".json", text, {})) == document | {
        "run": "",
        "warnings": ["", ""],
        "skipped": [{"file": "/data/x.json", "reason": ""}],
        "bytes": 0,
    }


@pytest.mark.parametrize(
    ("suffix", "text"),
    [
        (
            ".md",
            "# 7\n\n| Name | 95 % |\n| --- | ---: |\n| a | 0.5 |\n| b 2 | 0.1–0.2 |\n| c | 7 &#40;12%&#41; |\n"
            "\n| A |\n| --- |\n| x |\n",
        ),
        (
            ".html",
            "<p>7</p><table><thead><tr><th>95 %</th></tr></thead><tbody><tr><th>a</th><td><b>0.5</b></td></tr>"
            "<tr><th>b 2</th><td>0.1–0.2</td></tr><tr><th>c</th><td>7 (12%)</td></tr></tbody></table>"
            "<table><tr><td>x</td></tr></table>",
        ),
    ],
)
def test_of_a_page_the_figures_in_tables_are_kept(suffix, text):
    assert normal_text(suffix, text, {}) == '[["0.5"], ["0.1–0.2"], ["7 (12%)"]]\n[]\n'


def test_of_junit_the_names_of_gates_and_messages_are_blanked():
    text = (
        '<testsuite name="a" failures="1"><testcase name="f1 at least 1" classname="a.gates">'
        '<failure message="f1 is 0.5" type="gate"/></testcase>'
        '<testcase name="o/r#1" classname="a.pull_requests"><system-out>1 of 2</system-out></testcase></testsuite>'
    )
    assert re.sub(r"\s*\n\s*", "", normal_text(".xml", text, {})) == (
        '<testsuite name="a" failures="1"><testcase name="" classname="a.gates"><failure message="" type="gate" />'
        '</testcase><testcase name="o/r#1" classname="a.pull_requests"><system-out /></testcase></testsuite>'
    )


def test_a_difference_names_the_file_and_the_count():
    def outcome(code, matches):
        text = json.dumps({"prs": matches}) + "\n"
        return Outcome(code, {"stdout.json": digest("stdout.json", text)}, "Error: a gate was missed")

    expected = {"a": {"exit_code": 0, "files": outcome(0, 2).files}}
    assert list(differences("a", outcome(0, 2), expected)) == []
    assert list(differences("a", outcome(3, 1), expected)) == [
        "a: exit code 3, expected 0: Error: a gate was missed",
        "a: stdout.json differs (prs 1, expected 2)",
    ]
    assert list(differences("a", Outcome(0, {}), expected)) == ["a: stdout.json is missing"]


@pytest.mark.parametrize(
    ("before", "after", "same"),
    [
        ("0.1234567890123456", "0.1234567890123457", True),
        ("1.0", "0.9999999999999999", True),
        ("0.0", "1.1102230246251565e-16", True),
        ("181817.73720930232", "181817.7372093023", True),
        ("0.12345678901", "0.12345678902", False),
        ("181817.737209", "181817.73721", False),
        ("1", "1.0", False),
    ],
)
def test_only_digits_after_the_twelfth_may_differ(before, after, same):
    expected = {"a": {"exit_code": 0, "files": {"x.json": digest("x.json", before)}}}
    outcome = Outcome(0, {"x.json": digest("x.json", after)})
    assert (list(differences("a", outcome, expected, exact=False)) == []) is same
    [exactly] = differences("a", outcome, expected)
    assert ("twelfth" in exactly) is same
