"""A short round of `fuzz/run_folders.py`: changed runs are answered or refused, and nothing else happens."""

import random

import pytest
from mutated_runs import READERS, findings, make_runs

from metareview.errors import MetareviewError


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    return make_runs(tmp_path_factory.mktemp("sound"))


@pytest.mark.parametrize("seed", range(4))
def test_a_changed_run_is_answered_or_refused(runs, seed):
    assert list(findings(runs, random.Random(f"changed {seed}"), changes=60, readers=3)) == []


def test_what_is_neither_is_found(runs, monkeypatch):
    def broken(run):
        raise KeyError("ours")

    def refused(run):
        raise MetareviewError

    monkeypatch.setitem(READERS, "show", broken)
    monkeypatch.setitem(READERS, "compare", refused)
    found = list(findings(runs, random.Random(0), changes=1, readers=len(READERS)))
    assert [(each.reader, each.error) for each in found] == [("show", "KeyError: 'ours'")]
