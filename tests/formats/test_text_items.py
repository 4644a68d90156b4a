import json

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from metareview.errors import InputError
from metareview.formats.text_items import read_text_items
from metareview.text.score import TextItem

GOOD = b'{"retrieved_context": ["a"], "ground_truth_context": []}'


def write(folder, content):
    path = folder / "items.jsonl"
    path.write_bytes(content)
    return path


def refusal(path):
    with pytest.raises(InputError) as error:
        read_text_items(path)
    assert error.value.exit_code == 2
    return error.value


def test_lines_become_items_in_order(tmp_path):
    other = '{"ground_truth_context": ["ü\u2028ö", "b"], "retrieved_context": [], "id": 7}'.encode()
    path = write(tmp_path, b"\xef\xbb\xbf" + GOOD + b"\r\n\n  \t\n" + other)
    assert read_text_items(path) == [TextItem(("a",), ()), TextItem((), ("ü\u2028ö", "b"))]
    assert read_text_items(str(path)) == read_text_items(path)


TEXTS = st.lists(st.text(), max_size=3).map(tuple)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(st.builds(TextItem, TEXTS, TEXTS), min_size=1, max_size=4), st.booleans())
def test_what_json_writes_is_read_back(tmp_path, items, ascii_only):
    lines = [
        json.dumps(
            {"retrieved_context": item.retrieved_context, "ground_truth_context": item.ground_truth_context},
            ensure_ascii=ascii_only,
        )
        for item in items
    ]
    assert read_text_items(write(tmp_path, "\n".join(lines).encode())) == items


@pytest.mark.parametrize(
    ("line", "problem", "fix"),
    [
        (b'{"retrieved_context": [', "broken JSON: Expecting value (column 24)", "Correct it"),
        (b"9" * 5000, "a number is too long", "Export it again"),
        (b"[" * 200_000, "nested too deeply", "Export it again"),
        (b"[1]", "must be an object, found a list", "Write each line as"),
        (b'"x"', "found a string", "Write each line as"),
        (b"null", "found null", "Write each line as"),
        (b"1.5", "found a number", "Write each line as"),
        (b"true", "found a boolean", "Write each line as"),
        (b'{"retrieved_context": []}', "ground_truth_context is missing", 'Give a list such as ["…"], or []'),
        (b'{"ground_truth_context": []}', "retrieved_context is missing", 'Give a list such as ["…"], or []'),
        (
            b'{"retrieved_context": "a", "ground_truth_context": []}',
            "retrieved_context must be a list of strings",
            'Give a list such as ["',
        ),
        (
            b'{"retrieved_context": [], "ground_truth_context": null}',
            "ground_truth_context must be a list of strings",
            'Give a list such as ["',
        ),
        (
            b'{"retrieved_context": [], "ground_truth_context": ["a", {}]}',
            "ground_truth_context must be a list of strings",
            'Give a list such as ["',
        ),
        (
            b'{"retrieved_context": ["caf\xe9"], "ground_truth_context": []}',
            "not UTF-8 (byte 0xe9)",
            "Save the file as UTF-8.",
        ),
    ],
)
def test_a_bad_line_is_named_with_its_fix(tmp_path, line, problem, fix):
    path = write(tmp_path, GOOD + b"\n\n" + line + b"\n" + GOOD)
    error = refusal(path)
    assert (error.file, error.line) == (str(path), 3)
    assert str(error).startswith(f"{path}:3: ")
    assert problem in str(error)
    assert fix in str(error)


def test_utf_16_is_not_utf_8(tmp_path):
    assert "not UTF-8" in str(refusal(write(tmp_path, GOOD.decode().encode("utf-16"))))


@pytest.mark.parametrize("content", [b"", b"\n \n", b"\xef\xbb\xbf\n"])
def test_a_file_without_items_is_refused(tmp_path, content):
    path = write(tmp_path, content)
    assert str(refusal(path)).startswith(f"{path}: no items. Give at least one line such as {{")


def test_a_path_that_is_no_file_is_refused(tmp_path):
    missing = tmp_path / "none.jsonl"
    assert str(refusal(missing)) == f"{missing}: no such file. Check the path."
    assert str(refusal(tmp_path)).startswith(f"{tmp_path}: this is a folder")
    below = write(tmp_path, GOOD) / "below.jsonl"
    assert str(refusal(below)).startswith(f"{below}: cannot be read: Not a directory")
