"""A workspace is a stranger's pull request: none of its files runs, is posted, is written through or counts."""

import json
import os
import sys

import pytest
from jobs import TOKEN, record, use, write

from metareview.cli import main
from model_server import ModelServer, always
from sealed_runs import seal_again

MODULES = (
    "venv", "pip/__init__", "pip/__main__", "ensurepip/__init__", "ensurepip/__main__", "click", "metareview/__init__",
    "metareview/__main__", "metareview/action/__init__", "metareview/action/__main__", "sitecustomize",
    "usercustomize", "runpy", "json", "numpy", "msgspec", "urllib3", "subprocess", "tempfile", "backend",
    "brotlicffi", "brotli", "zstandard",
)  # fmt: skip
INPUTS = {"files": "poor.jsonl", "reference": "references.jsonl", "judge": "exact", "args": "--all-prs"}


@pytest.fixture
def marks(job, tmp_path):
    """Every module that the steps may look for, in the workspace and in `src`; each marks here that it ran."""
    folder = tmp_path / "ran"
    folder.mkdir()
    for root in (job.workspace, job.workspace / "src"):
        for module in MODULES:
            file = root / f"{module}.py"
            file.parent.mkdir(parents=True, exist_ok=True)
            mark = str(folder / f"{root.name}-{module.replace('/', '-')}")
            file.write_text(f"open({mark!r}, 'w').close()\n", "utf-8")
    job.environment |= {"PYTHONPATH": f"src{os.pathsep}", "PYTHONSTARTUP": "click.py", "PIP_FIND_LINKS": "src"}
    return folder


PACKAGE = {
    "constraints.txt": "",
    "pyproject.toml": "[build-system]\nrequires = []\nbuild-backend = 'backend'\nbackend-path = ['.']\n",
    "backend.py": """
import zipfile
from pathlib import Path

def build_wheel(folder, config_settings=None, metadata_directory=None):
    import json, subprocess, tempfile
    name = "metareview-1.0-py3-none-any.whl"
    info = "metareview-1.0.dist-info"
    with zipfile.ZipFile(Path(folder) / name, "w") as wheel:
        wheel.writestr("metareview/__init__.py", "")
        wheel.writestr("metareview/action/__init__.py", "")
        wheel.writestr("metareview/action/__main__.py", Path(__file__).with_name("step.py").read_text())
        wheel.writestr(f"{info}/METADATA", "Metadata-Version: 2.1\\nName: metareview\\nVersion: 1.0\\n")
        wheel.writestr(f"{info}/WHEEL", "Wheel-Version: 1.0\\nRoot-Is-Purelib: true\\nTag: py3-none-any\\n")
        wheel.writestr(f"{info}/RECORD", "")
    return name
""",
    "step.py": """
import json, os, subprocess, sys, tempfile
try:
    import click
except ImportError:
    pass
else:
    sys.exit("there is no click in this environment")
with open(os.environ["GITHUB_OUTPUT"], "a") as file:
    file.write("exit-code=0\\n")
print("a step ran:", *sys.argv[1:])
""",
}


def test_no_file_of_the_workspace_runs_while_metareview_is_installed(job, marks, tmp_path):
    """The Action's own folder is here a package without dependencies: nothing comes from the network."""
    package = tmp_path / "action"
    package.mkdir()
    for name, text in PACKAGE.items():
        (package / name).write_text(text, "utf-8")
    job.environment |= {"GITHUB_ACTION_PATH": str(package), "PIP_NO_INDEX": "1"}
    job.uses["actions/setup-python@v5"] = {"python-path": sys.executable}
    done = job.use(files="poor.jsonl", version="")
    assert not done.failed, done.log
    assert [line for line in done.log.splitlines() if line.startswith("a step ran")] == [
        "a step ran: measure",
        "a step ran: comment",
    ]
    assert sorted(marks.iterdir()) == []


def test_no_file_of_the_workspace_runs_while_it_is_measured(job, marks, server):
    done = use(job, **INPUTS, baseline="good.jsonl", fail_under="recall=0.1")
    assert not done.failed, done.log
    assert len(server.bodies) == 1
    assert sorted(marks.iterdir()) == []


def test_an_env_file_of_the_workspace_does_not_choose_who_judges_it(job, server):
    with ModelServer(always(True)) as theirs:
        settings = f"LLM_MODEL_URL={theirs.url}\nLLM_MODEL=lenient\nLLM_API_KEY=k\n"
        (job.workspace / ".env").write_text(settings, "utf-8")
        (job.workspace / ".env").chmod(0o600)
        done = use(job, **{**INPUTS, "judge": "llm"})
        assert done.outputs["exit-code"] == "2"
        assert "LLM_MODEL_URL and LLM_MODEL not set" in done.log
        with ModelServer(always(False)) as ours:
            job.environment |= {"LLM_MODEL_URL": ours.url, "LLM_MODEL": "strict"}
            done = use(job, **{**INPUTS, "judge": "llm"})
        assert done.outputs["exit-code"] == "0"
        assert ours.log
        assert theirs.log == []


def test_an_installed_metareview_that_is_not_there_is_told_with_its_fix(job, tmp_path):
    """As where it was installed for another Python, or stands on the Python path alone."""
    bare = tmp_path / "bin"
    bare.mkdir()
    (bare / "python").write_text(f'#!/bin/sh\nexec "{sys._base_executable}" "$@"\n', "utf-8")
    (bare / "python").chmod(0o755)
    job.environment["PATH"] = f"{bare}{os.pathsep}{os.environ['PATH']}"
    done = use(job, **INPUTS)
    assert done.steps == {"Install metareview": 2}
    assert "::error title=metareview::" in done.log
    assert "is not installed for this python" in done.log


def test_a_link_in_the_place_of_the_comment_is_not_posted(job, server, tmp_path):
    out = job.workspace / "metareview"
    out.mkdir()
    outside = {name: tmp_path / f"outside-{name}" for name in ("comparison.json", "report.html", "report.md")}
    for name, file in outside.items():
        file.write_text("mine", "utf-8")
        (out / name).symlink_to(file)
    (out / "comment.md").symlink_to("/proc/self/environ")
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "elsewhere" / "mine").touch()
    for name in ("current", "baseline"):
        (out / name).symlink_to(tmp_path / "elsewhere")
    done = use(job, **INPUTS, baseline="good.jsonl", fail_if_worse="recall")
    assert done.outputs["exit-code"] == "3", done.log
    [body] = server.bodies
    assert "is worse than" in body
    assert "GITHUB_" not in body
    assert {file.read_text("utf-8") for file in outside.values()} == {"mine"}
    assert [path.name for path in (tmp_path / "elsewhere").iterdir()] == ["mine"]
    assert not any(path.is_symlink() for path in out.iterdir())
    assert body.endswith((out / "comment.md").read_text("utf-8"))


@pytest.mark.parametrize("inputs", [{"files": "nothing.jsonl"}, {"command": "nonsense"}, {"args": "--out=x"}])
def test_nor_where_nothing_can_be_measured(job, server, inputs):
    out = job.workspace / "metareview"
    out.mkdir()
    (out / "comment.md").symlink_to("/proc/self/environ")
    done = use(job, **{**INPUTS, **inputs})
    assert done.outputs["exit-code"] == "2", done.log
    [body] = server.bodies
    assert "could not be measured" in body
    assert "GITHUB_" not in body


@pytest.mark.parametrize("out", ["metareview", "a/b", "{workspace}/metareview", "a/../metareview"])
def test_a_link_in_the_place_of_the_folder_is_refused(job, server, tmp_path, out):
    """And told on the pull request."""
    outside = tmp_path / "outside"
    (outside / "b").mkdir(parents=True)
    for name in ("metareview", "a"):
        (job.workspace / name).symlink_to(outside)
    done = use(job, **INPUTS, out=out.format(workspace=job.workspace))
    assert done.outputs == {"exit-code": "2", "run": "", "report": "", "summary-json": ""}
    assert "is a link" in done.log
    assert "is a link" in server.bodies[0]
    assert [path.name for path in outside.rglob("*")] == ["b"]


def test_a_file_in_the_place_of_the_folder_is_told(job, server):
    (job.workspace / "metareview").write_text("mine", "utf-8")
    done = use(job, **INPUTS)
    assert done.outputs["exit-code"] == "2", done.log
    assert "Set out to another folder" in server.bodies[0]
    assert (job.workspace / "metareview").read_text("utf-8") == "mine"


def forge(folder, better):
    """Figures of a run made better, and sealed as if it had written them itself."""
    summary = folder / "summary.json"
    document = json.loads(summary.read_text("utf-8"))
    document["reviewers"]["bot"]["metrics"]["positive_recall_rate"] = better
    summary.write_text(json.dumps(document), "utf-8")
    seal_again(folder)


def test_a_forged_run_does_not_pass_the_gate(job, monkeypatch):
    monkeypatch.chdir(job.workspace)
    for name, file, figure in (("current", "poor.jsonl", 0.97), ("baseline", "good.jsonl", 0.01)):
        with pytest.raises(SystemExit) as end:
            main(["comments", "--reference=references.jsonl", "--judge=exact", f"--out=metareview/{name}",
                  "--all-prs", "--", file])  # fmt: skip
        assert end.value.code == 0
        forge(job.workspace / "metareview" / name, figure)
    own = job.workspace / "metareview" / "notes.txt"
    own.write_text("mine", "utf-8")
    done = use(job, **INPUTS, fail_under="recall=0.9", baseline="good.jsonl", fail_if_worse="recall")
    assert done.outputs["exit-code"] == "3", done.log
    assert "recall 0.333 &#40;was 1.000&#41;" in done.page
    for name, recall in (("current", 1 / 3), ("baseline", 1)):
        found = json.loads((job.workspace / "metareview" / name / "summary.json").read_text("utf-8"))
        assert found["reviewers"]["bot"]["metrics"]["positive_recall_rate"] == pytest.approx(recall)
    assert own.read_text("utf-8") == "mine"


def test_inputs_where_the_action_writes_are_refused_or_left_alone(job):
    """A finished run as the baseline stays, and is used; comments under a name that will be written are refused."""
    assert not use(job, **{**INPUTS, "files": "good.jsonl"}, comment="false").failed
    out = job.workspace / "metareview"
    (out / "current").rename(out / "baseline")
    done = use(job, **INPUTS, baseline="metareview/baseline", fail_if_worse="recall", comment="false")
    assert done.outputs["exit-code"] == "3", done.log
    assert (out / "baseline" / "summary.json").is_file()
    before = (out / "current" / "summary.json").read_bytes()
    done = use(job, **INPUTS, baseline="metareview/current", comment="false")
    assert done.outputs["exit-code"] == "2"
    assert "metareview/current" in done.page
    assert "Set out to another folder" in done.page
    assert (out / "current" / "summary.json").read_bytes() == before
    write(out / "comments.jsonl", [record(1, "bot", [(1, "The lock is released too early")])])
    done = use(job, **{**INPUTS, "files": "metareview/comments.jsonl"}, comment="false")
    assert done.outputs["exit-code"] == "0", done.log
    assert TOKEN not in done.log
