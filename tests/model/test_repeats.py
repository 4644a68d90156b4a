from metareview.model.comment import Comment, Review
from metareview.model.repeats import given_again, merged_once, said_once

PR = "https://github.com/octo/shop/pull/5"


def test_one_id_and_one_note_is_one_comment_with_what_either_knows():
    first = Comment("a  b", "x.py", to_line=3, id="1", resolved=True)
    second = Comment("a b", "./x.py", from_line=5, to_line=6, id="1", reactions={"+1": 1})
    other = Comment("c", id="2")
    joined = Comment("a b", "./x.py", from_line=5, to_line=6, id="1", resolved=True, reactions={"+1": 1})
    assert said_once([first, other, second]) == (joined, other)


def test_lines_are_taken_from_one_of_the_two():
    assert said_once([Comment("a", from_line=9, to_line=9, id="1"), Comment("a", to_line=3, id="1")]) == (
        Comment("a", to_line=3, id="1"),
    )


def test_an_edited_comment_is_known_by_when_it_was_made():
    old, new = (Comment(note, id="1", at="2025-06-01T12:00:00Z") for note in ("old", "new"))
    assert said_once([old, new]) == (new,)


def test_without_an_id_or_with_another_note_file_or_author_it_is_another_comment():
    for comments in (
        (Comment("a"), Comment("a")),
        (Comment("a", id=""), Comment("a", id="")),
        (Comment("a", id="1"), Comment("b", id="1")),
        (Comment("a", "x.py", id="1"), Comment("a", "y.py", id="1")),
        (Comment("a", id="1", author="ann"), Comment("a", id="1", author="bob")),
    ):
        assert said_once(comments) == comments


def test_reviews_of_one_pull_request_are_merged_and_their_repeats_counted():
    one, two = Review(PR, (Comment("a", id="1"),), "x"), Review(PR, (Comment("a", id="1"), Comment("b", id="2")), "x")
    merged, repeated = merged_once([one, two, Review(PR, (Comment("a", id="1"),), "y")])
    assert {who: [c.note for c in review.comments] for (_, who), review in merged.items()} == {
        "x": ["a", "b"],
        "y": ["a"],
    }
    assert repeated == 1
    assert given_again(repeated) == "1 comment is given again under its id; it counts once"
    assert given_again(2) == "2 comments are given again under their ids; each counts once"
