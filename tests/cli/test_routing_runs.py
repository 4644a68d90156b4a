"""Routing runs and what happens around them: inputs that change, routers of one's own, runs that are begun again."""

import hashlib
import json
import subprocess
import sys

import pytest

import metareview as mr
from metareview.errors import InputError
from metareview.formats.history import read_history
from metareview.pipelines.routing import large

ROUTER = """
from pathlib import Path
import metareview


class Mine(metareview.Router):
    def __init__(self):
        with open("calls", "a") as calls:
            calls.write("made\\n")
        {made}

    def observe(self, event):
        pass

    def rank(self, pull_request):
        {rank}
        return metareview.routing.protocol.Ranking([("bob", 1.0)])
"""

APPEND = "Path({0!r}).write_bytes(Path({0!r}).read_bytes() + b'#')"


def events(repos=1):
    for number in range(repos):
        common = {"repo": f"o/r{number}", "pr": 1}
        yield {**common, "at": "2026-01-01T00:00:00Z", "kind": "opened", "actor": "ann"}
        yield {**common, "at": "2026-01-01T00:10:00Z", "kind": "review_submitted", "actor": "bob"}


@pytest.fixture
def history(here):
    """The history of three repositories."""
    file = here / "events.jsonl"
    file.write_text("".join(json.dumps(event) + "\n" for event in events(3)))
    return file


@pytest.fixture
def router(here):
    """Writes a router of the user's own, in a module with a name of its own, since Python keeps what it imports."""

    def write(name, made="pass", rank="pass"):
        text = ROUTER.format(made=made, rank=rank).replace(
            "import metareview\n", "import metareview.routing.protocol\n"
        )
        (here / f"{name}.py").write_text(text)
        return f"{name}:Mine"

    return write


def sha256(file):
    return hashlib.sha256(file.read_bytes()).hexdigest()


def inputs(folder):
    return json.loads((folder / "manifest.json").read_text())["inputs"]


WORKERS = pytest.mark.parametrize("workers", [1, 2])


@WORKERS
def test_the_manifest_names_the_bytes_that_were_read_though_the_history_grows_meanwhile(
    run, here, history, router, workers
):
    before = sha256(history)
    name = router(f"grows_{workers}", rank=APPEND.format(str(history)))
    code, _, err = run("routing", "events.jsonl", "--router", name, "--workers", workers, "--out", "run")
    assert code == 0, err
    assert sha256(history) != before
    assert inputs(here / "run") == {"history": before}


def test_a_history_that_worker_processes_read_in_parts_must_not_change(here, history, monkeypatch):
    from metareview.pipelines.routing import scatter

    def growing(real):
        def read(*arguments):
            found = real(*arguments)
            history.write_bytes(history.read_bytes() + b"\n")
            return found

        return read

    monkeypatch.setattr(large, "scatter", growing(scatter.scatter))
    with pytest.raises(InputError, match=r"events\.jsonl: it changed while it was read\. Run it again"):
        mr.evaluate_routing(history, routers=["recency"], workers=2, out=here / "run")
    assert not (here / "run").exists()


def test_a_codeowners_file_that_changes_during_the_replay_is_refused(run, here, history, router):
    rules = here / "rules/o/r0/abcd/CODEOWNERS"
    rules.parent.mkdir(parents=True)
    rules.write_text("* @bob\n")
    name = router("rewrites", rank=APPEND.format(str(rules)))
    code, _, err = run(
        "routing", "events.jsonl", "--router", name, "--router", "codeowners", "--codeowners", "rules", "--out", "run"
    )
    assert code == 2
    assert "rules: it changed while it was read" in err


def test_an_error_of_whoever_shows_the_progress_is_not_the_files(history):
    def gone(done, total):
        raise BrokenPipeError(32, "Broken pipe")

    with pytest.raises(BrokenPipeError):
        read_history(history, progress=gone)


@pytest.mark.skipif(sys.platform != "linux", reason="a file that opens and cannot be read is one of Linux's")
def test_a_file_that_opens_and_cannot_be_read_is_named(run, here):
    code, _, err = run("routing", "/proc/self/mem")
    assert code == 2
    assert "/proc/self/mem: cannot be read: Input/output error" in err


def test_a_router_that_a_worker_cannot_import_is_reported_with_its_import_error(here, history):
    script = here / "script.py"
    script.write_text(
        "import sys, types\n"
        "import metareview as mr\n"
        "module = types.ModuleType('made_up')\n"
        "class Mine:\n    def observe(self, event): pass\n    def rank(self, pull_request): return []\n"
        "Mine.__module__, module.Mine, sys.modules['made_up'] = 'made_up', Mine, module\n"
        "try:\n"
        "    mr.evaluate_routing('events.jsonl', routers=[Mine], workers=2)\n"
        "except mr.UsageError as error:\n"
        "    print(error)\n"
    )
    done = subprocess.run([sys.executable, str(script)], cwd=here, capture_output=True, text=True, timeout=60)
    assert "(ModuleNotFoundError: No module named 'made_up')" in done.stdout, done.stderr
    assert "PYTHONPATH" in done.stdout
    assert "memory" not in done.stdout


def test_a_history_may_have_main_in_its_name(run, here, history):
    history.rename(here / "my__main__.jsonl")
    code, out, err = run("routing", "my__main__.jsonl", "--router", "recency", "--workers", "2", "--json")
    assert code == 0, err
    assert json.loads(out)["prs"] == 3


@pytest.mark.parametrize(("workers", "calls"), [(1, 3), (2, 4)])
def test_a_factory_is_called_once_for_each_repository_and_once_more_before_worker_processes_start(
    run, here, history, router, workers, calls
):
    name = router(f"counted_{workers}")
    code, _, err = run("routing", "events.jsonl", "--router", name, "--workers", workers)
    assert code == 0, err
    assert (here / "calls").read_text().count("made") == calls


@pytest.mark.parametrize("value", ["set()", "{'bob': 3}", "5"])
def test_a_router_may_have_an_attribute_called_missing(run, here, history, router, value):
    name = router(f"has_missing_{len(value)}", made=f"self.missing = {value}")
    code, out, err = run("routing", "events.jsonl", "--router", name, "--json")
    assert code == 0, err
    assert "have no" not in " ".join(json.loads(out)["warnings"]).replace("no body", "")


@pytest.fixture
def replays(monkeypatch):
    """How often a history was read into parts."""
    read = []
    real = large.scatter
    monkeypatch.setattr(large, "scatter", lambda *arguments: read.append(1) or real(*arguments))
    return read


def test_a_finished_run_of_several_workers_is_answered_from_its_folder(run, here, history, replays):
    command = ("routing", "events.jsonl", "--workers", "2", "--out", "run", "--json")
    first = run(*command)
    again = run(*command)
    assert (first[0], again[:2]) == (0, first[:2])
    assert replays == [1]
    assert not (here / "run/parts").exists()


def test_a_finished_run_with_a_router_of_ones_own_is_replayed_and_held_against_its_folder(
    run, here, history, router, replays
):
    name = router("replayed")
    command = ("routing", "events.jsonl", "--workers", "2", "--router", name, "--out", "run", "--json")
    first = run(*command)
    assert run(*command)[:2] == first[:2]
    router("replayed", rank="return metareview.routing.protocol.Ranking([])")
    code, _, err = run(*command)
    assert (code, "a router has changed since" in err) == (2, True)
    assert len(replays) == 3


def test_a_run_of_two_workers_that_one_worker_finishes_leaves_no_parts(run, here, history, monkeypatch):
    class Killed(BaseException):
        pass

    def killed(*arguments):
        raise Killed

    with monkeypatch.context() as patched:
        patched.setattr(large.Large, "_concluded", killed)
        with pytest.raises(Killed):
            mr.evaluate_routing("events.jsonl", routers=["recency"], workers=2, out=here / "run")
    assert list((here / "run/parts").iterdir())
    code, _, err = run("routing", "events.jsonl", "--router", "recency", "--workers", "1", "--out", "run")
    assert code == 0, err
    assert sorted(path.name for path in (here / "run").iterdir()) == ["manifest.json", "results.jsonl", "summary.json"]
