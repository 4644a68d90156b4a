import json
from pathlib import Path
from unicodedata import combining, normalize

import pytest
from hypothesis import given
from hypothesis import strategies as st

import metareview
from limited import run_limited, run_python
from metareview.text.normalisation import normalise

FORMS = ("NFC", "NFD", "NFKC", "NFKD")
ACUTE, DOT_BELOW, TIBETAN_VOWEL, HALFWIDTH_VOICED = "\u0301", "\u0323", "\u0f73", "\uff9e"


@pytest.mark.parametrize("judge", ["exact", "rouge", "offline"])
def test_a_note_of_a_hundred_thousand_combining_marks_is_judged(judge, tmp_path):
    # Sorting them takes the square of their number, some 20 s for each time that the note is read.
    note = "a" + ACUTE * 100_000 + DOT_BELOW * 100_000
    place = {"path": "a.py", "side": "right", "from_line": 1, "to_line": 1}
    review = {"pr": "octo/shop#7", "comments": [{**place, "note": note}]}
    (tmp_path / "comments.jsonl").write_text(json.dumps(review), "utf-8")
    (tmp_path / "reference.jsonl").write_text(json.dumps(review) + "\n", "utf-8")
    ran = run_limited(
        "comments", "comments.jsonl", "--reference", "reference.jsonl", "--judge", judge, "--json", folder=tmp_path
    )
    assert ran.returncode == 0, ran.stderr
    assert json.loads(ran.stdout)["reviewers"]["comments"]["metrics"]["f1"] == 1.0


@pytest.mark.parametrize(
    "marks",
    [ACUTE + DOT_BELOW, TIBETAN_VOWEL, HALFWIDTH_VOICED + ACUTE, (ACUTE + DOT_BELOW) * 15 + "\u200d"],
    ids=["of two classes", "that are marks once decomposed", "that are marks once compatible", "behind joiners"],
)
def test_no_run_of_marks_takes_the_square_of_its_length(marks):
    code = (
        "from metareview.text.tokens import tokens; from metareview.judges.offline.words import runs;"
        "from metareview.judges.remote.echoed_notes import _folded;"
        "from metareview.text.normalisation import normalise;"
        f"text = 'a' + {marks!a} * (100_000 // len({marks!a}));"
        f"[normalise(form, text) for form in {FORMS}], tokens(text), runs(text), _folded(text)"
    )
    run_python(code, seconds=10)


@given(st.text(st.one_of(st.characters(codec=None), st.sampled_from("é\u0301\u0323\u0f73\uff9e\u3099"))))
def test_text_without_a_run_of_more_than_thirty_marks_is_normalised_as_unicode_says(text):
    for form in FORMS:
        assert normalise(form, text) == normalize(form, text) or _longest_run(text) > 30


@pytest.mark.parametrize("form", FORMS)
def test_thirty_marks_stay_as_they_are_and_the_next_is_kept_behind_a_joiner(form):
    assert normalise(form, "x" + DOT_BELOW * 30 + "y") == normalize(form, "x" + DOT_BELOW * 30 + "y")
    assert normalise(form, "x" + DOT_BELOW * 31) == normalize(form, "x" + DOT_BELOW * 30) + "\u034f" + DOT_BELOW


def test_nothing_else_normalises():
    root = Path(metareview.__file__).parent
    places = [file for file in root.rglob("*.py") if "normalize(" in file.read_text("utf-8")]
    assert [file.name for file in places] == ["normalisation.py"]


def _longest_run(text):
    longest = run = 0
    for character in normalize("NFKD", text):
        run = run + 1 if combining(character) else 0
        longest = max(longest, run)
    return longest
