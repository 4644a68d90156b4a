"""What every part that uses a network shares: replies of bounded size, and headers that may hold anything."""

import gzip
import math
import socket
import threading
import time
import tracemalloc
import zlib
from contextlib import suppress
from datetime import UTC, datetime

import pytest

from metareview.errors import UsageError
from metareview.http.connections import Compressed, Connections, UnusableReply, retry_after
from metareview.http.secret import Secret
from metareview.judges.remote.embedding import EmbeddingJudge
from metareview.judges.remote.llm import LlmJudge
from metareview.sources.access import Access
from metareview.sources.download import DownloadFailed, Retries, download
from metareview.sources.gitlab import GitLabApi
from model_server import ModelServer, Reply, verdict
from pulls import SwiftClock
from scripted_server import Reply as Answer
from scripted_server import ScriptedServer

MEGABYTE = 2**20
SMALL = gzip.compress(bytes(48 * MEGABYTE))  # 49 kB
BOMBS = {
    "gzip": SMALL,
    "x-gzip": SMALL,
    "gzip, gzip": gzip.compress(SMALL),
    "deflate": zlib.compress(bytes(48 * MEGABYTE)),
    "br": b"\x5b" * 50_000,
    "zstd": b"\x28\xb5\x2f\xfd" * 10_000,
}


class Bombing(ScriptedServer):
    def __init__(self, encoding, status=200):
        bomb = Answer(status, BOMBS[encoding], {"content-encoding": encoding})
        super().__init__(lambda exchange: bomb)


@pytest.fixture
def few_megabytes():
    """What is done in the test must not take more memory than this."""
    tracemalloc.start()
    yield
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 8 * MEGABYTE


@pytest.mark.parametrize("encoding", BOMBS)
def test_a_compressed_reply_is_never_unpacked(few_megabytes, encoding):
    with Bombing(encoding) as server:
        connections = Connections(server.url)
        with pytest.raises(Compressed, match="compressed"):
            connections.exchange("GET", server.url, headers={"X": "y"}, timeout=10)
        connections.close()
    assert [exchange.headers["accept-encoding"] for exchange in server.log] == ["identity"]
    assert server.log[0].headers["x"] == "y"


def test_a_compressed_error_is_an_error_without_words(few_megabytes):
    with Bombing("gzip", 401) as server:
        connections = Connections(server.url)
        reply = connections.exchange("GET", server.url, headers={}, timeout=10)
        connections.close()
    assert (reply.status, reply.data) == (401, b"")


@pytest.mark.parametrize("encoding", ["identity", "", "IDENTITY"])
def test_what_is_not_compressed_by_its_own_words_is_taken(encoding):
    with ScriptedServer(lambda exchange: Answer(200, b"as it is", {"content-encoding": encoding})) as server:
        connections = Connections(server.url)
        assert connections.exchange("GET", server.url, headers={}, timeout=10).data == b"as it is"
        connections.close()


def test_a_reply_is_not_read_beyond_its_bound(few_megabytes):
    with ScriptedServer(lambda exchange: Answer(200, b"0" * 2_000_000)) as server:
        connections = Connections(server.url)
        with pytest.raises(OSError, match="larger than 1 MB"):
            connections.exchange("GET", server.url, headers={}, timeout=10, largest=MEGABYTE)
        connections.close()


@pytest.mark.parametrize("judge", [LlmJudge, EmbeddingJudge])
def test_a_model_server_that_compresses_is_a_wrong_setting(few_megabytes, judge):
    with ModelServer(lambda exchange: Reply(body=SMALL, headers={"content-encoding": "gzip"})) as server:
        asking = judge(server.settings(judge.kind), backoff=0.001)
        with pytest.raises(UsageError, match=r"compressed, .*Turn its compression off"):
            asking.ask([(f"a {i}", f"b {i}") for i in range(40)])
        asking.close()
        assert 1 <= len(server.log) <= 16


def test_a_compressed_answer_among_good_ones_costs_its_own_pair_one_request():
    def script(exchange):
        good = exchange.notes[0] != "a 3"
        return verdict(True) if good else Reply(body=SMALL, headers={"content-encoding": "gzip"})

    with ModelServer(script) as server:
        asking = LlmJudge(server.settings(), backoff=0.001, concurrency=1)
        verdicts = asking.ask([(f"a {i}", f"b {i}") for i in range(5)])
        asking.close()
    assert [v.match for v in verdicts] == [1, 1, 1, -1, 1]
    assert "compressed" in verdicts[3].reason
    assert len(server.log) == 5


@pytest.mark.parametrize("judge", [LlmJudge, EmbeddingJudge])
def test_a_models_reply_is_bounded(judge):
    assert judge.operation.largest_reply <= 32 * MEGABYTE
    with ModelServer(lambda exchange: Reply(body=b"0" * (judge.operation.largest_reply + 2))) as server:
        asking = judge(server.settings(judge.kind), backoff=0.001)
        [only] = asking.ask([("a", "b")])
        asking.close()
    assert only.match == -1
    assert "larger than" in only.reason


def test_an_api_that_compresses_is_told_of_and_not_asked_again(few_megabytes):
    with Bombing("gzip, gzip") as server:
        api = GitLabApi(Access("gitlab.test", f"{server.url}/api/v4", Secret("t")), SwiftClock(), print)
        with pytest.raises(UsageError, match=r"gitlab\.test sends a compressed reply"):
            api.get("projects", lambda reply: reply.data)
        api.close()
    assert len(server.log) == 1


def test_a_compressed_file_is_not_unpacked(few_megabytes, tmp_path):
    with Bombing("gzip") as server, pytest.raises(DownloadFailed, match="compressed"):
        download(server.url, tmp_path / "f", "0" * 64, retries=Retries(seconds=10, attempts=3, pause=0))
    assert len(server.log) == 1
    assert not (tmp_path / "f").exists()


NOW = datetime(2015, 10, 21, 7, 28, 0, tzinfo=UTC)


@pytest.mark.parametrize("text", ["1e400", "9" * 400, "9" * 5000])
def test_a_wait_beyond_all_numbers_has_no_end(text):
    assert retry_after({"retry-after": text}, NOW) == math.inf
    assert retry_after({"retry-after-ms": text}, NOW) == math.inf


@pytest.mark.parametrize("text", ["-1e400", "-" + "9" * 400, "-5", "Mon, 01 Jan 0001 00:00:00 +2359"])
def test_a_wait_until_before_now_is_none_at_all(text):
    assert retry_after({"retry-after": text}, NOW) == 0


@pytest.mark.parametrize(
    "text",
    [
        "nan", "-inf", "Infinity", "[1]", '{"seconds": 3}', "true", ":", "a:b",
        "Fri, 31 Dec 99999 23:59:59 GMT",
        f"Fri, 31 Dec {'9' * 20} 23:59:59 GMT",
        f"Fri, 31 Dec 2030 {'9' * 30}:59:59 GMT",
        f"Fri, 31 Dec 2030 23:59:59 +{'9' * 30}",
        f"Fri, {'9' * 5000} Dec 2030 23:59:59 GMT",
    ],
)  # fmt: skip
def test_a_wait_that_is_no_time_is_none(text):
    assert retry_after({"retry-after": text}, NOW) is None


@pytest.mark.parametrize(
    ("head", "again", "pause"),
    [
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n", 0.02),
        (b"", b"HTTP/1.1 100 Continue\r\n\r\n" * 2000, 0),
        (b"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 200 OK\r\nx: ", b"y", 0.02),
        (b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n0\r\n", b"e: f\r\n" * 1000, 0),
    ],
)
def test_one_deadline_for_all_that_a_server_may_send(head, again, pause):
    def serve():
        connection, _ = listener.accept()
        with connection, suppress(OSError):
            connection.recv(2**16)
            connection.sendall(head)
            while True:
                connection.sendall(again)
                time.sleep(pause)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        threading.Thread(target=serve, daemon=True).start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        connections = Connections(url)
        with pytest.raises(TimeoutError):
            connections.exchange("GET", url, headers={}, timeout=0.3)
        connections.close()


def test_what_follows_a_preliminary_reply_is_not_taken_for_the_next_one():
    connected = []

    def serve():
        for _ in range(2):
            connection, _ = listener.accept()
            connected.append(connection)
            with suppress(OSError):
                connection.recv(2**16)
                connection.sendall(b"HTTP/1.1 103 Early Hints\r\n\r\n")
                time.sleep(0.1)
                connection.sendall(b"HTTP/1.1 200 OK\r\ncontent-length: 5\r\n\r\nfirst")

    with socket.create_server(("127.0.0.1", 0)) as listener:
        server = threading.Thread(target=serve, daemon=True)
        server.start()
        url = f"http://127.0.0.1:{listener.getsockname()[1]}"
        connections = Connections(url)
        for _ in range(2):
            with pytest.raises(UnusableReply, match="HTTP 103"):
                connections.exchange("GET", url, headers={}, timeout=5)
        connections.close()
        server.join()
    assert len(connected) == 2
    for connection in connected:
        connection.close()
