import gzip
import json
import os
import sys
from pathlib import Path

import pytest
from comment_strategies import recognised
from format_samples import COMMENTS, FORMATS, SAMPLES

from metareview.comments.pull_requests import PullRequestIndex
from metareview.errors import InputError, UsageError
from metareview.formats.input_file import InputFile
from metareview.formats.reader import ReadOptions, read_inputs, read_reference_set
from metareview.formats.registry import COMMENT_FORMATS, comment_formats
from metareview.model.address import pull_request_key
from metareview.model.comment import Comment, Review, Skipped

BLOCK = "<path>a.py</path><from>3</from><to>4</to><note>{}</note><notesplit />\n"
URL = "https://github.com/octo/shop/pull/5"
SUFFIXES = ".json, .jsonl, .ndjson, .rdjson, .rdjsonl, .sarif, .txt"


def tree(folder, files):
    for name, text in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return folder


def said(inputs):
    return [(r.reviewer, r.pr, [c.note for c in r.comments]) for r in inputs.reviews]


def refusal(path, **options):
    with pytest.raises(InputError) as error:
        read_inputs(path, ReadOptions(**options))
    return str(error.value)


@pytest.mark.parametrize("name", SAMPLES)
@pytest.mark.parametrize("suffix", [".txt", ".json", ".jsonl", ".ndjson", ".out", ""])
def test_a_file_is_recognised_by_what_is_in_it(tmp_path, name, suffix):
    path = tree(tmp_path, {f"file{suffix}": SAMPLES[name]}) / f"file{suffix}"
    assert recognised(InputFile(path)) == [name]
    inputs = read_inputs(path, ReadOptions(pull_request=URL))
    assert {file.format for file in inputs.files} == {name}
    assert all(comment.counted for review in inputs.reviews for comment in review.comments)
    assert sum(len(review.comments) for review in inputs.reviews) == COMMENTS[name]


def test_the_samples_are_of_every_format():
    assert set(SAMPLES) == set(COMMENT_FORMATS.names())
    assert ", ".join(COMMENT_FORMATS.names()) == FORMATS


def test_an_unknown_format_is_answered_with_the_known_ones():
    with pytest.raises(UsageError, match=rf"'csv'.*{FORMATS}"):
        comment_formats("csv")


def test_a_format_that_is_named_is_taken_at_its_word(tmp_path):
    path = tree(tmp_path, {"a.json": SAMPLES["aacr"]}) / "a.json"
    assert refusal(path, format_name="jsonl").startswith(f"{path}:1: a line must be an object, found a list")


# One file


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "it is empty, and its name tells no pull request"),
        ("[]", "it is empty, and its name tells no pull request"),
        ("just text", "not in a known format"),
        ("42", "not in a known format"),
        ('"text"', "not in a known format"),
        ("{}", "not in a known format"),
        ('[{"some": "list"}]', "not in a known format"),
        ("[1, 2]", "not in a known format"),
    ],
)
def test_a_file_of_no_known_format_is_refused_with_the_formats(tmp_path, content, message):
    path = tree(tmp_path, {"a.json": content}) / "a.json"
    assert refusal(path) == (f"{path}: {message}. The formats are {FORMATS}; choose one with --format.")


@pytest.mark.parametrize(
    ("content", "line", "problem"),
    [
        (b'[\n{"githubPrUrl": "u",\n]', 3, "broken JSON"),
        (b'{"pr": "u"}\n{"pr": "u', 2, "broken JSON: Unterminated string"),
        (b'{"pr": "u",\n"note": "caf\xe9"}', 2, "not UTF-8 (byte 0xe9)"),
        (b"<note>\n\n\xff</note>", 3, "not UTF-8 (byte 0xff)"),
        ("<note>x</note>".encode("utf-16"), 1, "not UTF-8 (byte 0xff)"),
        (b"<path>a</path>\n<note>x", 2, "<note> without its closing tag"),
        (b"[" * 100_000, 1, "broken JSON: nested too deeply"),
        (b'{"pr": ' + b"9" * 5000, 1, "broken JSON: a number is too long"),
    ],
)
def test_a_broken_file_is_refused_with_its_line_alone_and_in_a_folder(tmp_path, content, line, problem):
    path = tree(tmp_path, {"a.json": content, "comments_shop_5.txt": ""}) / "a.json"
    for place in (path, tmp_path):
        assert refusal(place).startswith(f"{path}:{line}: {problem}")


def test_a_path_that_is_nothing_is_refused(tmp_path):
    assert refusal(tmp_path / "none") == f"{tmp_path / 'none'}: no such file. Check the path."
    assert "cannot be read: File name too long" in refusal("x" * 5000)


def test_the_reviewer_of_a_file_is_its_own_or_the_given_or_the_file_name(tmp_path):
    tree(tmp_path, {"run1.jsonl": '{"pr": "u"}\n{"pr": "v", "reviewer": "own"}'})
    assert said(read_inputs(tmp_path / "run1.jsonl")) == [("run1", "u", []), ("own", "v", [])]
    assert said(read_inputs(tmp_path / "run1.jsonl", ReadOptions(reviewer="N"))) == [("N", "u", []), ("own", "v", [])]


def test_what_was_read_is_hashed_and_warned_of(tmp_path):
    path = tree(tmp_path, {"comments_shop_5.txt": "<from>3</from><to>1</to><note>x</note>"}) / "comments_shop_5.txt"
    inputs = read_inputs(path)
    # printf '<from>3</from><to>1</to><note>x</note>' | sha256sum
    assert inputs.hashes == {path.name: "ca385375ae03e71bd37b68450a73c64744d1e61ea00fdf3f6e5df981fa225ad8"}
    assert inputs.warnings == [f"{path}:1: <from> 3 is after <to> 1; swapped"]


# Folders


def test_a_subfolder_is_a_reviewer_and_other_files_are_the_folder_s_own(tmp_path):
    folder = tree(
        tmp_path / "night run",
        {
            "b/comments_shop_5.txt": BLOCK.format("b5"),
            "a/deeper/comments_shop_6.txt": BLOCK.format("a6"),
            "a/comments_shop_5.txt": "",
            "comments_shop_7.txt": BLOCK.format("7"),
            "z.jsonl": '{"pr": "u", "reviewer": "own"}',
        },
    )
    expected = [
        ("a", "shop#5", []),
        ("a", "shop#6", ["a6"]),
        ("b", "shop#5", ["b5"]),
        ("night run", "shop#7", ["7"]),
        ("own", "u", []),
    ]
    assert said(read_inputs(folder)) == expected
    named = read_inputs(folder, ReadOptions(reviewer="N"))
    assert said(named) == [(("N" if who == "night run" else who), *rest) for who, *rest in expected]
    assert {file.format for file in named.files} == {"aacr-text", "jsonl"}


def test_a_folder_named_from_within_has_its_own_name(tmp_path, monkeypatch):
    folder = tree(tmp_path / "mine", {"comments_shop_5.txt": ""})
    monkeypatch.chdir(folder)
    assert said(read_inputs(".")) == [("mine", "shop#5", [])]


def test_hidden_files_are_not_there_and_other_files_are_listed(tmp_path):
    tree(
        tmp_path,
        {
            "comments_shop_5.txt": "",
            ".hidden.txt": b"\xff",
            ".git/config.txt": b"\xff",
            "README.md": b"\xff",
            "chart.png": b"\xff",
            "notes.txt": "text",
            "empty.json": "",
            "other.json": "{}",
        },
    )
    inputs = read_inputs(tmp_path)
    assert said(inputs) == [(tmp_path.name, "shop#5", [])]
    assert {Path(item.file).name: item.reason for item in inputs.skipped} == {
        "README.md": f"not one of {SUFFIXES}",
        "chart.png": f"not one of {SUFFIXES}",
        "notes.txt": "not in a known format",
        "empty.json": "it is empty, and its name tells no pull request",
        "other.json": "not in a known format",
    }
    assert [Path(name).name for name in inputs.hashes] == ["comments_shop_5.txt"]


def test_a_reviewer_s_empty_folder_is_listed(tmp_path):
    tree(tmp_path, {"a/comments_shop_5.txt": ""})
    (tmp_path / "b" / "c").mkdir(parents=True)
    (tmp_path / ".git").mkdir()
    inputs = read_inputs(tmp_path)
    assert said(inputs) == [("a", "shop#5", [])]
    assert [(Path(item.file).name, item.reason) for item in inputs.skipped] == [
        ("b", "an empty folder: no reviewer to score")
    ]


@pytest.mark.parametrize("files", [{}, {".hidden": "x"}])
def test_an_empty_folder_is_refused(tmp_path, files):
    message = f"{tmp_path}: an empty folder. Name the folder that holds the comment files."
    assert refusal(tree(tmp_path, files)) == message


def test_a_folder_of_nothing_known_is_refused(tmp_path):
    folder = tree(tmp_path, {"README.md": "x", "b.txt": "text"})
    assert refusal(folder).startswith(f"{folder}: none of its 2 files is in a known format. The formats are")


@pytest.mark.skipif(sys.platform != "linux", reason="file names are bytes on Linux alone")
def test_a_file_name_that_is_no_utf_8_can_be_reported(tmp_path):
    folder = os.fsencode(tmp_path)
    Path(os.fsdecode(folder + b"/r\xff")).mkdir()
    Path(os.fsdecode(folder + b"/r\xff/comments_s\xe9_5.txt")).write_text(BLOCK.format("x"))
    inputs = read_inputs(tmp_path)
    assert said(inputs) == [("r\\udcff", "s\\udce9#5", ["x"])]
    assert json.dumps(list(inputs.hashes), ensure_ascii=False).encode().endswith(rb'comments_s\\udce9_5.txt"]')


# The reference set


def test_records_of_one_pull_request_are_merged_in_order(tmp_path):
    tree(
        tmp_path,
        {
            "one.jsonl": f'{{"pr": "{URL}", "comments": [{{"note": "1"}}]}}\n{{"pr": "{URL}6"}}\n'
            f'{{"pr": "{URL}/files", "language": "Go", "comments": [{{"note": "2"}}]}}',
            "two.json": json.dumps([{"githubPrUrl": URL.upper(), "comments": [{"note": "3"}]}]),
        },
    )
    benchmark, files = read_reference_set([tmp_path / "one.jsonl", tmp_path / "two.json"])
    assert list(benchmark.references) == ["github.com/octo/shop#5", "github.com/octo/shop#56"]
    first = benchmark.references["github.com/octo/shop#5"]
    assert (first.pr, first.language) == (URL, "Go")
    assert first.comments == (Comment("1"), Comment("2"), Comment("3"))
    assert benchmark.warnings == ("2 further records for the same pull requests were merged",)
    assert list(files.hashes) == ["reference/one.jsonl", "reference-2/two.json"]


def test_negatives_without_references_are_left_out_with_a_warning(tmp_path):
    tree(
        tmp_path,
        {
            "r.jsonl": f'{{"pr": "{URL}"}}',
            "n.jsonl": f'{{"pr": "{URL}", "comments": [{{"note": "a"}}]}}\n'
            f'{{"pr": "{URL}6", "comments": [{{"note": "b"}}, {{"note": "c"}}]}}',
        },
    )
    benchmark, _ = read_reference_set([tmp_path / "r.jsonl"], [tmp_path / "n.jsonl"])
    assert list(benchmark.negatives) == ["github.com/octo/shop#5"]
    assert benchmark.warnings == (
        "2 negatives of 1 pull request that has no references are left out: github.com/octo/shop#56",
    )


def test_a_reference_set_of_nothing_is_refused(tmp_path):
    path = tree(tmp_path, {"r.jsonl": "\n"}) / "r.jsonl"
    with pytest.raises(InputError, match="it holds no pull request"):
        read_reference_set([path], format_name="jsonl")


# Finding the pull request


def index(*urls):
    return PullRequestIndex({pull_request_key(url): Review(url) for url in urls})


FIVE, FIFTY = "https://github.com/octo/shop/pull/55", "https://github.com/octo/shop/pull/5540"


def test_repository_and_number_are_found_exactly():
    both = index(FIFTY, FIVE)
    assert both.find(Review("shop#55")) == "github.com/octo/shop#55"
    assert both.find(Review("Shop#5540")) == "github.com/octo/shop#5540"
    for near in ("shop#5", "shop#554", "shop#555", "sho#55", "op#55", "octopus/shop#55", "my-shop#55", "shop_55"):
        found = both.find(Review(near, source="f.txt"))
        assert found == Skipped("f.txt", f"its pull request {near} is not in the reference set")
    missing = index(FIFTY).find(Review("shop#55"))
    assert isinstance(missing, Skipped)


def test_two_repositories_of_one_name_are_reported_and_never_guessed():
    two = index(FIVE, "https://github.com/fork/Shop/pull/55", "https://github.com/fork/shop/pull/56")
    found = two.find(Review("shop#55", source="comments_shop_55.txt"))
    assert found == Skipped(
        "comments_shop_55.txt",
        "shop#55 may be any of github.com/octo/shop#55, github.com/fork/shop#55; give the full address (jsonl)",
    )
    assert two.find(Review("shop#56")) == "github.com/fork/shop#56"
    assert two.find(Review("https://github.com/fork/shop/pull/55")) == "github.com/fork/shop#55"


@pytest.mark.parametrize("end", ["", "/", "/files#diff-1", "#discussion_r1", "?w=1", "/commits/abc", "\n"])
@pytest.mark.parametrize("begin", ["  ", "HTTPS://www.", "http://"])
def test_the_many_ways_to_write_an_address_find_one_pull_request(begin, end):
    address = f"{begin}GitHub.com/Octo/SHOP/Pull/0055{end}"
    assert index(FIVE, FIFTY).find(Review(address)) == "github.com/octo/shop#55"
    assert index(address).find(Review(FIVE)) == "github.com/octo/shop#55"
    assert index(address).find(Review("shop#55")) == "github.com/octo/shop#55"


@pytest.mark.parametrize("other", ["github.com/octo/shop/pull/5540", "github.com/octo/shop/issues/55",
                                   "github.com/octo/other/pull/55", "gitlab.com/octo/shop/pull/55",
                                   "github.com/octo/shop/pull/55x", "github.com/octo/shop/pull/" + "5" * 5000,
                                   "github.com/octo/shop", ""])  # fmt: skip
def test_another_address_is_another_pull_request(other):
    assert isinstance(index(FIVE).find(Review(f"https://{other}" if other else "")), Skipped)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("https://gitlab.com/group/sub/shop/-/merge_requests/5", "https://gitlab.com/group/sub/shop/merge_requests/5"),
        ("https://ghe.org/api/v3/repos/o/shop/pulls/5", "https://ghe.org/o/shop/pull/5"),
        ("https://bitbucket.org/o/shop/pull-requests/5/diff", "https://bitbucket.org/o/shop/pull-requests/5"),
    ],
)
def test_other_hosts_have_addresses_too(one, other):
    assert index(one).find(Review(other)) == pull_request_key(other)
    assert index(one).find(Review("shop#5")) == pull_request_key(other)


def test_comments_that_are_packed_are_refused_with_the_fix(tmp_path):
    path = tmp_path / "comments.jsonl.gz"
    path.write_bytes(gzip.compress(b'{"pr": "u"}'))
    assert "packed with gzip. Unpack it first" in refusal(path)
