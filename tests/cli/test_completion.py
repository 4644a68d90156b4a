import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete

from metareview.cli import COMMANDS, cli
from metareview.cli.completion import VARIABLE

PROGRAM = Path(sys.executable).with_name("metareview")


def completed(line):
    """(type, value) of what is offered at the end of a line."""
    *words, typed = line.split(" ")
    found = ShellComplete(cli, {}, "metareview", VARIABLE).get_completions(words, typed)
    return [(item.type, item.value) for item in found]


def values(line):
    return [value for kind, value in completed(line) if kind == "plain"]


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("co", [name for name in COMMANDS if name.startswith("co")]),
        ("list ", ["judges", "routers", "formats", "metrics"]),
        ("cache c", ["clear"]),
        ("completion ", ["bash", "zsh", "fish"]),
        ("dataset ", ["get", "list"]),
        ("dataset get b", ["bc-bench"]),
        ("dataset get bc-bench re", ["revfinder-android"]),
        ("comments x --judge ", ["none", "exact", "rouge", "offline", "embedding", "llm", "cascade"]),
        ("comments x --judge=o", ["offline"]),
        ("comments x --format aa", ["aacr-text", "aacr", "aacr-standard"]),
        ("comments x --reference-format mar", ["martian"]),
        ("check --reference-format mar", ["martian"]),
        ("comments x --alignment ", ["optimal", "coverage", "greedy"]),
        ("comments x --fail-under f", ["f1=", "false_positives="]),
        ("comments x --fail-over line_", ["line_precision=", "line_recall=", "line_f1="]),
        ("routing x --fail-under h", ["hit@1=", "hit@3=", "hit@5="]),
        ("comments x --language p", ["Python", "PHP"]),
        ("comments x --pr-category bug", ["Bug Fix"]),
        ("comments x --comment-category P", ["Performance"]),
        ("comments x --context d", ["Diff Level"]),
        ("leaderboard r --sort rec", ["recall", "recall@1", "recall@3", "recall@5"]),
        ("compare a b --fail-if-worse m", ["mrr", "map"]),
        ("outcomes x --fail-under l", ["lines_changed=", "liked="]),
        ("comments x --fail-under li", ["line_precision=", "line_recall=", "line_f1="]),
        ("routing x --router re", ["recency", "revfinder"]),
        ("routing x --truth first", ["first_response", "first_approval"]),
        ("calibrate x --judge ca", ["cascade"]),
    ],
)
def test_names(line, offered):
    assert values(line)[: len(offered)] == offered
    assert len(values(line)) == len(offered)


def test_options():
    assert set(values("comments x --reference")) == {"--reference", "--reference-format", "--reference-reviewer"}


@pytest.mark.parametrize(
    ("line", "names"),
    [
        ("comments ", ["code-review-bench"]),
        ("comments x --reference ", ["aacr-bench", "code-review-bench", "bc-bench"]),
        ("comments x --negatives ", ["aacr-bench"]),
        ("check --reference a", ["aacr-bench"]),
        ("routing ", ["revfinder-android"]),
        ("routing events", []),
        ("report ", []),
        ("report r -o ", []),
    ],
)
def test_files_and_the_data_sets_that_may_stand_for_them(line, names):
    assert values(line) == names
    assert [kind for kind, _ in completed(line) if kind != "plain"] == ["file"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_asks_as_click_is_asked(run, shell):
    code, out, err = run("completion", shell)
    assert (code, err) == (0, "")
    assert f"{VARIABLE}={shell}_complete" in out
    assert json.loads(run("completion", shell, "--json")[1])["script"].strip() == out.strip()


def test_another_shell_is_refused(run):
    code, _, err = run("completion", "fsh")
    assert code == 2
    assert "Did you mean 'fish'?" in err


# A real shell

needs_bash = pytest.mark.skipif(
    shutil.which("bash") is None or not PROGRAM.exists(), reason="bash or the installed command is not here"
)


def in_bash(line, folder):
    """What bash would offer at the end of a line."""
    script = (
        'source <("$1" completion bash); COMP_LINE="$2"; COMP_POINT=${#COMP_LINE};'
        ' _metareview_completion "$1"; printf "%s\\n" "${COMPREPLY[@]}"'
    )
    words = ["bash", "--norc", "-c", script, "bash", str(PROGRAM), line]
    done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=True)
    assert done.stderr == ""
    return [each for each in done.stdout.splitlines() if each]


@needs_bash
@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("metareview dataset g", ["get"]),
        ("metareview comments x --judge o", ["offline"]),
        ("metareview comments x --judge=o", ["offline"]),
        ("metareview comments x --fail-under f1", ["f1="]),
        ("metareview comments x --fail-under f1=", []),
        ("metareview routing x --fail-under hit@", ["1=", "3=", "5="]),  # for bash, the word begins after the @
        ("metareview comments x --pr-category Bug", ["Bug Fix"]),
        ("metareview comments x --reference aac", ["aacr-bench", "aac.json"]),
        ("metareview report ", []),  # left to bash, which knows files
        ("metareview comments 'a b/", []),
    ],
)
def test_in_a_real_bash(tmp_path, line, offered):
    (tmp_path / "aac.json").write_text("[]")
    assert in_bash(line, tmp_path) == offered


@needs_bash
def test_clicks_own_way_to_ask_for_the_script_works_too(tmp_path):
    asked = subprocess.run(
        [str(PROGRAM)], env={**os.environ, VARIABLE: "bash_source"}, capture_output=True, text=True, check=True
    )
    ours = subprocess.run([str(PROGRAM), "completion", "bash"], capture_output=True, text=True, check=True)
    assert asked.stdout.strip() == ours.stdout.strip()
