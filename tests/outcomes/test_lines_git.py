"""Following lines against git itself, in repositories made here: `git blame` and `git diff` of whole files."""

import os
import random
import re
import shutil
import subprocess
from itertools import pairwise

import pytest

from commit_lists import comment_on
from metareview.model.comment import ChangedFile, Commit
from metareview.outcomes import reasons
from metareview.outcomes.lines import Changes

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")

KINDS = {"A": "added", "D": "removed", "M": "modified", "R": "renamed"}


class Repository:
    """A repository with one file that matters; each commit is an hour after the one before."""

    def __init__(self, folder):
        self.folder, self.hour = folder, 0
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments):
        self.hour += arguments[0] in ("commit", "merge", "rebase")
        at = f"2026-01-{1 + self.hour // 24:02d}T{self.hour % 24:02d}:00:00Z"
        who = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in
               (("NAME", "dev"), ("EMAIL", "dev@example.org"), ("DATE", at))}  # fmt: skip
        alone = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "GIT_CONFIG_NOSYSTEM": "1"}
        environment = {"PATH": os.environ["PATH"], "HOME": str(self.folder), "LC_ALL": "C", **who, **alone}
        done = subprocess.run(
            ["git", *arguments], cwd=self.folder, env=environment, capture_output=True, check=True, text=True
        )
        return done.stdout

    def write(self, path, lines):
        (self.folder / path).write_text("".join(f"{line}\n" for line in lines), "utf-8", newline="\n")

    def read(self, sha, path):
        return self.git("show", f"{sha}:{path}").splitlines()

    def commit(self, *more):
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "a change", *more)
        return self.git("rev-parse", "HEAD").strip()

    def described(self, sha):
        """The commit as GitHub's API has it: what it changed against its first parent, hunks without headers."""
        at, *parents = self.git("show", "-s", "--format=%cI %P", sha).split()
        names = self.git("diff", "-M", "--name-status", f"{sha}^1", sha).splitlines()
        files = []
        for name in names:
            kind, *paths = name.split("\t")
            # git looks for a rename only if it is asked about both names.
            patch = self.git("diff", "-M", f"{sha}^1", sha, "--", *paths)
            hunks = re.search(r"^@@ .*", patch, re.MULTILINE | re.DOTALL)
            previous = paths[0] if kind[0] == "R" else None
            shown = hunks[0].removesuffix("\n") if hunks else ""
            files.append(ChangedFile(paths[-1], previous, KINDS[kind[0]], shown))
        return Commit(sha, at, "dev", tuple(parents), tuple(files))

    def survivors(self, anchor, final, path):
        """The lines of the anchor that blame still finds in the end: their number then, and now."""
        found = {}
        for line in self.git("blame", "--porcelain", f"{anchor}..{final}", "--", path).splitlines():
            header = re.match(r"([0-9a-f]{40}) (\d+) (\d+)", line)
            if header and header[1] == anchor:
                found[int(header[2])] = int(header[3])
        return found


class Writer:
    """Edits a file at random below its first ten lines; no line that it writes was there before."""

    def __init__(self, seed):
        self.chance, self.written = random.Random(seed), 0

    def line(self):
        self.written += 1
        return f"line {self.written}"

    def edited(self, lines, edits=2, keep=10):
        lines = list(lines)
        for _ in range(self.chance.randint(1, edits)):
            start = self.chance.randint(keep, max(keep, len(lines)))
            end = min(len(lines), start + self.chance.choice([0, 0, 1, 1, 2, 4]))
            lines[start:end] = [self.line() for _ in range(self.chance.choice([0, 1, 1, 2, 3]))]
        return lines


def spans(lines, chance):
    for first in range(1, len(lines) + 1):
        yield first, min(len(lines), first + chance.choice([0, 0, 1, 3]))


@pytest.mark.parametrize("seed", range(2))
def test_blame_finds_the_same_lines(seed, tmp_path):
    repository, writer = Repository(tmp_path), Writer(seed)
    lines, path = [writer.line() for _ in range(60)], "a.txt"
    repository.write(path, lines)
    repository.commit()
    repository.git("checkout", "-q", "-b", "work")
    shas, paths, files = [], [], []
    for number in range(14):
        if number == 4:
            repository.git("mv", path, "b.txt")
            path = "b.txt"
        if number == 8:
            # The base branch changes the first lines, which the pull request leaves alone.
            repository.git("checkout", "-q", "main")
            top = ["from the base", "branch", *repository.read("HEAD", "a.txt")[1:]]
            repository.write("a.txt", top)
            repository.commit()
            repository.git("checkout", "-q", "work")
            repository.git("merge", "-q", "--no-edit", "main")
            shas.append(repository.git("rev-parse", "HEAD").strip())
            lines = repository.read("HEAD", path)
        else:
            lines = writer.edited(lines)
            repository.write(path, lines)
            shas.append(repository.commit())
        paths.append(path)
        files.append(lines)
    changes = Changes([repository.described(sha) for sha in shas])
    merge = [sha for sha in shas if len(repository.described(sha).parents) > 1]
    assert len(merge) == 1
    compared = 0
    for place, sha in enumerate(shas[:-1]):
        alive = repository.survivors(sha, shas[-1], path)
        at = repository.git("show", "-s", "--format=%cI", sha).strip()
        for first, last in spans(files[place], writer.chance):
            if first <= 11 and place < 8:
                continue  # Touched by the merge, which never counts; blame knows of no such rule.
            comment = comment_on(first, last, commit=sha, path=paths[place], at=at)
            fate = changes.fate(comment)
            now = [alive.get(line) for line in range(first, last + 1)]
            stayed = None not in now and all(after == before + 1 for before, after in pairwise(now))
            compared += 1
            if stayed and fate.lines_changed.value:
                # Lines were put between and taken out again: blame looks at the end alone.
                middle = [repository.survivors(sha, each, there) for each, there in zip(shas, paths, strict=True)
                          if shas.index(each) > place]  # fmt: skip
                assert any(
                    alive_then[line + 1] != alive_then[line] + 1 for alive_then in middle for line in range(first, last)
                )
                continue
            assert fate.lines_changed.value is not stayed
            if stayed:
                assert fate.final_lines == (now[0], now[-1])
            assert set(fate.changed_by) <= set(shas[place + 1 :]) - set(merge)
            assert set((fate.code or "").split("\n")) <= {*files[place], "[…]", ""}
    assert compared > 400


@pytest.mark.parametrize("seed", range(2))
def test_blame_takes_the_same_of_equal_lines_for_those_that_stayed(seed, tmp_path):
    repository, writer = Repository(tmp_path), Writer(200 + seed)
    writer.line = lambda: writer.chance.choice(["}", "", "    return x", "foo()", "  if a:", "bar()", "baz"])
    lines = [writer.line() for _ in range(40)]
    repository.write("a.txt", lines)
    repository.commit()
    shas, files = [], []
    for _ in range(6):
        lines = writer.edited(lines, 3, 0)
        repository.write("a.txt", lines)
        shas.append(repository.commit())
        files.append(lines)
    changes = Changes([repository.described(sha) for sha in shas])
    for place, sha in enumerate(shas[:-1]):
        alive = repository.survivors(sha, shas[-1], "a.txt")
        at = repository.git("show", "-s", "--format=%cI", sha).strip()
        for line in range(1, len(files[place]) + 1):
            fate = changes.fate(comment_on(line, commit=sha, path="a.txt", at=at))
            assert fate.lines_changed.value is (line not in alive)
            assert line not in alive or fate.final_lines == (alive[line], alive[line])


@pytest.mark.parametrize("onto_newer", [False, True], ids=["amended", "rebased"])
@pytest.mark.parametrize("seed", range(2))
def test_a_force_push_leaves_what_a_diff_of_the_two_commits_leaves(seed, onto_newer, tmp_path):
    repository, writer = Repository(tmp_path), Writer(100 + seed)
    lines = [writer.line() for _ in range(60)]
    repository.write("a.txt", lines)
    repository.write("other.txt", ["x"])
    repository.commit()
    repository.git("checkout", "-q", "-b", "work")
    old = []
    for _ in range(3):
        lines = writer.edited(lines, 4)
        repository.write("a.txt", lines)
        old.append(repository.commit())
    before = lines
    if onto_newer:
        repository.git("checkout", "-q", "main")
        repository.write("a.txt", ["from the base", "branch", *repository.read("HEAD", "a.txt")[1:]])
        repository.commit()
        repository.git("checkout", "-q", "work")
        repository.git("rebase", "-q", "main")
    lines = writer.edited(repository.read("HEAD", "a.txt"), 3)
    repository.write("a.txt", lines)
    repository.commit("--amend")
    lines = writer.edited(lines, 2)
    repository.write("a.txt", lines)
    repository.commit()
    new = repository.git("rev-list", "--reverse", "main..work").split()
    listed = list(dict.fromkeys([*old, *new]))
    assert len(listed) == (7 if onto_newer else 5)
    changes = Changes([repository.described(sha) for sha in listed])
    at = repository.git("show", "-s", "--format=%cI", old[-1]).strip()
    unknown = 0
    for first, last in spans(before, writer.chance):
        fate = changes.fate(comment_on(first, last, commit=old[-1], path="a.txt", at=at))
        # No line is there twice, so the files themselves say whether the lines still follow one another.
        wanted = before[first - 1 : last]
        stayed = any(lines[start : start + len(wanted)] == wanted for start in range(len(lines)))
        if fate.lines_changed.value is None:
            # Nobody can tell of lines that neither patches of the old commits nor of the new ones show.
            assert onto_newer
            assert fate.lines_changed.reason == reasons.REWRITTEN
            unknown += 1
        else:
            assert fate.lines_changed.value is not stayed
            assert not fate.changed_by or fate.changed_by[0] in new
    assert unknown < len(before)
