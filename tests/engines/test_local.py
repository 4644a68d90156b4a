"""Worker processes: results in order, whatever becomes of the workers."""

import os
import signal
import subprocess
import sys
import time
from itertools import count, islice
from pathlib import Path

import engine_work
import pytest

from metareview.engines.local import TRIES, LocalEngine, chunks_by_size, cores, sendable
from metareview.errors import InputError, UsageError

CHUNKS = [[1, 2], [3], [], [4, 5, 6], [7]]


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_results_come_in_the_order_of_the_chunks(workers: int) -> None:
    assert list(LocalEngine(workers).map(engine_work.times, 10, CHUNKS)) == [[10, 20], [30], [], [40, 50, 60], [70]]
    assert list(LocalEngine(workers).map(engine_work.slow_first, None, range(6))) == list(range(6))


@pytest.mark.parametrize("workers", [1, 2])
def test_results_as_they_are_done_keep_their_numbers(workers: int) -> None:
    found = list(LocalEngine(workers).map_as_done(engine_work.slow_first, None, range(6)))
    assert sorted(found) == [(number, number) for number in range(6)]
    if workers == 2:
        assert found[0] != (0, 0)  # The slow one does not keep the others waiting.


def test_work_is_done_in_as_many_processes_as_asked_for_and_none_is_left() -> None:
    pids = set(LocalEngine(2).map(engine_work.whose, None, range(20)))
    assert len(pids) == 2
    assert os.getpid() not in pids
    for pid in pids:
        with pytest.raises(ProcessLookupError):
            os.kill(pid, 0)


def test_one_worker_is_this_process() -> None:
    assert set(LocalEngine(1).map(engine_work.whose, None, range(3))) == {os.getpid()}


def test_a_killed_worker_is_replaced_and_its_chunk_done_again(tmp_path: Path) -> None:
    squares = list(LocalEngine(2).map(engine_work.dies_once, tmp_path, range(8)))
    assert squares == [number * number for number in range(8)]
    assert (tmp_path / "died").exists()


def test_a_chunk_that_kills_its_workers_is_given_up(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match=f"ended {TRIES} times .* lack of memory.* Pass --workers 1"):
        list(LocalEngine(2).map(engine_work.always_dies, tmp_path, [1]))
    assert (tmp_path / "begun").read_text() == "." * TRIES


def test_what_a_worker_refuses_is_refused_here_with_its_line() -> None:
    with pytest.raises(InputError) as refused:
        list(LocalEngine(2).map(engine_work.refuses, None, [1]))
    assert str(refused.value) == "a.jsonl:41: not readable. Export it again."


def test_a_defect_keeps_its_type_and_says_where_it_was() -> None:
    with pytest.raises(ZeroDivisionError) as broken:
        list(LocalEngine(2).map(engine_work.breaks, None, [1, 0]))
    assert "engine_work.py" in broken.value.__notes__[0]


def test_an_error_that_cannot_be_sent_comes_as_text() -> None:
    with pytest.raises(RuntimeError, match="Unsendable: 1 and 2"):
        list(LocalEngine(2).map(engine_work.raises_what_cannot_be_sent, None, [1]))


def test_what_the_work_prints_does_not_get_between_the_messages(capfd: pytest.CaptureFixture[str]) -> None:
    assert list(LocalEngine(2).map(engine_work.prints, None, range(3))) == [0, 1, 2]
    told = capfd.readouterr()
    assert told.out == ""
    assert told.err.count("between the messages") == 3


def test_chunks_are_taken_only_a_few_ahead() -> None:
    taken = []

    def endless() -> object:
        for number in count():
            taken.append(number)
            yield number

    results = LocalEngine(2).map(engine_work.slow_first, None, endless())
    assert list(islice(results, 3)) == [0, 1, 2]
    results.close()
    assert len(taken) <= 3 + 4


def test_a_parent_that_is_interrupted_leaves_no_worker(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        "import sys, pathlib\n"
        f"sys.path.insert(0, {str(Path(engine_work.__file__).parent)!r})\n"
        "import engine_work\n"
        "from metareview.engines.local import LocalEngine\n"
        f"for pid in LocalEngine(2).map(engine_work.marks, pathlib.Path({str(tmp_path)!r}), range(1000)):\n"
        "    print(pid, flush=True)\n"
    )
    parent = subprocess.Popen([sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"0\n"
    parent.send_signal(signal.SIGINT)
    assert parent.wait(20) != 0
    parent.stdout.close()
    held = len(list(tmp_path.iterdir()))
    time.sleep(0.3)
    assert len(list(tmp_path.iterdir())) == held  # Nobody works on.


def test_chunks_by_size_keep_order_and_lose_nothing() -> None:
    sizes = [3, 3, 3, 10, 1, 1, 1, 1, 12]
    chunks = list(chunks_by_size(sizes, lambda size: size, 6))
    assert chunks == [[3, 3], [3], [10], [1, 1, 1, 1], [12]]
    assert list(chunks_by_size([], len, 3)) == []


def test_what_only_this_script_knows_cannot_be_sent() -> None:
    class Local:
        pass

    assert sendable(engine_work.times)
    assert sendable({"a": (1, 2.5)})
    assert not sendable(Local())
    assert not sendable(lambda: 1)


def test_cores_are_those_that_may_be_used() -> None:
    assert 1 <= cores() <= (os.cpu_count() or 1)
