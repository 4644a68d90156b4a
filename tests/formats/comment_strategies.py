"""What comments and reviews may hold, for property tests of readers and writers."""

from dataclasses import replace

from hypothesis import strategies as st

from metareview.formats.input_file import InputFile
from metareview.formats.registry import comment_formats
from metareview.model.comment import MAX_LINE, Comment, Review

# Whatever UTF-8 can say, and what a careless reader or writer would trip over.
PIECES = ["<path>", "</path>", "<to>3</to>", "<note>", "</NOTE>", "<notesplit", '"', "\\", "\\ud800", "\r\n", "\ufeff",
          "\0", "\u2028", "{", "[]", "#", "a", " "]  # fmt: skip
ANY_TEXT = st.text(st.characters(exclude_categories=["Cs"]), max_size=12) | st.lists(
    st.sampled_from(PIECES), max_size=5
).map("".join)
SOME_TEXT = ANY_TEXT.filter(bool)
LINES = st.tuples(*[st.none() | st.integers(1, 40) | st.just(MAX_LINE)] * 2).map(
    lambda pair: tuple(sorted(pair)) if None not in pair else pair
)
NO_LINES = st.just((None, None))
ONE_LINE = st.integers(1, MAX_LINE).map(lambda line: (line, line))
# A repository may be called like a piece of an address.
REPOSITORIES = st.sampled_from(["shop", "my_repo", "repos", "pulls", "pull", "comments_x", "a.b-c", "Größe"])
ADDRESSES = st.builds(
    lambda host, repo, number: f"https://{host}/owner/{repo}/pull/{number}",
    st.sampled_from(["github.com", "git.example.org"]),
    REPOSITORIES,
    st.integers(1, 10**6),
)


def comments(lines=LINES, note=ANY_TEXT, **texts):
    """Comments with these lines, and with these other fields where they have any."""
    fields = {name: st.none() | strategy for name, strategy in texts.items()}
    return st.builds(
        lambda pair, note, others: Comment(note, from_line=pair[0], to_line=pair[1], **others),
        lines,
        note,
        st.fixed_dictionaries(fields),
    )


def reviews(comment, pr=ADDRESSES, reviewer=None, min_comments=0, **texts):
    """Reviews of different pull requests or reviewers, as no format keeps two records for one apart."""
    review = st.builds(
        Review,
        pr=pr,
        comments=st.lists(comment, min_size=min_comments, max_size=3).map(tuple),
        reviewer=st.none() if reviewer is None else reviewer,
        **{name: st.none() | strategy for name, strategy in texts.items()},
    )
    return st.lists(review, min_size=1, max_size=4, unique_by=lambda r: (r.pr, r.reviewer))


def written_and_read(format_name, reviews):
    """The reviews after a round trip through the format; each file must also be recognised, and as nothing else."""
    fmt = comment_formats()[format_name]
    found = []
    for name, text in fmt.write(reviews).items():
        source = InputFile.of_text(text, name or "written.json")
        assert recognised(source) == [format_name]
        found += fmt.read(source)
        assert source.all_warnings() == []
    return [replace(review, source="") for review in found]


def recognised(source):
    return [name for name, fmt in comment_formats().items() if fmt.sniff(source)]
