"""What single reviewers write as JSON: codex, claude-code, open-code-review, pr-agent, gitlab-code-quality."""

import json

import pytest
from comment_strategies import recognised
from format_samples import SAMPLES

from metareview.errors import InputError
from metareview.formats.input_file import InputFile
from metareview.formats.reader import ReadOptions, read_inputs
from metareview.formats.registry import comment_formats
from metareview.model.comment import Comment

URL = "https://github.com/octo/shop/pull/7"
TOOLS = ("codex", "claude-code", "open-code-review", "pr-agent", "gitlab-code-quality")


def read(name, document, *, strict=True):
    text = document if isinstance(document, str) else json.dumps(document)
    source = InputFile.of_text(text, "f.json", strict=strict, named_pull_request=URL)
    assert recognised(source) == [name]
    [review] = comment_formats(name)[name].read(source)
    assert (review.pr, review.reviewer) == (URL, None)
    return list(review.comments), source.all_warnings()


def finding(**fields):
    return {"findings": [{"title": "Twice", "body": "Applied twice.", **fields}]}


def test_codex_is_title_and_body_an_absolute_path_and_a_priority():
    place = {"absolute_file_path": "/w/src/a.py", "line_range": {"start": 3, "end": 5}}
    found, warnings = read("codex", finding(priority=1, code_location=place, confidence_score=0.9))
    assert found == [Comment("Twice\n\nApplied twice.", "/w/src/a.py", None, 3, 5, severity="P1")]
    assert warnings == []


@pytest.mark.parametrize(
    ("title", "body", "note"),
    [
        ("Twice", "Twice applied.", "Twice applied."),
        ("Twice", None, "Twice"),
        (None, "Body.", "Body."),
        (" Twice\n", "\nBody.\n", "Twice\n\nBody."),
        (None, None, ""),
    ],
)
def test_a_title_that_the_body_begins_with_is_said_once(title, body, note):
    assert read("codex", finding(title=title, body=body))[0][0].note == note


@pytest.mark.parametrize(("priority", "severity"), [(0, "P0"), (3, "P3"), (2.0, "P2"), ("P1", "P1"), (None, None)])
def test_priorities_are_severities(priority, severity):
    assert read("codex", finding(priority=priority))[0][0].severity == severity


@pytest.mark.parametrize(
    ("name", "document"),
    [
        ("codex", {"findings": [], "overall_correctness": "patch is correct"}),
        ("open-code-review", {"comments": []}),
        ("pr-agent", {"review": {"key_issues_to_review": []}}),
        *(
            ("pr-agent", {"review": {"key_issues_to_review": text}})
            for text in ("No", "none", "", "No major issues detected", "No key issues to review.")
        ),
    ],
)
def test_no_findings_are_silence(name, document):
    assert read(name, document) == ([], [])


@pytest.mark.parametrize(
    ("line", "lines"),
    [(3, (3, 3)), ("3", (3, 3)), ("10-15", (10, 15)), ("L10-L15", (10, 15)), (3.0, (3, 3)), (None, (None, None))],
)
def test_claude_code_has_a_line_a_range_or_none(line, lines):
    document = [{"file": "a.py", "line": line, "summary": "S.", "failure_scenario": "F.", "category": "bug"}]
    [comment], warnings = read("claude-code", document)
    assert comment == Comment("S.\n\nF.", "a.py", None, *lines, category="bug")
    assert warnings == []


@pytest.mark.parametrize("line", ["N/A", "0", -1, 0, 1.5, True, [3], "many"])
def test_a_line_that_is_none_is_no_line_with_a_warning_and_refused_if_strict(line):
    document = [{"file": "a.py", "summary": "S.", "line": line}]
    [comment], warnings = read("claude-code", document, strict=False)
    assert (comment.from_line, comment.to_line) == (None, None)
    [warning] = warnings
    assert warning.startswith("f.json:1: line must be a line number from 1 to 2147483647, found")
    with pytest.raises(InputError, match=r"f\.json:1: line must be a line number"):
        read("claude-code", document)


def test_open_code_review_is_taken_as_it_is():
    item = {"path": "a.py", "content": "Leaks.", "start_line": 3, "end_line": "5", "category": "c", "severity": "HIGH"}
    assert read("open-code-review", {"comments": [item]}) == (
        [Comment("Leaks.", "a.py", None, 3, 5, category="c", severity="HIGH")],
        [],
    )


def test_pr_agent_has_issues_and_suggestions_within_review_or_without():
    issue = {"relevant_file": "a.py", "issue_header": "Possible Bug", "issue_content": "Leaks.", "start_line": 3,
             "end_line": 4}  # fmt: skip
    suggestion = {"relevant_file": "b.py", "one_sentence_summary": "Close", "suggestion_content": "Close it.",
                  "relevant_lines_start": 5, "relevant_lines_end": 6, "label": "bug"}  # fmt: skip
    leak = Comment("Possible Bug\n\nLeaks.", "a.py", None, 3, 4, category="Possible Bug")
    close = Comment("Close it.", "b.py", None, 5, 6, category="bug")
    assert read("pr-agent", {"review": {"key_issues_to_review": [issue], "score": "80"}}) == ([leak], [])
    assert read("pr-agent", {"key_issues_to_review": [issue]}) == ([leak], [])
    assert read("pr-agent", {"code_suggestions": [suggestion]}) == ([close], [])


def test_pr_agent_s_issues_as_a_text_are_refused():
    with pytest.raises(InputError, match="key_issues_to_review must be a list, found a string"):
        read("pr-agent", {"review": {"key_issues_to_review": "No lock is taken in add()."}})


def test_pr_agent_s_yaml_is_refused_with_the_fix():
    text = "```yaml\nreview:\n  key_issues_to_review:\n    - relevant_file: a.py\n```\n"
    for each in (text, text.strip("`yaml\n")):
        with pytest.raises(InputError, match=r"f.json:1: PR-Agent's YAML is not read. Write the review as JSON"):
            read("pr-agent", each)


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ({"path": "a.py", "lines": {"begin": 3}}, ("a.py", 3, 3)),
        ({"path": "a.py", "lines": {"begin": 3, "end": 5}}, ("a.py", 3, 5)),
        ({"path": "a.py", "positions": {"begin": {"line": 3, "column": 1}, "end": {"line": 5}}}, ("a.py", 3, 5)),
        ({"path": "a.py", "positions": {"begin": {"line": 3}}}, ("a.py", 3, 3)),
        ({"path": "a.py"}, ("a.py", 1, 2**31 - 1)),
    ],
)
def test_code_quality_has_lines_or_positions(location, place):
    item = {"description": "Long.", "check_name": "size", "fingerprint": "f", "severity": "minor", "location": location}
    [comment], warnings = read("gitlab-code-quality", [item])
    assert (comment.path, *comment.span) == place
    assert (comment.note, comment.category, comment.id, comment.severity) == ("Long.", "size", "f", "minor")
    assert warnings == []


# All of them


@pytest.mark.parametrize("name", TOOLS)
def test_a_fence_around_all_of_it_is_taken_off(name):
    plain = read(name, SAMPLES[name])
    for fence in ("```json\n{}\n```\n", "\n```\n{}```", "```JSON\r\n{}\r\n```\r\n\r\n"):
        assert read(name, fence.replace("{}", SAMPLES[name])) == plain


@pytest.mark.parametrize(
    "text", ["Here it is:\n```json\n{}\n```", "```json\n{}\n```\nDone.", "```json\n{}\n```\n```json\n{}\n```"]
)
def test_prose_around_it_is_no_known_format(tmp_path, text):
    path = tmp_path / "octo_shop_7.json"
    path.write_text(text.replace("{}", SAMPLES["codex"]))
    with pytest.raises(InputError, match=r"octo_shop_7.json(:\d+)?: (not in a known format|broken JSON)"):
        read_inputs(path)


@pytest.mark.parametrize("name", TOOLS)
def test_nothing_says_the_pull_request_is_refused_and_the_path_may(tmp_path, name):
    (tmp_path / "review.json").write_text(SAMPLES[name])
    with pytest.raises(InputError, match=r"review.json: nothing says which pull request .* Give --pr URL"):
        read_inputs(tmp_path / "review.json")
    (tmp_path / "octo").mkdir()
    (tmp_path / "octo/shop").mkdir()
    (tmp_path / "octo/shop/7.json").write_text(SAMPLES[name])
    [review] = read_inputs(tmp_path / "octo/shop/7.json", ReadOptions(reviewer="x")).reviews
    assert (review.pr, review.reviewer) == ("octo/shop#7", "x")


def test_a_review_of_a_fence_names_the_line_of_the_file():
    text = '```json\n[{"file": "a.py", "summary": "S.",\n "line": "N/A"}]\n```'
    with pytest.raises(InputError, match=r"f\.json:3: line must be"):
        read("claude-code", text)
