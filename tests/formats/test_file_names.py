"""Which pull request a file is about, where it does not say so itself: by --pr, or by its path."""

import json

import pytest

from metareview.comments.pull_requests import PullRequestIndex
from metareview.errors import InputError
from metareview.formats.input_file import InputFile
from metareview.formats.reader import ReadOptions, read_inputs
from metareview.model.address import pull_request_key, pull_request_of_path
from metareview.model.comment import Review, Skipped

SHOP = "https://github.com/octo/my_shop/pull/7"


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("octo/shop/7.json", "octo/shop#7"),
        ("/data/tool/octo/shop/0007.sarif", "octo/shop#7"),
        ("octo/shop/7.sarif.json", "octo/shop#7"),
        ("octo_shop_7.sarif", "octo_shop#7"),
        ("comments_shop_7.json", "shop#7"),
        ("out/owner__repo-12.json", "owner__repo-12"),
        ("synthetic__security-001.jsonl", "synthetic__security-001"),
        ("shop/7.json", None),
        ("7.json", None),
        ("../../7.json", None),
        ("review.json", None),
    ],
)
def test_the_path_names_it(path, expected):
    assert pull_request_of_path(path) == expected


def test_what_a_user_says_goes_before_the_path(tmp_path):
    assert InputFile(tmp_path / "octo_shop_7.json", named_pull_request=SHOP).pull_request == SHOP


def test_a_file_that_nothing_names_is_refused_with_the_fix(tmp_path):
    with pytest.raises(InputError, match=r"which pull request it is about\. Give --pr URL, or name the file"):
        InputFile(tmp_path / "review.json").required_pull_request()


def find(name, *references):
    return PullRequestIndex({review.key: review for review in references}).find(Review(name, source="f"))


def test_owner_and_repository_are_told_apart_by_the_references():
    assert find("octo_my_shop#7", Review(SHOP)) == pull_request_key(SHOP)
    assert find("Octo_My_Shop#7", Review(SHOP)) == pull_request_key(SHOP)
    assert isinstance(find("octo_my_shop#8", Review(SHOP)), Skipped)
    two = Review("https://github.com/octo_my/shop/pull/7"), Review(SHOP)
    assert "may be any of" in find("octo_my_shop#7", *two).reason


def test_a_pull_request_without_a_number_is_found_by_its_other_names():
    one = Review("owner__repo-1", other_names=("owner/repo@abc",))
    two = Review("owner__repo-2", other_names=("owner/repo@def",))
    assert find("Owner__repo-1", one, two) == one.key
    assert find("owner/repo@def", one, two) == two.key
    same = Review("owner__repo-3", other_names=("owner/repo@abc",))
    assert "may be any of owner__repo-1, owner__repo-3" in find("owner/repo@abc", one, same).reason


def test_in_a_folder_owner_and_repository_are_no_reviewers(tmp_path):
    comments = json.dumps([{"body": "leak", "path": "a.py", "line": 1, "diff_hunk": "", "user": None}])
    for name in ("octo/shop/7.json", "bot/octo/shop/7.json", "bot/comments_shop_8.json"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(comments, encoding="utf-8")
    inputs = read_inputs(tmp_path, ReadOptions(reviewer="named"))
    assert [review.pr for review in inputs.reviews] == ["shop#8", "octo/shop#7", "octo/shop#7"]
    assert not any("is not used" in warning for warning in inputs.warnings)
