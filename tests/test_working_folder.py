"""Imports from the working folder: a module that the user names is found there, and nothing of a stranger's is run."""

import json
import os
import signal
import socket
import subprocess
import sys
from pathlib import Path
from urllib.request import urlopen

import pytest

from model_server import ModelServer, always

SCRIPT = [str(Path(sys.executable).with_name("metareview"))]
MODULE = [sys.executable, "-m", "metareview"]
SAFE = [sys.executable, "-P", "-m", "metareview"]
LAUNCHERS = pytest.mark.parametrize("launcher", [SCRIPT, MODULE, SAFE], ids=["script", "python -m", "python -P -m"])
# What we and our libraries import, need it or not: installed or absent, none of it may come from the working folder.
# fmt: off
STRANGERS = [
    "_brotli", "brotli", "brotlicffi", "zstandard", "simplejson", "socks", "h2", "OpenSSL", "cryptography", "chardet",
    "cchardet", "charset_normalizer", "msgspec", "numpy", "scipy", "rapidfuzz", "sentencex", "urllib3", "click",
    "rich", "pandas", "pyarrow", "yaml", "dotenv", "IPython", "ipywidgets", "colorama", "regex", "uvloop",
    "httptools", "websockets", "wsproto", "watchfiles", "starlette", "uvicorn", "a2wsgi", "anyio", "attr", "pygments",
    "nltk",
]
# fmt: on
PR = "https://github.com/o/r/pull/1"
EVENTS = [
    {"repo": "o/r", "pr": 1, "at": "2026-01-01T00:00:00Z", "kind": "opened", "actor": "ann"},
    {"repo": "o/r", "pr": 1, "at": "2026-01-01T00:10:00Z", "kind": "review_submitted", "actor": "bob"},
]
ROUTER = """
class Alphabet:
    def observe(self, event):
        pass

    def rank(self, pull_request):
        {within}
        return [(name, 1.0) for name in helper.NAMES]
"""


def lines(*records):
    return "".join(json.dumps(record) + "\n" for record in records)


@pytest.fixture
def checkout(tmp_path):
    """A pull request's files: data to measure, and modules with the names of libraries that leave a mark where run."""
    folder = tmp_path / "checkout"
    folder.mkdir()
    for name in STRANGERS:
        (folder / f"{name}.py").write_text(f"open({str(tmp_path / f'ran-{name}')!r}, 'w').close()\n")
    comments = [{"path": "a.py", "from_line": 1, "to_line": 1, "note": "This leaks a handle."}]
    for name, reviewer in (("said", "bot"), ("expected", "ann")):
        (folder / f"{name}.jsonl").write_text(lines({"pr": PR, "reviewer": reviewer, "comments": comments}))
    (folder / "events.jsonl").write_text(lines(*EVENTS))
    return folder


@pytest.fixture
def run(checkout, tmp_path):
    """Runs a command in the checkout; what was run of the checkout, once it ended as it should."""

    def command(launcher, *arguments, code=0, cwd=checkout, timeout=60, **environment):
        variables = {**os.environ, "XDG_CACHE_HOME": str(tmp_path / "cache"), **environment}
        done = subprocess.run(
            [*launcher, *arguments], cwd=cwd, env=variables, capture_output=True, text=True, timeout=timeout
        )
        assert done.returncode == code, done.stderr
        assert strangers(tmp_path) == []
        return done

    return command


def strangers(folder):
    """The modules of the checkout that were run."""
    return sorted(path.name for path in folder.glob("ran-*"))


COMMENTS = ("comments", "said.jsonl", "--reference", "expected.jsonl", "--json")


@LAUNCHERS
@pytest.mark.parametrize(
    "arguments",
    [(*COMMENTS, "--judge", "offline"), ("routing", "events.jsonl", "--json"), ("list", "judges", "--json")],
    ids=["comments", "routing", "list"],
)
def test_nothing_of_the_working_folder_is_imported_by_what_is_built_in(run, launcher, arguments):
    assert json.loads(run(launcher, *arguments).stdout)


@LAUNCHERS
def test_nothing_of_the_working_folder_is_imported_while_a_model_is_asked(run, launcher):
    with ModelServer(always(True)) as server:
        settings = {"LLM_MODEL_URL": server.url, "LLM_MODEL": "m", "LLM_API_KEY": "k"}
        done = run(launcher, *COMMENTS, "--judge", "llm", **settings)
    assert json.loads(done.stdout)["judge"]["llm_calls"] == 1


@LAUNCHERS
def test_nothing_of_the_working_folder_is_imported_by_a_report(run, launcher, checkout):
    run(launcher, *COMMENTS, "--judge", "exact", "--out", "run")
    run(launcher, "report", "run", "-o", "page.html", "-o", "page.md")
    assert (checkout / "page.html").stat().st_size


@pytest.mark.parametrize("launcher", [SCRIPT, MODULE], ids=["script", "python -m"])
def test_nothing_of_the_working_folder_is_imported_by_the_viewer(launcher, checkout, tmp_path):
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        port = str(found.getsockname()[1])
    command = [*launcher, "view", ".", "--no-open", "--port", port]
    process = subprocess.Popen(command, cwd=checkout, stdout=subprocess.PIPE, text=True)
    try:
        assert process.stdout.readline().strip().endswith(f":{port}/")
        with urlopen(f"http://127.0.0.1:{port}/", timeout=20) as answer:
            assert answer.status == 200
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=20)
    assert strangers(tmp_path) == []


@LAUNCHERS
@pytest.mark.parametrize("workers", [[], ["--workers", "2"]], ids=["one process", "workers"])
@pytest.mark.parametrize(
    ("first", "within"), [("import helper", "pass"), ("", "import helper"), ("import urllib3", "import helper")]
)
def test_a_module_that_the_user_names_finds_its_neighbours_and_no_library_does(
    run, checkout, launcher, workers, first, within
):
    (checkout / "mine.py").write_text(first + "\n" + ROUTER.format(within=within))
    (checkout / "helper.py").write_text("from names import NAMES\n")
    (checkout / "names.py").write_text("NAMES = ['bob']\n")
    done = run(launcher, "routing", "events.jsonl", "--router", "mine:Alphabet", "--json", *workers)
    assert json.loads(done.stdout)["routers"]["mine:Alphabet"]["hit@1"] == 1.0


@pytest.mark.parametrize("parts", [("__init__.py", "inner.py"), ("inner.py",)], ids=["package", "plain folder"])
def test_a_package_in_the_working_folder_is_found_with_its_modules(run, checkout, parts):
    (checkout / "mine").mkdir()
    for part in parts:
        (checkout / "mine" / part).write_text("")
    (checkout / "mine/inner.py").write_text("from mine import helper\n" + ROUTER.format(within="pass"))
    (checkout / "mine/helper.py").write_text("NAMES = ['bob']\n")
    for workers in ([], ["--workers", "2"]):
        done = run(SCRIPT, "routing", "events.jsonl", "--router", "mine.inner:Alphabet", "--json", *workers)
        assert json.loads(done.stdout)["routers"]["mine.inner:Alphabet"]["hit@1"] == 1.0


def test_what_is_installed_comes_before_the_working_folder(run):
    done = run(MODULE, "routing", "events.jsonl", "--router", "rapidfuzz:Alphabet", code=2)
    assert "module 'rapidfuzz' has no attribute 'Alphabet'" in done.stderr


def test_an_installed_module_that_is_named_does_not_look_in_the_working_folder(run, checkout, tmp_path):
    """Such as one that tries `import brotli` when it is used."""
    installed = tmp_path / "installed"
    installed.mkdir()
    (installed / "bought.py").write_text("helper = 0\n" + ROUTER.format(within="import brotli as helper"))
    done = run(MODULE, "routing", "events.jsonl", "--router", "bought:Alphabet", code=2, PYTHONPATH=str(installed))
    assert "router bought:Alphabet raised ModuleNotFoundError: No module named 'brotli'" in done.stderr


def test_a_folder_that_the_user_puts_on_the_python_path_stays_there(run, checkout, tmp_path):
    (checkout / "helper.py").write_text("NAMES = ['bob']\n")
    (tmp_path / "installed").mkdir()
    (tmp_path / "installed/bought.py").write_text("import helper\n" + ROUTER.format(within="pass"))
    for name in STRANGERS:
        (checkout / f"{name}.py").unlink()
    path = os.pathsep.join((str(tmp_path / "installed"), str(checkout)))
    done = run(MODULE, "routing", "events.jsonl", "--router", "bought:Alphabet", "--json", PYTHONPATH=path)
    assert json.loads(done.stdout)["routers"]["bought:Alphabet"]["hit@1"] == 1.0


@LAUNCHERS
def test_a_working_folder_that_was_deleted_stops_no_built_in_judge(run, checkout, tmp_path, launcher):
    gone = tmp_path / "gone"
    gone.mkdir()
    after = ["sh", "-c", 'rmdir "$PWD" && exec "$@"', "sh", *launcher]
    said, expected, events = (str(checkout / f"{name}.jsonl") for name in ("said", "expected", "events"))
    measured = ("comments", said, "--reference", expected, "--json", "--out", str(tmp_path / "run"))
    assert json.loads(run(after, *measured, cwd=gone).stdout)["reviewers"]["bot"]["metrics"]["f1"] == 1.0
    gone.mkdir()
    done = run(after, "routing", events, "--router", "mine:Alphabet", "--out", str(tmp_path / "r"), cwd=gone, code=2)
    assert "router mine:Alphabet: cannot be loaded" in done.stderr
    assert "The working folder was deleted" in done.stderr
    assert "Traceback" not in done.stderr


def test_tasks_of_spark_on_this_machine_import_no_more(run, checkout):
    (checkout / "mine.py").write_text(ROUTER.format(within="import helper"))
    (checkout / "helper.py").write_text("NAMES = ['bob']\n")
    on_spark = ("--engine", "spark", "--spark-master", "local[1]")
    done = run(SCRIPT, "routing", "events.jsonl", "--router", "mine:Alphabet", "--json", *on_spark, timeout=180)
    assert json.loads(done.stdout)["routers"]["mine:Alphabet"]["hit@1"] == 1.0
