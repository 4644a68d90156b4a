"""The fuzzer that is run by hand reaches every reader: a format without one here would be fuzzed by nobody."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from metareview.formats.registry import comment_formats, history_formats

SCRIPT = Path(__file__).parents[2] / "fuzz" / "readers.py"
OTHERS = {
    *("predictions", "codeowners", "router-config", "labels", "outcome-labels", "verdicts", "pairs-of-run"),
    *("records-of-run", "examples", "text", "env", "gzip", "parquet-events", "parquet-pairs"),
}


@pytest.fixture(scope="module")
def readers():
    pytest.importorskip("pyarrow")
    spec = importlib.util.spec_from_file_location("fuzz_readers", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    argv, sys.argv = sys.argv, ["readers.py"]
    try:
        spec.loader.exec_module(module)
    finally:
        sys.argv = argv
    return module.READERS


def test_every_reader_is_there(readers):
    assert set(readers) == {*comment_formats(), *history_formats(), *OTHERS}


def test_what_it_begins_with_is_read(readers):
    """Else what is made of it would be refused before much is reached."""
    for reader in readers.values():
        for seed in reader.seeds:
            reader.read(seed, True)
            reader.read(seed, False)


def test_a_short_run_finds_nothing_and_says_what_it_did():
    command = [sys.executable, SCRIPT, "--minutes", "0.03", "--seed", "5"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stdout + done.stderr
    assert " inputs, 0 findings. aacr-text " in done.stdout
