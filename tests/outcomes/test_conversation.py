"""Threads, reactions and resolutions, and how several records of one pull request become one conversation."""

import pytest

from metareview.model.comment import ChangedFile, Comment, Commit, Review
from metareview.outcomes.conversation import (
    DISLIKES,
    LIKES,
    NO_REACTIONS,
    NO_THREAD,
    NO_THREADS,
    Threads,
    conversations,
    has_threads,
    reacted,
    resolved,
)
from metareview.outcomes.finding import Finding

PR = "https://github.com/o/r/pull/1"


def comment(**fields):
    return Comment(**({"note": "n", "path": "a.py", "id": "1"} | fields))


def threads(*replies, known=True):
    return Threads([Review(PR, (each,), reviewer=each.author) for each in replies], known=known)


def test_somebody_elses_reply_answers_a_comment():
    held = threads(comment(id="2", in_reply_to="1", author="ann", note="Done", at="2026-01-02"))
    assert held.answered(comment(), "bot") == Finding(True)
    assert [(reply.author, reply.note) for reply in held.replies(comment(), "bot")] == [("ann", "Done")]


def test_ones_own_reply_does_not_whatever_the_case():
    held = threads(comment(id="2", in_reply_to="1", author="Bot"))
    assert held.answered(comment(), "bot") == Finding(False)
    assert held.answered(comment(author="ann"), "bot") == Finding(
        True
    )  # who wrote it goes before whose record it is in


def test_a_reply_to_a_reply_answers_the_comment_that_began_the_thread():
    held = threads(comment(id="2", in_reply_to="1", author="bot"), comment(id="3", in_reply_to="2", author="ann"))
    assert held.answered(comment(), "bot") == Finding(True)


def test_a_finding_out_of_a_summary_begins_no_thread_where_threads_are_known():
    held = threads(comment(id="9", resolved=False, author="bot"))
    assert held.answered(comment(), "bot") == Finding(None, NO_THREAD)
    assert held.answered(comment(resolved=True), "bot") == Finding(False)


def test_replies_in_a_circle_end():
    held = threads(comment(id="2", in_reply_to="3", author="a"), comment(id="3", in_reply_to="2", author="b"))
    assert held.answered(comment(), "bot") == Finding(False)


@pytest.mark.parametrize(
    ("asked", "known", "found"),
    [
        (comment(), True, Finding(False)),
        (comment(), False, Finding(None, NO_THREADS)),
        (comment(resolved=False), False, Finding(False)),
        (comment(id=None), True, Finding(None, NO_THREADS)),
        (comment(path=None), True, Finding(None, NO_THREAD)),
    ],
)
def test_what_cannot_be_told_is_no_no(asked, known, found):
    assert threads(known=known).answered(asked, "bot") == found


def test_reactions():
    assert reacted(comment(reactions={"heart": 1}), LIKES) == Finding(True)
    assert reacted(comment(reactions={"+1": 0, "eyes": 3}), LIKES) == Finding(False)
    assert reacted(comment(reactions={"confused": 2}), DISLIKES) == Finding(True)
    assert reacted(comment(reactions={}), DISLIKES) == Finding(False)
    assert reacted(comment(), LIKES) == Finding(None, NO_REACTIONS)


def test_resolved():
    assert resolved(comment(resolved=True)) == Finding(True)
    assert resolved(comment()).value is None
    assert resolved(comment(path=None)) == Finding(None, NO_THREAD)


def test_one_conversation_per_pull_request_with_what_any_record_knows():
    told = (Commit("a" * 40, files=()),)
    reviews = {
        ("o/r#1", "bot"): Review(PR, (comment(),), "bot", commits=(Commit("a" * 40),)),
        ("o/r#2", "bot"): Review("https://github.com/o/r/pull/2", (), "bot"),
        ("o/r#1", "ann"): Review(
            PR, (comment(in_reply_to="1"),), "ann", author="zoe", merged_at="2026-01-02", commits=told
        ),
    }
    first, second = conversations(reviews)
    assert (first.author, first.until, first.commits) == ("zoe", "2026-01-02", told)
    assert [review.reviewer for review in first.reviews] == ["bot", "ann"]
    assert (second.until, second.commits) == (None, None)
    assert has_threads(first.reviews)
    assert not has_threads(second.reviews)


def test_a_bot_that_answers_itself_goes_by_its_name_without_the_suffix_too():
    held = threads(comment(id="2", in_reply_to="1", author="sharpeye"))
    assert held.answered(comment(), "sharpeye[bot]") == Finding(False)


@pytest.mark.parametrize("name", ["THUMBS_DOWN", "thumbsdown", "CONFUSED", "-1"])
def test_reactions_are_known_by_each_of_their_names(name):
    held = comment(reactions={name: 1})
    assert (reacted(held, DISLIKES), reacted(held, LIKES)) == (Finding(True), Finding(False))


@pytest.mark.parametrize("turned", [False, True])
def test_of_two_records_the_one_that_has_patches_tells_what_the_commits_did(turned):
    bare, full = ((Commit("c1", files=(ChangedFile("a.py", patch=patch),)),) for patch in (None, "@@ -1 +1 @@\n-a\n+b"))
    given = {(PR, name): Review(PR, (), reviewer=name, commits=each) for name, each in (("x", bare), ("y", full))}
    [held] = conversations(dict(reversed(given.items())) if turned else given)
    assert held.commits == full
