"""Labels of outcomes in files: as a run's folder keeps them, and as `--labels` reads them."""

import json

import pytest

from metareview.errors import InputError
from metareview.formats.input_file import InputFile
from metareview.formats.labels import read_label_set
from metareview.formats.outcome_labels import read_outcome_labels

LABEL = {"pr": "o/r#1", "reviewer": "bot", "position": 0, "addressed": "fully", "note": "n", "at": "2026-01-01"}


def source(*lines):
    text = "\n".join(line if isinstance(line, str) else json.dumps(line) for line in lines)
    return InputFile.of_text(text, "labels.jsonl")


def verdicts(*lines):
    return [(label.position, label.verdict, label.name) for label in read_outcome_labels(source(*lines)).labels]


def test_the_later_word_of_a_person_holds_and_null_takes_it_back():
    assert verdicts(LABEL, LABEL | {"addressed": "not"}) == [(0, "not", None)]
    assert verdicts(LABEL, LABEL | {"position": 1}, LABEL | {"addressed": None}) == [(1, "fully", None)]


def test_of_several_people_most_decide():
    said = [LABEL | {"name": name, "addressed": each} for name, each in (("a", "not"), ("b", "partly"), ("c", "not"))]
    assert verdicts(*said) == [(0, "not", "c")]
    assert verdicts(*said[:2]) == [(0, "partly", "b")], "of equally many, what was said last"


def test_another_note_at_the_same_position_is_another_comment():
    assert len(verdicts(LABEL, LABEL | {"note": "m", "addressed": "not"})) == 2


def test_lines_about_other_things_and_half_lines_are_passed_over():
    pair = {
        "pr": "o/r#1",
        "reviewer": "x",
        "generated": 0,
        "reference": 0,
        "match": True,
        "a": "r",
        "b": "c",
        "at": "t",
    }
    found = read_outcome_labels(source(pair, LABEL, '{"pr": "o/r#1", "rev'))
    assert [label.verdict for label in found.labels] == ["fully"]
    assert "breaks off" in found.warnings[0]
    assert [label.match for label in read_label_set(source(pair, LABEL)).labels] == [True]
    with pytest.raises(InputError, match="no labels of pairs: 1 line about outcomes"):
        read_label_set(source(LABEL))
    with pytest.raises(InputError, match="no labels of outcomes: 1 line about other things"):
        read_outcome_labels(source(pair))


@pytest.mark.parametrize(
    ("fields", "problem"),
    [
        ({"addressed": "yes"}, "addressed"),
        ({"addressed": True}, "addressed"),
        ({"position": -1}, "position"),
        ({"position": "0"}, "position"),
        ({"note": None}, "note is missing"),
        ({"pr": None}, "pr is missing"),
    ],
)
def test_what_is_wrong_is_named_with_its_line(fields, problem):
    with pytest.raises(InputError, match=problem) as caught:
        read_outcome_labels(source(LABEL, LABEL | fields))
    assert ":2" in str(caught.value)
