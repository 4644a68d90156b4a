"""The evidence in the reports: the section of the page, that of the Markdown, and notes without their markup."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st
from report_samples import HOSTILE, comment, hostile, pull, two_reviewers, write_jsonl
from rich.cells import cell_len

from metareview.api import evaluate_comments
from metareview.report.markdown import as_markdown
from metareview.report.page.entries import evidence_section
from metareview.report.plain_notes import note_lines, one_line_note


def text(section):
    """What is left of a section without its markup, white space collapsed."""
    plain = re.sub(r"<[^>]+>", " ", str(section.markup()).replace("<wbr>", ""))
    return " ".join(plain.replace("&lt;", "<").replace("&gt;", ">").replace("&#x27;", "'").split())


def test_the_page_shows_what_was_missed_what_is_noise_and_what_nearly_matched(tmp_path):
    run = two_reviewers(tmp_path)
    shown = text(evidence_section(run))
    assert "Missed: 1 reference that nobody raised" in shown
    assert "Owner/Repo#2 src/a.py:60 dead code No comment is near it." in shown
    assert "Noise: 3 comments without a partner" in shown
    # The one that repeats a negative comes first.
    assert shown.index("rename it Rejected by annotators src/a.py:80 rename it") < shown.index("nice")
    assert "Owner/Repo#1 src/a.py:80 · by loud rename it" in shown
    assert "said <b>plainly</b>" in shown.replace("&lt;", "<").replace("&gt;", ">")
    assert "said <b>plainly</b>" not in str(evidence_section(run).markup())
    assert "Near misses" not in shown  # no pair was called different


def test_beyond_three_entries_there_is_a_click_and_beyond_ten_a_count(tmp_path):
    reference = [{"pr": pull(n), "comments": [comment(f"missed {n}")]} for n in range(1, 15)]
    said = [{"pr": pull(n), "reviewer": "mute", "comments": []} for n in range(1, 15)]
    run = evaluate_comments(said, reference=reference, judge="exact")
    markup = str(evidence_section(run).markup())
    before, _, after = markup.partition("<details><summary>7 more entries</summary>")
    assert (before.count("<li"), after.count("<li")) == (3, 7)
    assert "10 of them are shown; <code>metareview show</code> has them all." in before


def test_a_run_without_anything_to_show_has_no_section(tmp_path):
    row = {"pr": pull(1), "comments": [comment("same")]}
    run = evaluate_comments([row], reference=[row], judge="exact", force=True)
    assert evidence_section(run) is None
    assert "## The evidence" not in as_markdown(run)


def test_markdown_has_the_same_lists(tmp_path):
    lines = as_markdown(two_reviewers(tmp_path)).splitlines()
    assert lines[lines.index("## The evidence") :][:7] == [
        "## The evidence",
        "",
        "### Missed&#58; 1 reference that nobody raised",
        "",
        "The most severe first, then those that a comment came nearest to.",
        "",
        "1. **Owner/Repo&#35;&#8203;2 · src/a.py&#58;60** dead code",
    ]
    assert "   - No comment is near it" in lines
    first = lines.index("1. **Owner/Repo&#35;&#8203;1 · src/a.py&#58;80 · by loud** rename it")
    assert lines[first + 1] == ("   - Rejected by annotators, at the same place&#58; score 0.90, same issue. rename it")


def test_nothing_hostile_acts_in_markdown(tmp_path):
    section = as_markdown(hostile(tmp_path)).partition("## The evidence")[2].partition("## Pull requests")[0]
    assert "javascript&#58;alert&#40;1&#41;" in section
    assert not re.search(r"<|(?<!^)@(?!&)|\]\(|::", section.replace("### ", ""))
    assert "\x1b" not in section


@pytest.mark.parametrize(
    ("note", "lines"),
    [
        ("**Leak**: see `close()` and _why it_ matters", ["Leak: see close() and why it matters"]),
        ("# Title\n\nBody [docs](https://example.org/x)", ["Title", "Body docs (example.org)"]),
        ("- one\n- two\n  - deep", ["• one", "• two", "  • deep"]),
        ("3. three\n4. four", ["3. three", "4. four"]),
        ("> quoted\n> more", ["> quoted more"]),
        ("Use:\n```python\n    if x:\n        y()\n```\nDone", ["Use:", "│ if x:", "│     y()", "Done"]),
        ("<details><summary>More</summary>\n<!-- secret\nlines -->\nList<T> x</details>", ["More", "List<T> x"]),
        ("<!-- a -->b\n```html\n<!-- kept -->\n```\n<!-- c", ["b", "│ <!-- kept -->"]),
        ("`<b>` stays, <b>this</b> goes", ["<b> stays, this goes"]),
        ("a\x1b[31mb\u202ec", ["a\ufffd[31mb[U+202E]c"]),
        ("", []),
    ],
)
def test_notes_lose_their_markup(note, lines):
    assert note_lines(note, 60, 9) == lines


def test_a_cut_note_ends_in_dots():
    assert note_lines("one two three to five six", 11, 2) == ["one two", "three to…"]
    assert note_lines("it is a note off by one", 16, 1) == ["it is a note…"]
    assert note_lines("word " * 3_000, 20, 50)[-1].endswith("…")
    assert note_lines("```\n" + "x" * 100 + "\n```", 20, 3) == ["│ " + "x" * 17 + "…"]


@given(st.text(max_size=400), st.integers(12, 90), st.integers(1, 6))
def test_any_note_fits_its_width_and_its_lines(note, width, most):
    lines = note_lines(note, width, most)
    assert len(lines) <= most
    assert all(cell_len(line) <= width for line in lines)
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e]", "".join(lines))


@pytest.mark.parametrize("note", HOSTILE)
def test_hostile_notes_are_one_harmless_line(note):
    assert not re.search("[\x00-\x1f\x7f-\x9f\u202a-\u202e\ud800-\udfff]", one_line_note(note))


def test_the_page_stays_small_however_long_the_notes_are(tmp_path):
    reference = [{"pr": pull(n), "comments": [comment("r" * 50_000, n)]} for n in range(1, 15)]
    said = [{"pr": pull(n), "reviewer": "long", "comments": [comment("g" * 50_000, n)]} for n in range(1, 15)]
    write_jsonl(tmp_path / "said.jsonl", said)
    run = evaluate_comments(tmp_path / "said.jsonl", reference=reference, judge="exact")
    assert len(str(evidence_section(run).markup())) < 200_000
