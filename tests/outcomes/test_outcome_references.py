"""Which comments become references and negatives, and that each keeps why."""

import pytest

from metareview.model.addressed import Addressed
from metareview.model.comment import Comment
from metareview.outcomes.finding import Finding
from metareview.outcomes.records import CommentOutcome, OutcomeRecord, Reply
from metareview.outcomes.references import own_references, rejecting_words

YES, NO, NULL = Finding(True), Finding(False), Finding(None, "it points at no lines")
PR = "https://github.com/o/r/pull/1"


def outcome(position=0, **fields):
    shown = {"lines_changed": NO, "suggestion_taken": NULL, "liked": NO, "disliked": NO} | fields
    return CommentOutcome(
        position, Comment(note=f"note {position}", path="a.py", from_line=3, id=f"c{position}"), **shown
    )


def found(reviewer, *outcomes):
    both = own_references([OutcomeRecord(PR, reviewer, comments=outcomes)])
    return [comment for review in both.references for comment in review.comments], [
        comment for review in both.negatives for comment in review.comments
    ]


def test_a_persons_comment_that_led_to_a_change_is_a_reference_and_says_why():
    references, negatives = found(
        "ann",
        outcome(0, lines_changed=YES, changed_by=("abcdef0123456789",)),
        outcome(1),
        outcome(2, suggestion_taken=YES),
        outcome(3, lines_changed=NULL),
    )
    assert [(each.note, each.severity, each.author, each.producer) for each in references] == [
        ("note 0", "unknown", "ann", None),
        ("note 2", "unknown", "ann", None),
    ]
    assert references[0].meta == {"reviewer": "ann", "position": 0, "why": ["its lines were changed by abcdef012345"]}
    assert references[1].meta["why"] == ["its suggestion was taken"]
    assert negatives == []


@pytest.mark.parametrize(
    ("lines", "verdict", "kept"),
    [
        (YES, "fully", True),
        (YES, "partly", True),
        (YES, "not", False),
        (YES, "unknown", False),
        (YES, None, False),
        (NULL, "fully", True),
        (NO, "fully", False),
    ],
)
def test_where_a_model_was_asked_it_must_have_been_addressed_too(lines, verdict, kept):
    references, _ = found("ann", outcome(lines_changed=lines, verdict=Addressed(verdict, "model")))
    assert bool(references) is kept


def test_what_a_bot_says_is_never_a_reference():
    assert found("x[bot]", outcome(lines_changed=YES)) == ([], [])


@pytest.mark.parametrize(
    ("fields", "kept"),
    [
        ({"disliked": YES}, True),
        ({"replies": (Reply("ann", None, "Won't fix: it is only a test."),)}, True),
        ({"replies": (Reply("y[bot]", None, "Won't fix."),)}, False),
        ({"replies": (Reply("ann", None, "Good catch, fixed."),)}, False),
        ({"disliked": YES, "liked": YES}, False),
        ({"disliked": YES, "lines_changed": YES}, False),
        ({"disliked": YES, "verdict": Addressed("partly", "model")}, False),
        ({}, False),
    ],
)
def test_what_people_turned_down_of_a_bot_is_a_negative(fields, kept):
    references, negatives = found("x[bot]", outcome(**fields))
    assert references == []
    assert [each.producer for each in negatives] == (["x[bot]"] if kept else [])


def test_a_negative_keeps_the_words_that_turned_it_down():
    _, [negative] = found("x[bot]", outcome(disliked=YES, replies=(Reply("ann", None, "This is by design"),)))
    assert negative.meta["why"] == ["a thumbs down or a confused face", "ann answered “by design”"]


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("wontfix", "wontfix"),
        ("I won’t fix that", "won't fix"),
        ("Not a bug.", "Not a bug"),
        ("False positive!", "False positive"),
        ("It's not a false positive", None),
        ("> this is by design\nOh, right, fixed", None),
        ("Renamed `by design` to x", None),
        ("Thanks, done", None),
    ],
)
def test_words_that_turn_a_comment_down(text, words):
    assert rejecting_words(text) == words
