from hypothesis import given
from hypothesis import strategies as st

from metareview.model.comment import Comment, Review, normal_path
from metareview.model.deduplicate import deduplicated, duplicates_warning, joined, merge_without_duplicates

PR = "https://github.com/octo/shop/pull/5"


def test_one_id_and_one_note_is_one_comment_with_what_either_knows():
    first = Comment("a  b", "x.py", to_line=3, id="1", resolved=True)
    second = Comment("a b", "./x.py", from_line=5, to_line=6, id="1", reactions={"+1": 1})
    other = Comment("c", id="2")
    joined = Comment("a b", "./x.py", from_line=5, to_line=6, id="1", resolved=True, reactions={"+1": 1})
    assert deduplicated([first, other, second]) == (joined, other)


def test_lines_are_taken_from_one_of_the_two():
    assert deduplicated([Comment("a", from_line=9, to_line=9, id="1"), Comment("a", to_line=3, id="1")]) == (
        Comment("a", to_line=3, id="1"),
    )


def test_lines_stay_with_the_commit_that_they_are_lines_of():
    def one(line, commit):
        return Comment("a", to_line=line, id="1", commit=commit)

    for first, second, expected in (
        (one(9, "b"), one(7, "a"), one(7, "a")),
        (one(7, "a"), one(None, "b"), one(7, "a")),
        (one(7, None), one(None, "b"), one(7, "b")),
        (one(7, "a"), one(7, None), one(7, "a")),
        (one(None, "a"), one(7, None), one(7, "a")),
        # Outdated since: where the lines are of the commit that only the other names, nobody knows.
        (one(9, "b"), one(7, None), one(7, None)),
    ):
        assert joined(first, second) == expected


def test_an_edited_comment_is_known_by_when_it_was_made():
    old, new = (Comment(note, id="1", at="2025-06-01T12:00:00Z") for note in ("old", "new"))
    assert deduplicated([old, new]) == (new,)


def test_without_an_id_or_with_another_note_file_or_author_it_is_another_comment():
    for comments in (
        (Comment("a"), Comment("a")),
        (Comment("a", id=""), Comment("a", id="")),
        (Comment("a", id="1"), Comment("b", id="1")),
        (Comment("a", "x.py", id="1"), Comment("a", "y.py", id="1")),
        (Comment("a", id="1", author="ann"), Comment("a", id="1", author="bob")),
    ):
        assert deduplicated(comments) == comments


def test_reviews_of_one_pull_request_are_merged_and_their_repeats_counted():
    one, two = Review(PR, (Comment("a", id="1"),), "x"), Review(PR, (Comment("a", id="1"), Comment("b", id="2")), "x")
    merged, repeated = merge_without_duplicates([one, two, Review(PR, (Comment("a", id="1"),), "y")])
    assert {who: [c.note for c in review.comments] for (_, who), review in merged.items()} == {
        "x": ["a", "b"],
        "y": ["a"],
    }
    assert repeated == 1
    assert duplicates_warning(repeated) == "1 comment is given again under its id; it counts once"
    assert duplicates_warning(2) == "2 comments are given again under their ids; each counts once"


class Note(str):
    """A note that counts how often its words are looked at."""

    looked_at = 0

    def split(self, *arguments):
        Note.looked_at += 1
        return super().split(*arguments)


def test_many_comments_of_one_id_are_not_compared_with_each_other():
    comments = [Comment(Note(f"note {number}"), "x.py", id="1") for number in range(300)]
    assert deduplicated(comments) == tuple(comments)
    assert Note.looked_at <= 4 * len(comments)


@given(
    st.lists(
        st.builds(
            Comment,
            note=st.sampled_from(["a", "a ", "b"]),
            path=st.sampled_from([None, "x", "./x", "y"]),
            id=st.sampled_from([None, "1", "2"]),
            author=st.sampled_from([None, "ann", "ben"]),
            at=st.sampled_from([None, "2025-06-01", "2025-06-02"]),
            resolved=st.sampled_from([None, True]),
        ),
        max_size=8,
    )
)
def test_each_is_joined_to_the_first_that_it_repeats(comments):
    """By comparing each with all before it."""
    once = []
    for comment in comments:
        for position, earlier in enumerate(once):
            same = comment.id and comment.id == earlier.id and normal_path(comment.path) == normal_path(earlier.path)
            if same and None not in (comment.author, earlier.author):
                same = comment.author == earlier.author
            if same and (comment.note.strip() == earlier.note.strip() or comment.at == earlier.at is not None):
                once[position] = joined(earlier, comment)
                break
        else:
            once.append(comment)
    assert deduplicated(comments) == tuple(once)
