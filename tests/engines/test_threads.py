"""A command takes one thread per process, whatever the libraries behind NumPy would take."""

import subprocess
import sys

import pytest

SHOWN = """
import os, sys
from metareview.cli import main
assert "numpy" not in sys.modules, "too late: what NumPy loads reads its settings once"
try:
    main(["--version"])
except SystemExit:
    print(os.environ["OPENBLAS_NUM_THREADS"], os.environ["OMP_NUM_THREADS"])
"""


@pytest.mark.parametrize(("given", "shown"), [({}, "1 1"), ({"OPENBLAS_NUM_THREADS": "4"}, "4 1")])
def test_one_thread_unless_the_environment_says_otherwise(given, shown, monkeypatch):
    for variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
        monkeypatch.delenv(variable, raising=False)
    for variable, value in given.items():
        monkeypatch.setenv(variable, value)
    done = subprocess.run([sys.executable, "-c", SHOWN], capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[-1] == shown
