"""Locks of files and folders: one process at a time, nothing beside them, and gone with the process."""

import subprocess
import sys
import threading

import pytest

from metareview import locks
from metareview.locks import PathLock

HOLD = """
import sys
from pathlib import Path
from metareview.locks import PathLock
with PathLock(Path(sys.argv[1])):
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.fixture(params=["folder", "file"])
def path(request, tmp_path):
    path = tmp_path / "locked"
    path.mkdir() if request.param == "folder" else path.write_text("mine")
    return path


@pytest.fixture
def other(path):
    started = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert started.stdout.readline() == "held\n"
    yield started
    started.kill()
    started.communicate()


def test_one_process_at_a_time_and_the_lock_goes_with_one_that_is_killed(path, other):
    with pytest.raises(BlockingIOError):
        PathLock(path)
    other.kill()
    other.wait()
    with PathLock(path) as lock:
        assert lock.held
        with pytest.raises(BlockingIOError):
            PathLock(path)
    PathLock(path).release()
    assert [each.name for each in path.parent.iterdir()] == ["locked"]


def test_it_is_waited_for(path, other):
    threading.Timer(0.2, other.kill).start()
    with PathLock(path, wait=True) as lock:
        assert lock.held


def test_what_has_taken_the_place_of_a_removed_file_is_locked(tmp_path):
    path = tmp_path / "locked"
    path.write_text("first")
    first, second = PathLock(path), []
    waiting = threading.Thread(target=lambda: second.append(PathLock(path, wait=True)))
    waiting.start()
    path.unlink()
    path.write_text("second")
    first.release()
    waiting.join()
    with pytest.raises(BlockingIOError):
        PathLock(path)
    second[0].release()


def test_a_link_is_not_followed_and_what_is_not_there_not_made(path):
    link = path.with_name("link")
    link.symlink_to(path)
    for other in (link, path.with_name("none")):
        with pytest.raises(OSError, match=r"link|none"):
            PathLock(other)
    assert not path.with_name("none").exists()


@pytest.mark.parametrize("raised", [OSError("no locks available"), KeyboardInterrupt()])
def test_a_file_system_without_locks_and_an_interrupt_hold_nothing(path, monkeypatch, raised):
    fcntl = pytest.importorskip("fcntl")

    def fail(*given):
        raise raised

    with monkeypatch.context() as patched:
        patched.setattr(fcntl, "flock", fail)
        if isinstance(raised, OSError):
            assert not PathLock(path).held
        else:
            with pytest.raises(KeyboardInterrupt):
                PathLock(path)
    PathLock(path).release()


def test_where_folders_cannot_be_locked_a_hidden_file_beside_them_is(path, monkeypatch):
    monkeypatch.setattr(locks, "has_flock", False)
    with PathLock(path) as lock:
        assert lock.held
        assert path.with_name(".locked.lock").exists()
        with pytest.raises(BlockingIOError):
            PathLock(path)
    PathLock(path, wait=True).release()
