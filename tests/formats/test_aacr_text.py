from dataclasses import replace

import pytest
from comment_strategies import PIECES, SOME_TEXT, comments, recognised, reviews, written_and_read
from hypothesis import given
from hypothesis import strategies as st

from metareview.errors import InputError, UsageError
from metareview.formats.comments import aacr_text
from metareview.formats.input_file import InputFile
from metareview.model.address import repository_and_number
from metareview.model.comment import Comment, Review

EXAMPLE = """<path>src/main.py</path>
<side>right</side>
<from>10</from>
<to>15</to>
<note>Potential null pointer issue here</note>
<notesplit />
<path>src/utils.py</path>
<side>right</side>
<from>20</from>
<to>25</to>
<note>Consider adding exception handling</note>
<notesplit />
"""
TWO = [
    Comment("Potential null pointer issue here", "src/main.py", "right", 10, 15),
    Comment("Consider adding exception handling", "src/utils.py", "right", 20, 25),
]
TAGS = "Write <path>x</path>, not <to>.\r\n  Nor <note> or </from>. "


def parsed(text, name="comments_repo_5.txt"):
    source = InputFile.of_text(text, name)
    return list(aacr_text.parse(source)), source.all_warnings()


def refusal(text):
    with pytest.raises(InputError) as error:
        parsed(text)
    return error.value


def test_the_documented_example_is_two_comments():
    assert parsed(EXAMPLE) == (TWO, [])


def test_line_ends_and_a_byte_order_mark_change_nothing(tmp_path):
    path = tmp_path / "comments_repo_5.txt"
    path.write_bytes(b"\xef\xbb\xbf" + EXAMPLE.replace("\n", "\r\n").encode())
    assert list(aacr_text.parse(InputFile(path))) == TWO


@pytest.mark.parametrize("split", ["<notesplit />", "<notesplit/>", "</notesplit>", "<notesplit>", "<NoteSplit  />"])
def test_a_split_may_be_written_in_many_ways(split):
    assert parsed(EXAMPLE.replace("<notesplit />", split)) == (TWO, [])


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (  # The last split may be missing, and tags may share a line.
            "<path>a</path><from>1</from><to>1</to><note>x</note><notesplit /><path>b</path><note>y</note>",
            [Comment("x", "a", from_line=1, to_line=1), Comment("y", "b")],
        ),
        (f"<path>a</path><note>{TAGS}</note><to>7</to>", [Comment(TAGS, "a", to_line=7)]),
        ("<path></path><side> </side><from></from><note>x</note>", [Comment("x")]),
        ("<path> a.py\n</path><from> 3 </from>", [Comment("", "a.py", from_line=3)]),
        ("<from>2147483647</from><note>x</note>", [Comment("x", from_line=2**31 - 1)]),
        (f"<note>a\0b{'x' * 100_000}</note>", [Comment("a\0b" + "x" * 100_000)]),
    ],
)
def test_what_is_between_the_tags_is_read_as_it_is(text, expected):
    assert parsed(text)[0] == expected


@pytest.mark.parametrize(
    ("block", "line", "problem"),
    [
        ("<path>a</path>\n<note>never closed", 2, "<note> without its closing tag"),
        ("<path>a\n<side>right</side>\n<note>x</note>", 1, "<path> without its closing tag"),
        ("<path>a</path>\n<from>3\n<to>4</to>\n<note>x</note>", 2, "<from> without its closing tag"),
        ("<path>a</path>\n\n<to>\n<note>x</note>", 3, "<to> without its closing tag"),
        ("<path>a</path>\nx</note>", 2, "</note> without its opening tag"),
        ("right</side>\n<note>x</note>", 1, "</side> without its opening tag"),
        ("<note>x</note>\n<path>a</path>\n<note>y</note>", 3, "a second <note> in one comment"),
        ("<path>a</path>\n<note>x<notesplit />y</note>", 2, "<note> without its closing tag"),
    ],
)
def test_an_unclosed_tag_is_refused_with_its_line(block, line, problem):
    error = refusal(EXAMPLE + block)
    assert (error.file, error.line) == ("comments_repo_5.txt", 12 + line)
    assert str(error).startswith(f"comments_repo_5.txt:{12 + line}: {problem}. Write <")


def test_a_hundred_thousand_unclosed_tags_are_refused_as_one():
    for tag in ("<note>", "<path>", "</note><path>"):
        assert refusal(tag * 100_000).line == 1


@pytest.mark.parametrize("tag", ["from", "to"])
@pytest.mark.parametrize(
    "value", ["abc", "0", "-3", "+3", "3.0", "2147483648", "9" * 5000, "1e3", "٣", "0x10", "3 4", "1_0"]
)
def test_what_is_no_line_number_is_refused_with_its_line(tag, value):
    error = refusal(f"<path>a</path>\n<side>right</side>\n<{tag}>{value}</{tag}>\n<note>x</note>")
    assert error.line == 3
    found = repr(value) if len(value) < 38 else "a string"
    assert f"<{tag}> must be a line number from 1 to 2147483647, found {found}. Lines count from 1" in str(error)


@pytest.mark.parametrize(
    ("block", "line", "lines"),
    [("\n\n<path>a</path>\n<from>9</from>\n<to>4</to>", 4, (9, 4)), ("<path>a</path>\n<to>9-6</to>", 2, (9, 6))],
)
def test_a_reversed_range_is_swapped_with_a_warning_that_names_the_line(block, line, lines):
    found, warnings = parsed(f"{block}\n<note>x</note>")
    first, last = lines
    assert found == [Comment("x", "a", from_line=last, to_line=first)]
    assert warnings == [f"comments_repo_5.txt:{line}: <from> {first} is after <to> {last}; swapped"]


def test_past_ten_warnings_of_a_kind_only_their_number_is_said():
    _, warnings = parsed("<from>2</from><to>1</to><note>x</note><notesplit />\n" * 13)
    assert len(warnings) == 11
    assert warnings[9] == "comments_repo_5.txt:10: <from> 2 is after <to> 1; swapped"
    assert warnings[10] == "comments_repo_5.txt: 3 more like this: a range that ends before it begins; swapped"


def test_text_outside_tags_is_left_out_with_a_warning():
    inside = EXAMPLE.replace("<side>right</side>\n<from>20", "<side>right</side>\n\nat\n<from>20")
    found, warnings = parsed("Here is my review.\n<notesplit />\n" + inside + "\n\nThat is all.\n")
    assert found == TWO
    assert warnings == [f"comments_repo_5.txt:{line}: text outside any tag; left out" for line in (1, 12, 19)]


@pytest.mark.parametrize("text", ["", " \n\t", "<notesplit />\n<notesplit />"])
def test_a_file_without_comments_is_silence(text):
    source = InputFile.of_text(text, "out/comments_my_repo_5.txt")
    assert list(aacr_text.read(source)) == [Review("my_repo#5", source="out/comments_my_repo_5.txt")]
    assert source.all_warnings() == []


@pytest.mark.parametrize(
    ("name", "pr"),
    [
        ("comments_repo_5.txt", "repo#5"),
        ("comments_a_b_c_0012.txt", "a_b_c#12"),
        ("comments_x.y_5.txt", "x.y#5"),
        ("repo_5.txt", "repo#5"),
        ("comments_repo.txt", "comments_repo.txt"),
        ("comments_repo_5b.txt", "comments_repo_5b.txt"),
        ("comments_repo_" + "9" * 200 + ".txt", "comments_repo_" + "9" * 200 + ".txt"),
    ],
)
def test_the_file_name_tells_the_pull_request(name, pr):
    assert [review.pr for review in aacr_text.read(InputFile.of_text(EXAMPLE, name))] == [pr]


@pytest.mark.parametrize(
    ("text", "name", "expected"),
    [
        (EXAMPLE, "anything.txt", ["aacr-text"]),
        ("", "comments_repo_5.txt", ["aacr-text"]),
        ("", "comments_repo_5.json", ["aacr-text"]),
        ("", "notes.txt", []),
        ("I found nothing to say.", "comments_repo_5.txt", ["aacr-text"]),
        ("null", "comments_repo_5.json", []),
        ("I found nothing to say.", "notes_5.txt", []),
        ('{"pr": "u", "comments": [{"note": "<path>a</path>"}]}', "comments_repo_5.txt", ["jsonl"]),
    ],
)
def test_it_is_recognised_by_tags_or_by_name(text, name, expected):
    assert recognised(InputFile.of_text(text, name)) == expected


def test_a_bracket_at_the_beginning_does_not_make_it_json():
    assert aacr_text.sniff(InputFile.of_text("[review of #5]\n" + EXAMPLE, "comments_repo_5.txt"))


TAG_TEXT = SOME_TEXT.map(str.strip).filter(
    lambda text: text and not any(tag in text.lower() for tag in ("path>", "to>", "note>", "<notesplit"))
)
NOTES = st.lists(st.sampled_from([p for p in PIECES if "notesplit" not in p] + ["word"]), max_size=6).map("".join)


@given(reviews(comments(path=TAG_TEXT, side=TAG_TEXT, note=NOTES)))
def test_what_is_written_is_read_back(found):
    unique = {repository_and_number(review.pr): review for review in found}
    expected = [replace(r, pr=f"{repo}#{number}") for (repo, number), r in unique.items()]
    assert written_and_read("aacr-text", unique.values()) == expected
    assert written_and_read("aacr-text", expected) == expected


@pytest.mark.parametrize(
    "comment",
    [
        Comment("a </note> b"),
        Comment("a <notesplit /> b"),
        Comment("a </NoteSplit> b"),
        Comment("x", path="a</path>b"),
        Comment("x", path="a<from>b"),
        Comment("x", path="<notesplit/>"),
        Comment("x", side=" right"),
        Comment("x", path="a\n"),
    ],
)
def test_what_would_be_read_back_otherwise_is_not_written(comment):
    with pytest.raises(UsageError, match=r"aacr-text cannot hold this .* Use jsonl"):
        aacr_text.write([Review("repo#5", (comment,))])


@pytest.mark.parametrize(
    "pr", ["some text", "repo#", "#5", "repo#²", "repo#٣", "a\\b#5", "a\0b#5", "a\nb#5", "repo#-5"]
)
def test_a_pull_request_that_no_file_name_tells_is_not_written(pr):
    with pytest.raises(UsageError, match="names files by repository and number"):
        aacr_text.write([Review(pr)])


def test_no_file_is_written_for_two():
    owners = [Review("https://github.com/a/repo/pull/5"), Review("https://github.com/b/repo/pull/5")]
    tools = [Review("repo#5", reviewer="x"), Review("repo#5", reviewer="y")]
    for two in (owners, tools):
        with pytest.raises(UsageError, match=r"comments_repo_5\.txt would be written twice"):
            aacr_text.write(two)
