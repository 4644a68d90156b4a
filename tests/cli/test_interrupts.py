"""Ctrl-C and SIGTERM at any moment: 130 and 143, no traceback, nothing left behind; and the same command goes on."""

import json
import os
import re
import signal
import subprocess
import sys
import textwrap
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="signals are not for Windows")

EVENTS = "".join(
    json.dumps({"repo": f"o/r{pr % 9}", "pr": pr, "at": f"2024-01-{1 + pr % 28:02d}T0{hour}:00:00Z", "kind": kind,
                "actor": f"user{hour}"}) + "\n"
    for pr in range(1, 300)
    for hour, kind in enumerate(("opened", "review_submitted", "review_comment"))
)  # fmt: skip

# Sends a signal to the whole group, as a terminal does, when a function of ours is entered for the nth time. A line of
# standard error says that it was sent.
TRAP = """
import os, signal, sys

def trap(frame, event, argument):
    global left
    if event == "call" and frame.f_code.co_name == NAME and FILE in frame.f_code.co_filename:
        left -= 1
        if left == 0:
            sys.setprofile(None)
            for each in SENT:
                os.killpg(os.getpgid(0), each)
left = NTH
sys.setprofile(trap)
sys.argv[0] = "metareview"
import runpy
runpy.run_module("metareview", run_name="__main__")
"""


def started(*arguments, **options):
    """The command in a group of its own."""
    return subprocess.Popen(
        [sys.executable, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        start_new_session=True, **options,
    )  # fmt: skip


def trapped(tmp_path, command, *, name, file, nth=1, sent=(signal.SIGINT,)):
    values = {"NAME": repr(name), "FILE": repr(file), "NTH": str(nth), "SENT": repr([int(each) for each in sent])}
    script = re.sub("|".join(values), lambda found: values[found[0]], TRAP)
    temporary = tmp_path / "temporary"
    temporary.mkdir(exist_ok=True)
    process = started("-c", script, *command, cwd=tmp_path, env={**os.environ, "TMPDIR": str(temporary)})
    _, errors = process.communicate(timeout=60)
    assert "Traceback" not in errors
    assert "Exception ignored" not in errors
    return process.returncode, errors, [each.name for each in temporary.iterdir()]


PLACES = [
    ("get_command", "cli/__init__.py", 1),  # before anything of the command is imported
    ("<module>", "pipelines/comments/plan.py", 1),  # amid its imports
    ("read", "formats/comments/jsonl.py", 1),
    ("append", "runs/writer.py", 2),
    ("write_whole", "runs/files.py", 1),
    ("_finish", "runs/writer.py", 1),
    ("headline", "report/headline.py", 1),
    ("show", "cli/output.py", 1),
    ("main", "cli/__init__.py", 1),
    ("_written", "cli/__init__.py", 1),
    ("leave", "interrupts.py", 1),
]


@pytest.fixture
def sides(tmp_path):
    comment = {"path": "a.py", "from_line": 1, "note": "The file is never closed"}
    for name, note in (("bot", "It leaks a handle"), ("ref", "Close the file")):
        rows = [
            {"pr": f"https://github.com/o/r/pull/{pr}", "comments": [comment | {"note": note}]} for pr in range(1, 6)
        ]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")
    return ["comments", "bot.jsonl", "--reference", "ref.jsonl", "--judge", "exact", "-q", "--out", "run"]


@pytest.mark.parametrize(("name", "file", "nth"), PLACES)
def test_an_interrupted_command_ends_with_130_and_goes_on_with_the_same_bytes(tmp_path, sides, name, file, nth):
    code, _, left = trapped(tmp_path, sides, name=name, file=file, nth=nth)
    assert (code, left) == (130, [])
    assert not list(tmp_path.glob("run/*.new"))
    again = [sys.executable, "-m", "metareview", *sides]
    for folder in ("run", "whole"):
        subprocess.run([*again[:-1], folder], cwd=tmp_path, check=True, stdout=subprocess.DEVNULL)
    for file_name in ("results.jsonl", "pairs.jsonl"):
        assert (tmp_path / "run" / file_name).read_bytes() == (tmp_path / "whole" / file_name).read_bytes()


def test_a_run_that_was_ended_by_the_system_ends_in_order_with_143(tmp_path, sides):
    code, errors, left = trapped(tmp_path, sides, name="append", file="runs/writer.py", nth=2, sent=[signal.SIGTERM])
    assert (code, left) == (143, [])
    assert "the same command with the same --out goes on" in errors


def test_a_second_ctrl_c_ends_at_once(tmp_path, sides):
    sent = [signal.SIGINT, signal.SIGINT]
    assert trapped(tmp_path, sides, name="append", file="runs/writer.py", sent=sent)[0] == 130


@pytest.mark.parametrize(
    "place", [("_crew", "engines/local.py"), ("map_as_done", "engines/local.py"), ("scatter", "routing/scatter.py")]
)
def test_workers_are_quiet_too_and_their_files_go(tmp_path, place):
    (tmp_path / "events.jsonl").write_text(EVENTS, "utf-8")
    command = ["routing", "events.jsonl", "--workers", "2", "--router", "recency", "-q", "--out", "run"]
    code, errors, left = trapped(tmp_path, command, name=place[0], file=place[1])
    assert (code, left) == (130, [])
    assert errors.strip().splitlines() in (
        ["Interrupted. What was done is kept; the same command with the same --out goes on."],
        [],
    )


def test_workers_that_are_still_importing_are_quiet(tmp_path):
    """A terminal sends Ctrl-C to every process of the command."""
    (tmp_path / "events.jsonl").write_text(EVENTS, "utf-8")
    for delay in (0.0, 0.02, 0.05):
        process = started("-m", "metareview", "routing", "events.jsonl", "--workers", "2", "--router", "recency", "-q",
                          "--out", f"run-{delay}", cwd=tmp_path)  # fmt: skip
        children = Path(f"/proc/{process.pid}/task/{process.pid}/children")
        if not children.exists():
            process.kill()
            process.communicate()
            pytest.skip("nothing tells of child processes here")
        until = time.monotonic() + 30
        while process.poll() is None and not any_child(process.pid) and time.monotonic() < until:
            pass
        time.sleep(delay)
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
        assert "Traceback" not in errors
        assert process.returncode in (0, 130)


def any_child(pid):
    """Of any thread: a worker is begun by one of its own."""
    try:
        return any(each.read_text() for each in Path(f"/proc/{pid}/task").glob("*/children"))
    except OSError:
        return False


def test_an_interrupt_that_a_finalizer_swallows_still_ends_the_command():
    script = """
        import os, signal
        from metareview.interrupts import at_work, leave
        class Held:
            def __del__(self):
                os.kill(os.getpid(), signal.SIGINT)
                for _ in range(10**6): pass
        with at_work():
            held = Held()
            del held
            print("not reached", flush=True)
        leave(0)
    """
    done = subprocess.run([sys.executable, "-c", textwrap.dedent(script)], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")


def test_whoever_ignores_ctrl_c_for_us_is_heeded(tmp_path, sides):
    """As nohup does, and a shell for what runs in the background."""
    script = "import signal, sys, runpy; signal.signal(signal.SIGINT, signal.SIG_IGN);" + (
        "import metareview.interrupts as i;"
        "import metareview.runs.writer as w; import os;"
        "old = w.RunWriter.append;"
        "w.RunWriter.append = lambda *a: (os.kill(os.getpid(), signal.SIGINT), old(*a))[1];"
        "runpy.run_module('metareview', run_name='__main__')"
    )
    process = started("-c", script, *sides, cwd=tmp_path)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")


def test_the_step_of_the_action_ends_quietly(tmp_path):
    script = "import os, signal, metareview.action.measure as m; m.main = lambda: os.kill(os.getpid(), signal.SIGINT)\n"
    script += (
        "import sys, runpy; sys.argv = ['x', 'measure']; runpy.run_module('metareview.action', run_name='__main__')"
    )
    process = started("-c", script, cwd=tmp_path)
    _, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (130, "")
