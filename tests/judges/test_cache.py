import base64
import json
import platform
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import numpy as np
import pytest

from metareview.errors import UsageError
from metareview.judges.protocol import Question
from metareview.judges.remote import asking as asking_module
from metareview.judges.remote import cache as cache_module
from metareview.judges.remote.addressed import AddressedModel, AddressedQuestion
from metareview.judges.remote.cache import CacheCount, CacheInfo, Claim, VerdictCache, default_cache_path, verdict_key
from metareview.judges.remote.embedding import EmbeddingJudge
from metareview.judges.remote.llm import LlmJudge, PairPrompt
from metareview.judges.remote.settings import ModelSettings
from metareview.judges.remote.validity import ValidityModel, ValidityQuestion
from metareview.model.comment import Comment
from model_server import ModelServer, Reply, chat, verdict

VALUE = {"match": True, "confidence": 0.5, "reason": "é \ud800"}


@pytest.fixture
def cache(tmp_path):
    cache = VerdictCache(tmp_path / "deep" / "er" / "verdicts.sqlite")
    yield cache
    cache.close()


def test_what_was_put_is_found_by_another_reader(cache):
    cache.put("k", VALUE, judge="llm", model="m")
    other = VerdictCache(cache.path)
    assert other.get_many(["k", "absent"]) == {"k": VALUE}
    other.close()


def test_a_later_value_replaces_an_earlier_one(cache):
    cache.put("k", {"v": 1}, judge="llm", model="m")
    cache.put("k", {"v": 2}, judge="llm", model="m")
    assert cache.get_many(["k"]) == {"k": {"v": 2}}
    assert cache.info().entries == 1


def test_many_keys_at_once(cache):
    keys = [f"k{i}" for i in range(1203)]
    for key in keys[::2]:
        cache.put(key, {"v": key}, judge="llm", model="m")
    assert cache.get_many(keys) == {key: {"v": key} for key in keys[::2]}


def test_reading_makes_no_file(cache):
    assert cache.get_many(["k"]) == {}
    assert cache.info() == CacheInfo(path=str(cache.path), entries=0, bytes=0, by=())
    assert cache.clear() == 0
    assert not cache.path.exists()


def test_info_counts_by_judge_and_model_and_clear_removes_all(cache):
    for key, judge, model in [("a", "llm", "x"), ("b", "llm", "x"), ("c", "embedding", "x"), ("d", "llm", "w")]:
        cache.put(key, {"v": "x" * 5000}, judge=judge, model=model)
    info = cache.info()
    assert info.by == (CacheCount("embedding", "x", 1), CacheCount("llm", "w", 1), CacheCount("llm", "x", 2))
    assert info.entries == 4
    assert info.bytes > 20_000
    assert cache.clear() == 4
    assert cache.info().entries == 0
    assert cache.info().bytes < 20_000


def test_the_file_is_in_wal_mode_and_has_json_and_no_notes(cache):
    key = verdict_key("llm", "m", "http://h/v1", "1", {"temperature": 0}, ["the generated note", "the reference"])
    cache.put(key, {"match": True}, judge="llm", model="m", server="http://h/v1")
    connection = sqlite3.connect(cache.path)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    [row] = connection.execute("SELECT * FROM verdicts").fetchall()
    connection.close()
    assert row[:3] == (key, "llm", "m")
    assert json.loads(row[3]) == {"match": True}
    assert row[4:] == ("http://h/v1",)
    files = [cache.path, Path(f"{cache.path}-wal")]
    assert not any(b"the generated note" in file.read_bytes() for file in files)


def test_every_part_of_the_key_changes_it():
    base = ("llm", "m", "http://h", "1", {"temperature": 0, "a": 1}, ["x", "y"])
    keys = {verdict_key(*base)}
    changes = ["cascade", "m2", "http://g", "2", {"temperature": 1, "a": 1}, ["y", "x"]]
    for place, change in enumerate(changes):
        keys.add(verdict_key(*base[:place], change, *base[place + 1 :]))
    keys.add(verdict_key(*base[:5], ["xy", ""]))
    assert len(keys) == 8
    assert verdict_key("llm", "m", "http://h", "1", {"a": 1, "temperature": 0}, ("x", "y")) == verdict_key(*base)
    assert verdict_key(*base[:5], ["\ud800"]) != verdict_key(*base[:5], ["\ud801"])


def test_the_key_is_sha256_of_canonical_json():
    # printf %s '{"judge":"j","model":"m","notes":["a","b"],"parameters":{},"prompt":"1","server":"s"}' | sha256sum
    expected = "6ba62b77041576fb30bbb6094f7b757b3d98fb04011989eb6b3ab76d58e3ba8d"
    assert verdict_key("j", "m", "s", "1", {}, ["a", "b"]) == expected


def test_a_value_that_is_no_object_counts_as_absent(cache):
    cache.put("good", {"v": 1}, judge="llm", model="m")
    connection = sqlite3.connect(cache.path)
    for key, text in [("list", "[]"), ("cut", '{"v":'), ("deep", "[" * 100_000), ("blob", b"\x00")]:
        connection.execute("INSERT INTO verdicts (key, judge, model, value) VALUES (?, 'llm', 'm', ?)", (key, text))
    connection.commit()
    connection.close()
    assert cache.get_many(["good", "list", "cut", "deep", "blob"]) == {"good": {"v": 1}}


def test_what_json_cannot_hold_is_never_stored(cache):
    with pytest.raises(ValueError, match="JSON"):
        cache.put("k", {"score": float("nan")}, judge="llm", model="m")
    assert cache.get_many(["k"]) == {}


def broken_file(path):
    path.write_bytes(b"this is no database, but a text that somebody wrote\n" * 100)


def broken_pages(path):
    cache = VerdictCache(path)
    for i in range(300):
        cache.put(f"k{i}", {"v": "x" * 200}, judge="llm", model="m")
    cache.close()
    data = bytearray(path.read_bytes())
    data[4096:] = b"\xff" * (len(data) - 4096)
    path.write_bytes(data)


def other_program(path):
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE verdicts (id INTEGER)")
    connection.commit()
    connection.close()


@pytest.mark.parametrize("make", [broken_file, broken_pages, other_program])
def test_a_file_that_is_no_cache_is_left_alone_and_the_fix_named(tmp_path, make):
    path = tmp_path / "v.sqlite"
    make(path)
    before = path.read_bytes()
    for use in (lambda c: c.get_many(["k1"]), lambda c: c.put("k", {}, judge="j", model="m"), VerdictCache.info):
        cache = VerdictCache(path)
        with pytest.raises(UsageError, match=r"v\.sqlite is not a verdict cache .*--cache FILE"):
            use(cache)
        cache.close()
    assert path.read_bytes() == before


def test_a_place_that_cannot_be_written_is_a_usage_error(tmp_path):
    (tmp_path / "file").write_text("")
    for path in (tmp_path / "file" / "v.sqlite", tmp_path):
        cache = VerdictCache(path)
        with pytest.raises(UsageError, match=r"--cache FILE, or use --no-cache"):
            cache.put("k", {}, judge="llm", model="m")
        cache.close()


@pytest.mark.parametrize("judge", [LlmJudge, EmbeddingJudge])
@pytest.mark.parametrize("kept", [False, True])
def test_a_cache_that_cannot_be_written_is_noticed_before_anything_is_asked(tmp_path, monkeypatch, judge, kept):
    path = tmp_path / "v.sqlite"
    if kept:
        VerdictCache(path).put("k", {}, judge="llm", model="m")
    # What a file that may only be read answers; to whoever may write everything, as in many a container, by hand.
    connect = sqlite3.connect
    monkeypatch.setattr(sqlite3, "connect", lambda file, **how: read_only(connect(file, **how)))
    with ModelServer(lambda exchange: verdict(True)) as server:
        asking = judge(server.settings(judge.kind), cache=VerdictCache(path))
        with pytest.raises(UsageError, match=r"cannot be used .*--cache FILE, or use --no-cache"):
            asking.ask([(f"a {i}", f"b {i}") for i in range(40)])
        asking.close()
        assert server.log == []


ASKED = {
    "pair": lambda settings, cache: LlmJudge(settings, cache=cache).ask([("a", "b")]),
    "list": lambda settings, cache: LlmJudge(settings, cache=cache, ask="review").judge([QUESTION]),
    "embedding": lambda settings, cache: EmbeddingJudge(settings, cache=cache).ask([("a", "b")]),
    "addressed": lambda settings, cache: AddressedModel(settings, cache=cache).ask([AddressedQuestion("a", "b", "c")]),
    "validity": lambda settings, cache: ValidityModel(settings, cache=cache).ask([ValidityQuestion(("a",), ("b",))]),
}
QUESTION = Question(["a"], ["b"], np.zeros((1, 2), np.int64))


@pytest.mark.parametrize("kind", ASKED)
def test_a_verdict_counts_for_the_server_that_gave_it_alone(cache, kind):
    answers = {"pair": {"match": True, "confidence": 1}, "list": {"matches": []}, "addressed": {"verdict": "not"}}
    said = json.dumps(answers.get(kind, {"verdict": "valid"}))
    vectors = {"data": [{"embedding": [1.0, 0.0]}] * 2}
    script = (lambda exchange: Reply(200, vectors)) if kind == "embedding" else (lambda exchange: chat(said))
    with ModelServer(script) as first, ModelServer(script) as second:
        for server in (first, first, second):
            ASKED[kind](server.settings("EMBEDDING" if kind == "embedding" else "LLM"), cache)
    assert (len(first.log), len(second.log)) == (1, 1)
    assert {count.server for count in cache.info().by} == {first.url, second.url}


PAID_FOR = {
    "pair": "bba7f20b66fdde3e9a56730c56eaf948279b6361391655af1797587312a5ff84",
    "list": "cb76a3c9add4d0edaa230c67e590205ce4481f82dc9be938bfedfb354ee59505",
    "embedding": "58945f64d7d9d50cc409f09ef15ecf8163ad48077089b3eaf483af7a2abad0c1",
    "addressed": "ac1706fbe0e61a9c7367f44128841ae5190dff4c319ec5b04a0e8daf92522bf8",
    "validity": "c332c897f44c0031923fe113b50714d5569085ea860496cad3f80568a7e4a5a5",
}
"""A key of each kind of question, as the caches of users have them."""
CLOSED, LEAKS = "The file is never closed", "caf\u00e9 leaks \U0001f4a5"


@pytest.mark.parametrize("kind", PAID_FOR)
def test_verdicts_that_were_paid_for_are_found_again(cache, kind):
    """Without a server: whatever is not found would be an error or undecided."""
    values = {
        "pair": {"match": True, "confidence": 0.9, "reason": "old"},
        "list": {"matches": [{"reference": 0, "comment": 1, "confidence": 0.9, "reason": "old"}], "open": []},
        "embedding": {"vector": base64.b64encode(np.array([0.6, 0.8], "<f4").tobytes()).decode()},
        "addressed": {"verdict": "partly", "reason": "old"},
        "validity": {"verdict": "valid", "reason": "old"},
    }
    cache.put(PAID_FOR[kind], values[kind], judge=kind, model="model-1")
    options = {"cache": cache, "max_calls": 0}
    settings = ModelSettings(
        "https://api.example.com/v1", "model-1", kind="EMBEDDING" if kind == "embedding" else "LLM"
    )
    pairs = np.array([[0, 0], [1, 0]], np.int64)
    comment = Comment("leak", path="a.py", from_line=3, to_line=4)
    if kind == "pair":
        assert LlmJudge(settings, **options).ask([(CLOSED, LEAKS)])[0].score == 0.9
    elif kind == "list":
        [answer] = LlmJudge(settings, ask="review", **options).judge([Question([CLOSED, "style"], [LEAKS], pairs)])
        assert sorted(answer.score) == [0.0, 0.9]
    elif kind == "embedding":
        assert EmbeddingJudge(settings, **options).ask([(CLOSED, CLOSED)])[0].score == pytest.approx(1)
    elif kind == "addressed":
        asked = AddressedQuestion.of(comment, "f = open()", "+f.close()")
        assert AddressedModel(settings, **options).ask([asked])[0].verdict == "partly"
    else:
        issue = ValidityQuestion.of(["At a.py, line 3:\nleak", "second"], ["caf\u00e9"])
        assert ValidityModel(settings, **options).ask([issue])[0].answer.verdict == "valid"


def read_only(connection):
    connection.execute("PRAGMA query_only = ON")
    return connection


def test_a_key_is_claimed_by_one_at_a_time(cache):
    other = VerdictCache(cache.path)
    cache.put("answered", {"v": 1}, judge="llm", model="m")
    assert cache.claim(["a", "b", "answered"], 60) == Claim({"answered": {"v": 1}}, frozenset({"a", "b"}))
    assert cache.claim(["a"], 60).mine == {"a"}  # one's own can be claimed again
    assert other.claim(["a", "b", "c"], 60) == Claim({}, frozenset({"c"}))
    cache.release(["a", "c"])
    assert other.claim(["a", "b"], 60).mine == {"a"}  # c was not the other's to release
    cache.close()
    assert other.claim(["b"], 60).mine == {"b"}
    other.close()


def test_a_claim_ends_with_its_time_and_with_its_process(cache):
    other = VerdictCache(cache.path)
    cache.claim(["late"], -1)
    assert other.claim(["late"], 60).mine == {"late"}
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    here = cache._owner.rsplit("/", 2)[0]
    # A container of this machine may have the machine's name, and processes of the same numbers.
    assert here.startswith(platform.node())
    owners = {"dead": f"{here}/{gone.pid}/x", "elsewhere": f"{platform.node()} pid:[1]/{gone.pid}/x"}
    cache._owner = owners["dead"]
    cache.claim(["dead"], 60)
    cache._owner = owners["elsewhere"]
    cache.claim(["elsewhere"], 60)
    assert other.claim(["dead", "elsewhere"], 60).mine == {"dead"}
    other.close()


def test_a_claim_lasts_for_as_long_as_it_is_renewed_and_ends_with_its_answer(cache, monkeypatch):
    now = 1000.0
    monkeypatch.setattr(cache_module.time, "time", lambda: now)
    other = VerdictCache(cache.path)
    cache.claim(["a", "b"], 60)
    for _ in range(20):
        now += 40
        cache.renew(60)
        assert other.claim(["a"], 60).mine == frozenset()
    now += 61
    assert other.claim(["a"], 60).mine == {"a"}
    cache.renew(60)  # what is somebody else's by now stays theirs
    assert other.claim(["b"], 60).mine == frozenset()
    cache.put("b", {"v": 1}, judge="llm", model="m")
    connection = sqlite3.connect(cache.path)
    assert connection.execute("SELECT key FROM claims").fetchall() == [("a",)]
    connection.close()
    other.close()


def test_a_claim_of_a_clock_that_is_far_ahead_is_not_waited_for(cache, monkeypatch):
    """Of a machine that is gone, whose clock was two hours ahead: nobody asks for its keys any more."""
    ahead, little = VerdictCache(cache.path), VerdictCache(cache.path)
    now = 1000.0
    for other, seconds, key in ((ahead, 7200, "far"), (little, 20, "near")):
        other._owner = f"another-machine/1/{key}"
        monkeypatch.setattr(cache_module.time, "time", lambda shift=seconds: now + shift)
        assert other.claim([key], 60).mine == {key}
    monkeypatch.setattr(cache_module.time, "time", lambda: now)
    assert cache.claim(["far", "near"], 60).mine == {"far"}
    ahead.close()
    little.close()


def test_a_run_asks_for_what_a_machine_with_a_clock_ahead_claimed(tmp_path):
    cache = VerdictCache(tmp_path / "v.sqlite")
    with ModelServer(lambda exchange: verdict(True)) as server, LlmJudge(server.settings(), cache=cache) as judge:
        key = judge.key(PairPrompt(), ("a", "b"))
        cache.claim([key], 60)
        with sqlite3.connect(cache.path) as connection:
            owner = "another-machine/1/x"
            connection.execute("UPDATE claims SET owner = ?, until = ?", [owner, time.time() + 7260])
        connection.close()
        found = []
        asking = threading.Thread(target=lambda: found.extend(judge.ask([("a", "b")])), daemon=True)
        asking.start()
        asking.join(20)
    assert [each.match for each in found] == [1]


@pytest.mark.parametrize("judge", [LlmJudge, EmbeddingJudge])
def test_a_request_that_outlives_its_lease_keeps_its_claim(tmp_path, monkeypatch, judge):
    """The server takes ten times as long to answer, as one that is loading its model may."""
    monkeypatch.setattr(asking_module, "LEASE", 0.3)
    monkeypatch.setattr(asking_module, "RENEWED_EVERY", 0.1)

    def script(exchange):
        reply = verdict(True)
        if judge is EmbeddingJudge:
            reply.body = {"data": [{"embedding": [1.0, 0.0]} for _ in exchange.body["input"]]}
        reply.delay = 3
        return reply

    with ModelServer(script) as server:
        judges = [judge(server.settings(judge.kind), cache=VerdictCache(tmp_path / "v.sqlite")) for _ in range(2)]
        found = []
        threads = [threading.Thread(target=lambda each=each: found.extend(each.ask([("a", "b")]))) for each in judges]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        for each in judges:
            each.close()
    assert [verdict.match for verdict in found] == [1, 1]
    assert len(server.log) == 1


def test_a_cache_of_an_earlier_version_takes_claims(cache):
    cache.put("k", {"v": 1}, judge="llm", model="m")
    connection = sqlite3.connect(cache.path)
    assert connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall() == [("verdicts",)]
    connection.close()
    assert cache.claim(["k", "new"], 60) == Claim({"k": {"v": 1}}, frozenset({"new"}))
    assert cache.info().entries == 1


@pytest.mark.skipif(sys.platform in ("win32", "darwin"), reason="these have other folders")
@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("/x", "/x/metareview/verdicts.sqlite"),
        (None, "~/.cache/metareview/verdicts.sqlite"),
        ("relative", "~/.cache/metareview/verdicts.sqlite"),  # invalid by its specification
    ],
)
def test_the_default_place(monkeypatch, given, expected):
    monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
    if given is not None:
        monkeypatch.setenv("XDG_CACHE_HOME", given)
    assert default_cache_path() == Path(expected).expanduser()


def test_threads_share_a_cache(cache):
    def write(start):
        for i in range(start, start + 50):
            cache.put(f"k{i}", {"v": i}, judge="llm", model="m")

    threads = [threading.Thread(target=write, args=(start,)) for start in range(0, 400, 50)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert cache.get_many([f"k{i}" for i in range(400)]) == {f"k{i}": {"v": i} for i in range(400)}


WRITER = """
import sys
from metareview.judges.remote.cache import VerdictCache
path, name = sys.argv[1:]
cache = VerdictCache(path)
for i in range(150):
    cache.put(f"{name}{i}", {"v": i}, judge="llm", model=name)
    cache.put("shared", {"v": name}, judge="llm", model=name)
    assert cache.get_many([f"{name}{i}"]) == {f"{name}{i}": {"v": i}}
"""


def test_processes_that_start_together_share_a_new_file(tmp_path):
    path = tmp_path / "v.sqlite"
    names = ["a", "b", "c"]
    writers = [
        subprocess.Popen([sys.executable, "-c", WRITER, str(path), name], stderr=subprocess.PIPE) for name in names
    ]
    problems = [writer.communicate(timeout=60)[1].decode() for writer in writers]
    assert problems == ["", "", ""]
    cache = VerdictCache(path)
    assert cache.info().entries == 3 * 150 + 1
    assert cache.get_many(["shared"])["shared"]["v"] in names
    cache.close()
