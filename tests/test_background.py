"""The tests themselves, started as `nohup make test &` starts them: with SIGINT ignored."""

import subprocess
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
INTERRUPTED = "cli/test_interrupts.py::test_an_interrupt_that_a_finalizer_swallows_still_ends_the_command"
IGNORING = (
    "import signal, sys, pytest; signal.signal(signal.SIGINT, signal.SIG_IGN); sys.exit(pytest.main(sys.argv[1:]))"
)


@pytest.mark.skipif(sys.platform == "win32", reason="signals are not for Windows")
@pytest.mark.parametrize("workers", ["0", "1"])
def test_tests_that_interrupt_a_command_pass_in_the_background(workers):
    command = [sys.executable, "-c", IGNORING, "-p", "no:cacheprovider", "--numprocesses", workers, INTERRUPTED]
    done = subprocess.run(command, cwd=TESTS, capture_output=True, text=True, timeout=300, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
