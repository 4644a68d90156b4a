"""What keeps a session from being had is said with the fix, before anything is started."""

import sys

import pytest

import metareview as mr
from metareview.engines.spark import is_frame, spark_session
from metareview.errors import UsageError


@pytest.fixture
def history(tmp_path):
    path = tmp_path / "events.jsonl"
    path.write_text('{"repo": "o/r", "pr": 1, "at": "2026-01-01", "kind": "opened", "actor": "a"}\n')
    return path


@pytest.fixture(autouse=True)
def no_session(monkeypatch):
    """Whatever session another test has."""
    from pyspark.sql import SparkSession

    monkeypatch.setattr(SparkSession, "getActiveSession", classmethod(lambda cls: None))


def test_without_a_session_a_master_is_asked_for(history):
    with pytest.raises(UsageError, match=r"there is no Spark session. Give --spark-master URL"):
        mr.evaluate_routing(history, engine="spark", routers=["recency"])


def test_without_java_it_is_named_with_the_package(history, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setattr("shutil.which", lambda name: None)
    with pytest.raises(UsageError, match=r"Install Java 17 or later.*apt-get install default-jre-headless"):
        mr.evaluate_routing(history, engine="spark", spark_master="local[2]", routers=["recency"])


def test_without_the_extra_it_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyspark.sql", None)
    with (
        pytest.raises(
            UsageError, match=r'--engine spark needs an extra. Install it: pip install "metareview\[spark\]"'
        ),
        spark_session("local[2]"),
    ):
        pass


def test_only_frames_of_sparks_are_taken_for_frames():
    import pandas as pd

    assert not any(map(is_frame, (pd.DataFrame(), [], "events.jsonl", (), None)))
