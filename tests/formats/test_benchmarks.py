"""Sets whose pull requests have no number: bc-bench and aacr-standard."""

import json
from pathlib import Path

import pytest
from comment_strategies import recognised

from metareview.comments.pull_requests import PullRequestIndex
from metareview.errors import InputError
from metareview.formats.comments import aacr_standard, bc_bench
from metareview.formats.input_file import InputFile
from metareview.formats.reader import read_reference_set
from metareview.model.comment import Comment, Review, Skipped

SHARED = Path(__file__).parent.parent.parent.parent / "shared/data/formats/bc-bench/codereview.jsonl"


def instance(name, *expected, commit="0a1b", **fields):
    return {"repo": "octo/app", "instance_id": name, "base_commit": commit, "expected_comments": expected, **fields}


def expected(body, line=3, **fields):
    return {"file": "a.al", "line_start": line, "line_end": line + 1, "severity": "high", "domain": "style",
            "body": body, "articles": ["x"], **fields}  # fmt: skip


def read(format_, *records, lines=True):
    text = "\n".join(map(json.dumps, records)) if lines else json.dumps(records)
    source = InputFile.of_text(text, "set.jsonl")
    assert recognised(source) == [format_.__name__.rpartition(".")[2].replace("_", "-")]
    found = list(format_.read(source))
    assert source.all_warnings() == []
    return found


def test_expected_comments_are_references_and_ignored_ones_neutral():
    given = instance(
        "octo__app-1", expected("Leaks."), metadata={"area": "style"}, ignored_comments=[expected("Long.", 9)]
    )
    comment = Comment("Leaks.", "a.al", None, 3, 4, category="style", severity="high")
    ignored = Comment("Long.", "a.al", None, 9, 10, category="style", severity="high", neutral=True)
    assert read(bc_bench, given, instance("octo__app-2")) == [
        Review(
            "octo__app-1", (comment, ignored), pr_category="style", source="set.jsonl", other_names=("octo/app@0a1b",)
        ),
        Review("octo__app-2", source="set.jsonl", other_names=("octo/app@0a1b",)),
    ]


def test_a_review_is_of_an_instance_by_its_id_or_by_a_commit_that_only_it_has(tmp_path):
    records = [instance("octo__app-1"), instance("octo__app-2"), instance("octo__app-3", commit="FFFF")]
    path = tmp_path / "set.jsonl"
    path.write_text("\n".join(map(json.dumps, records)))
    references, _ = read_reference_set(path)
    index = PullRequestIndex(references.references)
    assert index.find(Review("octo__app-2")) == "octo__app-2"
    assert index.find(Review("octo/app@FFFF")) == "octo__app-3"
    found = index.find(Review("octo/app@0a1b", source="r.sarif"))
    assert isinstance(found, Skipped)
    assert "may be any of octo__app-1, octo__app-2" in found.reason


def test_an_instance_without_its_id_is_refused():
    with pytest.raises(InputError, match=r"set\.jsonl:1: instance_id is empty"):
        read(bc_bench, instance(""))


@pytest.mark.skipif(not SHARED.is_file(), reason="no BC-Bench beside the checkout")
def test_the_published_set_is_read():
    source = InputFile(SHARED)
    assert recognised(source) == ["bc-bench"]
    found = list(bc_bench.read(source))
    assert (len(found), sum(len(review.comments) for review in found)) == (48, 70)
    assert len({review.key for review in found}) == 48
    assert source.all_warnings() == []


COMMENT = {"note": "Leaks.", "path": "a.go", "from_line": 3, "to_line": 4, "category": "Code Defect", "neutral": True,
           "is_ai_comment": True, "source_model": "m", "something": 1}  # fmt: skip


@pytest.mark.parametrize(
    ("fields", "names"),
    [
        ({"repo": "octo/app", "head_commit": "0a1b"}, ["octo/app@0a1b"]),
        ({"repository": "https://github.com/octo/app.git", "head_sha": "0a1b"}, ["octo/app@0a1b"]),
        ({"project": "octo/app", "commit": "0a1b"}, ["octo/app@0a1b"]),
        ({"repo": "octo/app", "target_commit": "0a1b", "instance_id": "i-1"}, ["i-1", "octo/app@0a1b"]),
        ({"githubPrUrl": "https://github.com/octo/app/pull/5"}, ["https://github.com/octo/app/pull/5"]),
        (
            {"repo": "octo/app", "pr_number": 5, "head_commit": "0a1b"},
            ["https://github.com/octo/app/pull/5", "octo/app@0a1b"],
        ),
        ({"url": "https://github.com/octo/app", "repo": "octo/app", "commit": "0a1b"}, ["octo/app@0a1b"]),
    ],
)
@pytest.mark.parametrize("lines", [True, False])
def test_later_aacr_files_name_a_pull_request_by_commit_or_address(fields, names, lines):
    [review] = read(aacr_standard, {**fields, "reference_comments": [COMMENT]}, lines=lines)
    assert [review.pr, *review.other_names] == names
    assert review.comments == (
        Comment(
            "Leaks.", "a.go", None, 3, 4, category="Code Defect", neutral=True, is_ai_comment=True, source_model="m"
        ),
    )


def test_a_record_that_names_nothing_is_refused():
    with pytest.raises(
        InputError, match=r"set\.jsonl:1: nothing says which .*Give instance_id, or repo and head_commit"
    ):
        read(aacr_standard, {"reference_comments": []})
