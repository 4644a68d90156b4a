"""Whose verdicts a run uses: the server's address is part of what is known of a verdict, and of the run."""

import json
import sqlite3
from pathlib import Path

import pytest

from model_server import ModelServer, always

SETTINGS = ("LLM_MODEL_URL", "LLM_MODEL", "LLM_API_KEY", "LLM_TIMEOUT")
UNSURE = {"said": "This query may be slow", "expected": "The loop issues one query per row"}
"""Notes that the offline judge cannot decide."""


@pytest.fixture
def folders(here, monkeypatch):
    """Somebody's clone with a `.env` of its own, and a folder of one's own; both hold the same review."""
    for name in SETTINGS:
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", str(here / "cache"))
    for folder in ("clone", "own"):
        (here / folder).mkdir()
        for name, note in UNSURE.items():
            comment = {"note": note, "path": "a.py", "from_line": 1}
            record = {"pr": "https://github.com/o/r/pull/1", "reviewer": "bot", "comments": [comment]}
            (here / folder / f"{name}.jsonl").write_text(json.dumps(record) + "\n")
    with ModelServer(always(True)) as hostile, ModelServer(always(False)) as own:
        yield here, hostile, own


def env_file(folder, url, *more):
    file = folder / ".env"
    file.write_text("\n".join([f"LLM_MODEL_URL={url}", "LLM_MODEL=test-model", *more]) + "\n")
    file.chmod(0o600)
    return file


def scored(run, *options, code=0):
    found, out, err = run("comments", "said.jsonl", "--reference", "expected.jsonl", "--json", *options)
    assert found == code, err
    return json.loads(out) if out else None, err


@pytest.mark.parametrize("asked", [("llm",), ("llm", "--ask", "review"), ("cascade",)])
def test_verdicts_of_a_server_that_a_clone_names_are_not_used_with_ones_own(run, folders, monkeypatch, asked):
    here, hostile, own = folders
    env_file(here / "clone", hostile.url)
    env_file(here / "own", own.url)
    monkeypatch.chdir(here / "clone")
    summary, _ = scored(run, "--judge", *asked, "--out", "run")
    assert summary["reviewers"]["bot"]["metrics"]["f1"] == 1
    monkeypatch.chdir(here / "own")
    summary, _ = scored(run, "--judge", *asked, "--out", "run")
    assert summary["reviewers"]["bot"]["metrics"]["f1"] == 0
    assert summary["judge"]["cached"] == 0
    assert len(own.log) == 1


def test_a_run_says_once_where_its_settings_came_from(run, folders, monkeypatch):
    here, hostile, own = folders
    file = env_file(here / "clone", hostile.url, "LLM_API_KEY=sk-of-the-file")
    monkeypatch.chdir(here / "clone")
    _, err = scored(run, "--judge", "llm", "--out", "by-file")
    assert err.count("settings from") == 1
    assert f"Model: test-model at {hostile.url}, settings from {file}\n" in err
    manifest = json.loads(Path("by-file/manifest.json").read_text())
    assert manifest["settings_from"] == str(file)
    assert manifest["config"]["judge_parameters"]["server"] == hostile.url

    for name, value in (("LLM_MODEL_URL", own.url), ("LLM_API_KEY", "sk-of-mine")):
        monkeypatch.setenv(name, value)
    _, err = scored(run, "--judge", "llm", "--out", "by-both")
    by_both = f"{file} (LLM_MODEL) and the environment (LLM_MODEL_URL, LLM_API_KEY)"
    assert f"Model: test-model at {own.url}, settings from {by_both}\n" in err
    assert json.loads(Path("by-both/manifest.json").read_text())["settings_from"] == by_both

    monkeypatch.setenv("LLM_MODEL", "test-model")
    _, err = scored(run, "--judge", "cascade", "--dry-run")
    assert f"Model: test-model at {own.url}, settings from the environment\n" in err
    assert "sk-" not in err
    _, err = scored(run, "--judge", "llm", "--out", "quiet", "-q")
    assert err == ""
    _, err = scored(run, "--judge", "offline", "--out", "offline")
    assert "settings from" not in err
    assert "settings_from" not in json.loads(Path("offline/manifest.json").read_text())


def test_calibrate_says_where_its_settings_came_from(run, folders, monkeypatch):
    here, hostile, _ = folders
    file = env_file(here / "clone", hostile.url)
    monkeypatch.chdir(here / "clone")
    Path("labels.jsonl").write_text(json.dumps({"a": "leak", "b": "loss", "match": True}) + "\n")
    code, _, err = run("calibrate", "labels.jsonl", "--judge", "llm")
    assert code == 0
    assert err.count(f"Model: test-model at {hostile.url}, settings from {file}\n") == 1


def test_a_run_that_another_server_began_is_another_run(run, folders, monkeypatch):
    here, hostile, own = folders
    monkeypatch.chdir(here / "own")
    env_file(here / "own", hostile.url)
    scored(run, "--judge", "llm", "--out", "run")
    env_file(here / "own", own.url)
    _, err = scored(run, "--judge", "llm", "--out", "run", code=2)
    assert "holds another run (judge_parameters differ)" in err
    assert own.log == []
    # The same address in other words, and from elsewhere, is the same run.
    env_file(here / "own", f"{hostile.url.replace('http', 'HTTP')}/chat/completions/?api-version=1")
    assert scored(run, "--judge", "llm", "--out", "run")[0]["reviewers"]["bot"]["metrics"]["f1"] == 1
    monkeypatch.setenv("LLM_MODEL_URL", f"{hostile.url}/")
    monkeypatch.setenv("LLM_MODEL", "test-model")
    scored(run, "--judge", "llm", "--out", "run")
    scored(run, "--judge", "llm", "--out", "second")
    assert len(hostile.log) == 1


def test_answers_that_an_earlier_version_kept_are_never_used_and_can_be_cleared(run, folders, monkeypatch):
    here, _, own = folders
    env_file(here / "own", own.url)
    monkeypatch.chdir(here / "own")
    scored(run, "--judge", "llm", "--out", "first", "--cache", "v.sqlite")
    with sqlite3.connect("v.sqlite") as connection:  # as a file was before servers were told apart
        connection.execute("ALTER TABLE verdicts DROP COLUMN server")
        connection.execute("UPDATE verdicts SET key = 'an old key'")
    code, out, _ = run("cache", "info", "--cache", "v.sqlite")
    assert code == 0
    assert "1 of llm with test-model: of an earlier version, never used; clear removes them" in out
    summary, _ = scored(run, "--judge", "llm", "--out", "second", "--cache", "v.sqlite")
    assert (summary["judge"]["llm_calls"], summary["judge"]["cached"]) == (1, 0)
    code, out, _ = run("cache", "info", "--cache", "v.sqlite", "--json")
    head = {"judge": "llm", "model": "test-model", "entries": 1}
    assert json.loads(out)["by"] == [{**head, "server": ""}, {**head, "server": own.url}]
    code, out, _ = run("cache", "info", "--cache", "v.sqlite")
    assert f"1 of llm with test-model at {own.url}" in out
    code, _, err = run("cache", "clear", "--cache", "v.sqlite")
    assert "2 answers removed" in err


def test_runs_that_two_servers_judged_are_compared_with_a_warning_that_names_both(run, folders, monkeypatch):
    here, first, second = folders
    monkeypatch.chdir(here / "own")
    for server, out in ((first, "a"), (second, "b")):
        env_file(here / "own", server.url)
        scored(run, "--judge", "llm", "--out", out)
    for command in ("compare", "leaderboard"):
        code, out, err = run(command, "a", "b", "--json")
        assert code == 0, err
        [warning] = [each for each in json.loads(out)["warnings"] if "different servers" in each]
        assert f"{first.url} in a; {second.url} in b" in warning
        code, out, _ = run(command, "a", "a", "--json")
        assert code == 0
        assert not [each for each in json.loads(out)["warnings"] if "different servers" in each]
