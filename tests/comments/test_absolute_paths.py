"""Paths that begin at a machine's root are cut to the longest suffix that a reference has."""

import pytest

from metareview.api import evaluate_comments
from metareview.comments.absolute_paths import relative_to
from metareview.model.comment import Comment, Review

URL = "https://github.com/owner/repo/pull/7"
KNOWN = {"src/app/main.py", "app/main.py", "main.py", "docs/a b.md"}


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/home/ann/repo/src/app/main.py", "src/app/main.py"),
        ("C:\\work\\repo\\src\\app\\main.py", "src/app/main.py"),
        ("/home/ann/repo/lib/app/main.py", "app/main.py"),
        ("/home/ann/repo/lib/main.py", "main.py"),
        ("/src/app/main.py", "/src/app/main.py"),  # as the place is compared, it is a reference's path already
        ("/home/ann/repo/other.py", "/home/ann/repo/other.py"),
        ("/home/ann/repo/notmain.py", "/home/ann/repo/notmain.py"),  # whole parts only
        ("repo/src/app/main.py", "repo/src/app/main.py"),  # not absolute: it says what it means
        (None, None),
        ("/", "/"),
    ],
)
def test_the_longest_suffix_that_a_reference_has_is_taken(path, expected):
    review, cut = relative_to(Review(URL, (Comment("x", path),)), KNOWN)
    assert review.comments[0].path == expected
    assert cut == (path != expected)


def test_a_run_says_how_many_were_cut():
    reference = [{"pr": URL, "comments": [{"note": "leak", "path": "src/a.py", "from_line": 3}]}]
    comments = [{"note": "leak", "path": "/tmp/checkout/src/a.py", "from_line": 3}, {"note": "b", "path": "src/b.py"}]
    run = evaluate_comments([{"pr": URL, "comments": comments}], reference=reference, judge="exact")
    assert run.metrics["reviewer"]["positive_recall_rate"] == 1
    assert "1 absolute path cut to the longest part that is a reference's path" in run.result.warnings
