"""The later change of a comment as text, out of the commits of its pull request."""

from hypothesis import given
from hypothesis import strategies as st

from metareview.model.comment import ChangedFile, Comment, Commit
from metareview.outcomes.later import LENGTH, LaterChanges, parts_of

FIX = "@@ -10,3 +10,3 @@ def f():\n a\n-b\n+c\n d"
FAR = "@@ -90,2 +90,3 @@\n x\n+y\n z"
NEAR = "@@ -30,1 +30,2 @@\n k\n+l"


def commit(sha, *files, at=None, author="ann", parents=()):
    return Commit(sha, at, author, parents, files)


def file(path="a.py", patch=FIX, **more):
    return ChangedFile(path, patch=patch, **more)


def on(sha="c1", line=11, **more):
    return Comment("n", "a.py", from_line=line, to_line=line, commit=sha, **more)


def test_commits_behind_the_comments_own_are_later():
    commits = [commit("c1", file()), commit("c2", file(patch=NEAR)), commit("c3", file("b.py", FAR))]
    assert LaterChanges(commits).text(on("c1")) == (f"=== commit c2: a.py\n{NEAR}\n=== commit c3: b.py\n{FAR}")
    assert LaterChanges(commits).text(on("c3")) == ""


def test_what_is_dated_after_the_comment_is_later_too():
    # GitHub moves a comment whose lines still stand to the latest commit: its date tells what came after it.
    commits = [commit("c1", file(), at="2026-01-01T10:00:00Z"), commit("c2", file("b.py"), at="2026-01-01T12:00:00Z")]
    moved = on("c2", at="2026-01-01T11:00:00Z")
    assert LaterChanges(commits).text(moved) == f"=== commit c2: b.py\n{FIX}"
    forced = on("gone", at="2026-01-01T11:00:00+00:00")
    assert LaterChanges(commits).text(forced) == f"=== commit c2: b.py\n{FIX}"
    assert LaterChanges(commits).text(on("c2", at="2026-01-01T12:00:00Z")) == ""


def test_what_the_data_cannot_tell_is_none():
    dated = commit("c1", file(), at="2026-01-01")
    assert LaterChanges(None).text(on()) is None
    assert LaterChanges([dated]).text(on("gone")) is None, "neither its commit nor its date is known"
    assert LaterChanges([dated, commit("c2")]).text(on("gone", at="2026-01-01")) is None, "a commit without a date"
    assert LaterChanges([dated, Commit("c2", files=None)]).text(on("c1")) is None, "what a commit did is not known"
    assert LaterChanges([dated, commit("c2", file(patch=None))]).text(on("c1")) is None, "nor what became of its file"
    assert LaterChanges([]).text(on("gone", at="2026-01-01")) == ""


def test_another_file_without_a_patch_is_named():
    text = LaterChanges([commit("c1"), commit("c2", file("logo.png", None))]).text(on("c1"))
    assert text == "=== commit c2: logo.png\n(changed; its patch is not known)"
    removed = LaterChanges([commit("c1"), commit("c2", file("a.py", None, status="removed"))]).text(on("c1"))
    assert removed == "=== commit c2: a.py\n(the file was removed)"


def test_merges_and_what_its_author_did_do_not_count():
    commits = [
        commit("c1"),
        commit("c2", file(), parents=("c1", "main")),
        commit("c3", file(), author="Reviewer[bot]"),
        Commit("c4", author="reviewer[bot]", files=None),
        commit("c5", file("b.py", NEAR), author="ann"),
    ]
    later = LaterChanges(commits)
    assert later.text(on("c1"), "reviewer[bot]") == f"=== commit c5: b.py\n{NEAR}"
    own = LaterChanges([commit("c1"), commit("c3", file())])
    assert own.text(on("c1"), "ann") == ""
    assert own.text(on("c1"), "ann", pr_author="ann") == f"=== commit c3: a.py\n{FIX}", "authors may heed themselves"


def test_a_rebase_is_no_change():
    before = [commit("c1", file(), file("b.py", NEAR), at="2026-01-01", parents=("base",)),
              commit("c2", file(patch=FAR), at="2026-01-02", parents=("c1",))]  # fmt: skip
    moved = FIX.replace("-10,3 +10,3", "-40,3 +40,3")
    after = [commit("d1", file(patch=moved), file("b.py", NEAR), at="2026-01-09", parents=("new base",)),
             commit("d2", file(patch=FAR), at="2026-01-09", parents=("d1",)),
             commit("d3", file("c.py"), at="2026-01-09", parents=("d2",))]  # fmt: skip
    for sha, commits in (("c2", [*before, *after]), ("gone", after)):
        text = LaterChanges(commits).text(on(sha, at="2026-01-05"))
        if sha == "c2":
            assert text == f"=== commit d3: c.py\n{FIX}"
        else:
            assert text.count("=== commit") == 4, "what was there before is not known"


def test_what_is_put_back_is_a_change():
    undo = "@@ -10,3 +10,3 @@\n a\n-c\n+b\n d"
    commits = [
        commit("c1", file(), parents=("base",)),
        commit("c2", file(patch=undo), parents=("c1",)),
        commit("c3", file(), parents=("c2",)),
    ]
    text = LaterChanges(commits).text(on("c1"))
    assert text == f"=== commit c2: a.py\n{undo}\n=== commit c3: a.py\n{FIX}"


def test_a_copy_of_its_file_is_another_file():
    copied = file("copy.py", NEAR, previous_path="a.py", status="copied")
    text = LaterChanges([commit("c1"), commit("c2", copied, file(patch=None, status="D"))]).text(on("c1"))
    assert text == f"=== commit c2: a.py\n(the file was removed)\n=== commit c2: copy.py (from a.py)\n{NEAR}"


def test_nothing_after_the_merge_counts():
    commits = [commit("c1", at="2026-01-01"), commit("c2", file(), at="2026-01-03")]
    assert LaterChanges(commits, until="2026-01-02").text(on("c1")) == ""
    assert LaterChanges(commits, until="2026-01-03").text(on("c1")) == f"=== commit c2: a.py\n{FIX}"


def test_its_own_file_comes_first_and_there_what_is_nearest():
    commits = [
        commit("c1"),
        commit("c2", file("z.py", NEAR), file(patch=f"{FIX}\n{FAR}")),
        commit("c3", file(patch=NEAR)),
    ]
    text = LaterChanges(commits).text(on("c1", 29))
    heads = [line for line in text.splitlines() if line.startswith(("===", "@@"))]
    assert heads == [
        *("=== commit c3: a.py", "@@ -30,1 +30,2 @@"),
        *("=== commit c2: a.py", "@@ -10,3 +10,3 @@ def f():", "@@ -90,2 +90,3 @@"),
        *("=== commit c2: z.py", "@@ -30,1 +30,2 @@"),
    ]


def test_lines_move_with_what_is_added_above_and_files_with_renames():
    above = "@@ -1,1 +1,61 @@\n a" + "\n+new" * 60
    commits = [
        commit("c1"),
        commit("c2", file("b.py", above, previous_path="a.py", status="renamed")),
        commit("c3", file("b.py", f"{NEAR}\n{FAR}")),
    ]
    text = LaterChanges(commits).text(on("c1", 28))  # line 88 of b.py by then
    heads = [line for line in text.splitlines() if line.startswith(("===", "@@"))]
    assert heads == [
        *("=== commit c3: b.py", "@@ -90,2 +90,3 @@"),
        *("=== commit c2: b.py (from a.py)", "@@ -1,1 +1,61 @@"),
        *("=== commit c3: b.py", "@@ -30,1 +30,2 @@"),
    ]


def test_a_long_change_is_cut_with_a_mark():
    many = [commit("c1")] + [
        commit(f"d{at}", file(f"f{at}.py", "@@ -1 +1,30 @@\n a" + "\n+line" * 29)) for at in range(90)
    ]
    text = LaterChanges(many).text(on("c1"))
    assert LENGTH * 0.8 < len(text) <= LENGTH + 200
    kept = text.count("=== commit")
    assert text.splitlines()[-1] == f"[… cut: {90 - kept} more parts of the change, in {90 - kept} files]"


def test_a_large_hunk_is_shown_from_near_the_comments_lines():
    large = "@@ -1,4000 +1,4000 @@" + "".join(f"\n-old {at}\n+new {at}" for at in range(1, 4001))
    text = LaterChanges([commit("c1"), commit("c2", file(patch=large))]).text(on("c1", 2000))
    lines = text.splitlines()
    assert lines[:3] == ["=== commit c2: a.py", "@@ -1,4000 +1,4000 @@", "[… cut: 3,985 lines]"]
    assert "-old 2000" in lines
    assert "+new 2000" in lines
    assert lines[-1].endswith("more lines]")
    assert len(text) <= LENGTH + 100


def test_a_patch_that_breaks_off_says_so():
    text = LaterChanges([commit("c1"), commit("c2", file(patch="@@ -1,9 +1,9 @@\n a\n-b"))]).text(on("c1"))
    assert text.endswith("-b\n[… the patch breaks off here]")


def test_a_path_cannot_pretend_to_be_another_line():
    text = LaterChanges([commit("c1"), commit("c\n2", file("a\n=== commit x: y.py", FIX))]).text(on("c1"))
    assert text.splitlines()[0] == "=== commit c 2: a === commit x: y.py"


def test_parts_know_their_lines():
    first, second = parts_of(f"{FIX}\n{FAR}\n")
    assert (first.old, first.last, first.broken) == (10, 12, False)
    assert [first.distance((line, line)) for line in (7, 10, 12, 20)] == [3, 0, 0, 8]
    assert (second.old, second.last, second.lines[-1]) == (90, 91, " z")


@given(st.text(alphabet="@ -+,1\n\\a", max_size=200), st.integers(1, 50))
def test_whatever_a_patch_holds_the_text_is_bounded(patch, line):
    changes = LaterChanges([commit("c1"), commit("c2", file(patch=patch), file("b.py", patch))])
    text = changes.text(on("c1", line), most=300)
    assert text is not None
    assert len(text) <= 300 + 1000
