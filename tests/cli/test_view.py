"""`metareview view` as a process: where it listens, what it refuses, how it ends."""

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack, contextmanager, suppress
from urllib.error import HTTPError
from urllib.request import Request, urlopen

import pytest
from click.testing import CliRunner

from metareview.cli import view
from metareview.errors import InputError, UsageError


def run(*arguments):
    return subprocess.run(
        [sys.executable, "-m", "metareview", "view", *map(str, arguments)], capture_output=True, text=True, timeout=60
    )


def free_port():
    with socket.socket() as found:
        found.bind(("127.0.0.1", 0))
        return found.getsockname()[1]


@pytest.mark.parametrize("end", [signal.SIGINT, signal.SIGTERM])
def test_prints_its_address_answers_there_and_ends_quietly(tmp_path, end):
    port = free_port()
    command = [sys.executable, "-m", "metareview", "view", str(tmp_path), "--no-open", "--port", str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        address = process.stdout.readline().strip()
        assert address == f"http://127.0.0.1:{port}/"
        with urlopen(address, timeout=20) as answer:
            assert b"There is no run here yet" in answer.read()
    finally:
        process.send_signal(end)
        _, errors = process.communicate(timeout=20)
    assert "Traceback" not in errors
    assert process.returncode in ((0, 130) if end == signal.SIGINT else (0, -signal.SIGTERM, 143))


def test_a_port_that_is_taken_is_refused_where_it_was_named_and_passed_over_where_not(monkeypatch):
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        with pytest.raises(UsageError, match=f"port {port}"):
            view._listen("127.0.0.1", port)
        monkeypatch.setattr(view, "PORT", port)
        with view._listen("127.0.0.1", None) as other:
            assert port < other.getsockname()[1] < port + 100


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--host", "0.0.0.0"], "needs --token"),
        (["--host", "192.0.2.1"], "METAREVIEW_VIEW_TOKEN"),
        (["--host", "example.org"], "needs --token"),
        (["--host", "::"], "needs --token"),
        (["--token", "two words"], "one word"),
        (["--token", ""], "one word"),
        (["--port", "0"], "--port"),
    ],
)
def test_refuses_what_would_let_others_in(tmp_path, arguments, said):
    done = run(tmp_path, "--no-open", *arguments)
    assert (done.returncode, said in done.stderr) == (2, True), done.stderr


def test_a_folder_that_is_not_there(tmp_path):
    done = run(tmp_path / "nothing")
    assert done.returncode == 2
    assert "There is no folder" in done.stderr


def test_without_starlette_it_says_how_to_install_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "starlette", None)
    done = CliRunner().invoke(view.command, [str(tmp_path)])
    assert isinstance(done.exception, UsageError)
    assert 'pip install "metareview[view]"' in str(done.exception)


def test_no_browser_in_a_build_or_without_a_screen(monkeypatch):
    monkeypatch.setattr(sys, "platform", "linux")
    for name in ("CI", "DISPLAY", "WAYLAND_DISPLAY"):
        monkeypatch.delenv(name, raising=False)
    assert not view._has_display()
    monkeypatch.setenv("DISPLAY", ":0")
    assert view._has_display()
    monkeypatch.setenv("CI", "true")
    assert not view._has_display()
    assert os.environ["CI"] == "true"


SLOW = """
import sys, time
import metareview.viewer.app as app
app.runs_page = lambda *args: time.sleep(60)
from metareview.cli import main
main(["view", sys.argv[1], "--no-open", "--port", sys.argv[2]])
"""


def test_a_page_that_takes_minutes_does_not_keep_ctrl_c_waiting(tmp_path):
    port = free_port()
    command = [sys.executable, "-c", SLOW, str(tmp_path), str(port)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert f":{port}" in process.stdout.readline()
        for _ in range(200):
            try:
                asking = socket.create_connection(("127.0.0.1", port), timeout=30)
                break
            except ConnectionRefusedError:
                time.sleep(0.05)
        with asking:
            asking.sendall(f"GET / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n\r\n".encode())
            time.sleep(1)  # so that the page has been begun
            process.send_signal(signal.SIGINT)
            _, errors = process.communicate(timeout=40)  # it would take 60
    finally:
        process.kill()
    assert process.returncode in (0, 130)
    assert "Traceback" not in errors


IDLE = """
import resource, sys
import metareview.viewer.connections as connections
resource.setrlimit(resource.RLIMIT_NOFILE, (256, 256))
connections.IDLE_SECONDS = float(sys.argv[3])
from metareview.cli import main
main(["view", sys.argv[1], "--no-open", "--port", sys.argv[2]])
"""


@contextmanager
def viewing(folder, idle_seconds):
    """A viewer that may open 256 files, and waits so long for the head of a request: its port."""
    port = free_port()
    command = [sys.executable, "-c", IDLE, str(folder), str(port), str(idle_seconds)]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
    try:
        assert f":{port}" in process.stdout.readline()
        with urlopen(f"http://127.0.0.1:{port}/", timeout=30):  # it listens from before it serves
            yield port
    finally:
        process.kill()
        process.communicate()


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit on open files to set")
def test_half_open_connections_do_not_keep_others_out(tmp_path):
    with viewing(tmp_path, idle_seconds=600) as port, ExitStack() as stack:
        for number in range(400):
            idle = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=30))
            with suppress(ConnectionError):  # it had to make room already
                idle.sendall(b"" if number % 2 else b"GET / HTTP/1.1\r\nHost: 127")
        with urlopen(f"http://127.0.0.1:{port}/", timeout=30) as answer:
            assert b"There is no run here yet" in answer.read()


@pytest.mark.skipif(sys.platform == "win32", reason="has no limit on open files to set")
@pytest.mark.parametrize("first", [b"", b"GET / HTTP/1.1\r\nHost: {port}\r\n\r\n"])
def test_a_head_that_does_not_end_closes_its_connection(tmp_path, first):
    with viewing(tmp_path, 0.3) as port, socket.create_connection(("127.0.0.1", port), timeout=30) as slow:
        slow.sendall(first.replace(b"{port}", b"127.0.0.1:%d" % port) + b"GET / HTTP/1.1\r\n")
        with suppress(ConnectionError):
            while slow.recv(65_536):
                slow.sendall(b"X-More: 1\r\n")


def answers(port, word):
    asking = Request(f"http://127.0.0.1:{port}/", headers={"Authorization": f"Bearer {word}"})
    try:
        with urlopen(asking, timeout=30) as answer:
            return answer.status
    except HTTPError as error:
        return error.code


@pytest.mark.parametrize("by", ["environment", "file", "word"])
def test_the_token_may_come_from_the_environment_or_a_file(tmp_path, by):
    port, file, environ = free_port(), tmp_path / "token", {**os.environ, view.TOKEN: "of-the-environment"}
    file.write_text("of-the-file\n")
    file.chmod(0o600)
    given = {"environment": [], "file": ["--token-file", str(file)], "word": ["--token", "of-the-word"]}[by]
    command = [sys.executable, "-m", "metareview", "view", str(tmp_path), "--no-open", "--port", str(port), *given]
    process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=environ)
    try:
        # Only a word that the command line shows anyway is in the address that is printed.
        assert process.stdout.readline() == f"http://127.0.0.1:{port}/{'?token=of-the-word' if by == 'word' else ''}\n"
        assert (answers(port, f"of-the-{by}"), answers(port, "of-nobody")) == (200, 401)
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize(
    ("text", "mode", "said"),
    [
        ("secret-word", 0o644, "other users may read or write the token in it"),
        ("secret-word", 0o620, "other users may read or write the token in it"),
        ("", 0o600, "holds no token"),
        ("x" * 5000, 0o600, "holds no token"),
        ("secret word", 0o600, "The token is one word"),
    ],
)
def test_a_token_file_that_is_refused_is_named_and_the_token_is_not(tmp_path, text, mode, said):
    file = tmp_path / "token"
    file.write_text(text)
    file.chmod(mode)
    done = CliRunner().invoke(view.command, [str(tmp_path), "--no-open", "--token-file", str(file)])
    assert isinstance(done.exception, UsageError | InputError)
    assert said in str(done.exception)
    assert "secret" not in str(done.exception) + done.output
    done = CliRunner().invoke(view.command, [str(tmp_path), "--token-file", str(tmp_path / "absent")])
    assert "No such file" in str(done.exception)
    done = CliRunner().invoke(view.command, [str(tmp_path), "--token-file", str(file), "--token", "secret"])
    assert "contradict each other" in str(done.exception)
