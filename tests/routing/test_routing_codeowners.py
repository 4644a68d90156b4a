import pytest
from routing_stories import logins, pull_request

from metareview.errors import InputError
from metareview.formats.codeowners import CodeOwners, OwnersByCommit
from metareview.routing.routers.codeowners import CodeOwnersRouter


@pytest.mark.parametrize(
    ("pattern", "matched", "unmatched"),
    [
        ("*", ["a", "a/b/c.py"], []),
        ("**", ["a", "a/b/c.py"], []),
        ("*.js", ["a.js", "x/y/a.js"], ["a.jsx", "js", "a.js.txt"]),
        ("/build/logs/", ["build/logs/a", "build/logs/x/y"], ["build/logs", "x/build/logs/a"]),
        ("docs/*", ["docs/a.md"], ["docs/x/a.md", "x/docs/a.md"]),
        ("apps/", ["apps/a", "x/apps/a", "x/apps/y/z"], ["apps", "xapps/a"]),
        ("/docs/", ["docs/a", "docs/x/y"], ["x/docs/a"]),
        ("**/logs", ["logs/a", "build/logs/a", "x/y/logs/z/a", "logs"], ["xlogs/a", "logs2/a"]),
        ("/apps/github", ["apps/github", "apps/github/x/y"], ["apps/github2", "x/apps/github"]),
        ("README", ["README", "x/README", "README/x"], ["README.md"]),
        ("src/app", ["src/app", "src/app/x.c"], ["x/src/app", "src/apple"]),
        ("a/**/b", ["a/b", "a/x/b", "a/x/y/b", "a/x/b/c"], ["a/xb", "b"]),
        ("a/**", ["a/b", "a/b/c"], ["a", "b/a/c"]),
        ("**/a/*.c", ["a/x.c", "b/a/x.c"], ["a/b/x.c"]),
        ("/*", ["a"], ["a/b"]),
        ("/*.md", ["a.md"], ["x/a.md"]),
        ("a?c", ["abc", "x/abc"], ["ac", "a/c"]),
        ("foo*bar*baz", ["foobarbaz", "foo-bar-x-baz"], ["foobaz", "foobar"]),
        (r"path\ with\ spaces/", ["path with spaces/a"], ["path/a"]),
        (r"a\*b", ["a*b"], ["axb"]),
        ("/", [], ["a"]),
        ("Case", ["Case"], ["case"]),
    ],
)
def test_patterns_match_as_on_github(pattern, matched, unmatched):
    rules = CodeOwners(f"{pattern} @owner")
    assert rules.invalid == []
    assert [path for path in matched + unmatched if rules.owners(path)] == matched


def test_the_last_match_wins_and_may_have_no_owner():
    rules = CodeOwners(
        """
        # comment
        *        @org/everyone @Ann   # inline comment
        /apps/   @octocat
        /apps/github
        *.md     docs@example.com
        """
    )
    assert rules.owners("main.c") == ("org/everyone", "Ann")
    assert rules.owners("apps/x/main.c") == ("octocat",)
    assert rules.owners("apps/github/main.c") == ()
    assert rules.owners("apps/github/a.md") == ("docs@example.com",)


def test_lines_that_github_calls_invalid_are_skipped():
    rules = CodeOwners("* @a\n!x @b\n[ab].c @c\n\\#x @d\nsrc/ owner\na***b @e\n[Section]\n\n# fine")
    assert rules.invalid == [2, 3, 4, 5, 6, 7]
    assert rules.owners("src/x") == ("a",)


def test_a_hostile_pattern_ends():
    """With backtracking, neither would in a lifetime."""
    stars = "*a" * 40
    deep = "**/a/" * 30
    rules = CodeOwners(f"{stars} @x\n{deep} @y")
    assert rules.owners("a" * 500 + "b/b") == ()
    assert rules.owners("a/" * 200 + "b") == ("y",)


def test_one_file_or_one_for_each_base_commit(tmp_path):
    (tmp_path / "CODEOWNERS").write_text("* @all")
    one = OwnersByCommit(tmp_path / "CODEOWNERS")
    assert one.find("any/repo", None).owners("x") == ("all",)
    folder = tmp_path / "owners" / "o" / "r" / "abcd1234"
    folder.mkdir(parents=True)
    (folder / "CODEOWNERS").write_text("\ufeff* @then")
    many = OwnersByCommit(tmp_path / "owners")
    assert many.find("o/r", "abcd1234").owners("x") == ("then",)
    assert many.find("o/r", "ffff") is None
    assert many.find("o/r", None) is None


@pytest.mark.parametrize(
    ("repo", "sha"), [("../secret", "abcd"), ("o/..", "abcd"), ("o/r", "../../abcd"), ("/o", "abcd")]
)
def test_a_history_cannot_lead_out_of_the_folder(tmp_path, repo, sha):
    for place in ("secret/abcd", "abcd", "owners/abcd"):
        (tmp_path / place).mkdir(parents=True, exist_ok=True)
        (tmp_path / place / "CODEOWNERS").write_text("* @leak")
    assert OwnersByCommit(tmp_path / "owners").find(repo, sha) is None


def test_files_that_cannot_be_used(tmp_path):
    with pytest.raises(InputError, match="no such file"):
        OwnersByCommit(tmp_path / "absent")
    (tmp_path / "big").write_bytes(b"#" * (3 << 20))
    with pytest.raises(InputError, match="3 MB"):
        OwnersByCommit(tmp_path / "big")
    (tmp_path / "bytes").write_bytes(b"\xff")
    with pytest.raises(InputError, match="not UTF-8"):
        OwnersByCommit(tmp_path / "bytes")


def test_the_router_counts_files_and_breaks_ties_by_appearance(tmp_path):
    (tmp_path / "CODEOWNERS").write_text("*.c @cee @both\n*.py @both @pie\nnone/\n")
    router = CodeOwnersRouter(OwnersByCommit(tmp_path / "CODEOWNERS"))
    found = router.rank(pull_request(files=("a.c", "b.c", "a.py", "none/x")))
    assert list(found.candidates) == [("both", 3.0), ("cee", 2.0), ("pie", 1.0)]
    assert found.risk == "medium"
    assert router.rank(pull_request(files=("a.c",))).risk == "low"
    assert router.rank(pull_request(files=("none/x",))).risk == "high"
    assert logins(router.rank(pull_request())) == []
    assert router.without_rules == 0
    nobody = CodeOwnersRouter()
    assert logins(nobody.rank(pull_request(files=("a.c",)))) == []
    assert nobody.without_rules == 1
