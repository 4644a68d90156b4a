import hashlib
import subprocess
import sys

import pytest

from file_server import FileServer, wait_until
from metareview.sources.download import DownloadFailed, Retries, download

BODY = bytes(range(256)) * 2000  # half a megabyte
HASH = hashlib.sha256(BODY).hexdigest()
QUICK = Retries(seconds=5, attempts=3, pause=0)


@pytest.fixture
def server():
    served = FileServer({"/f": BODY})
    yield served
    served.close()


def fetched(server, tmp_path, sha256=HASH, retries=QUICK, **options):
    target = tmp_path / "in" / "f"
    download(f"{server.url}/f", target, sha256, retries=retries, **options)
    return target


def leftovers(tmp_path):
    return sorted(path.name for path in (tmp_path / "in").iterdir() if not path.name.startswith("."))


def test_a_file_is_put_in_place_and_nothing_else_is_left(server, tmp_path):
    told = []
    target = fetched(server, tmp_path, progress=lambda done, total: told.append((done, total)))
    assert target.read_bytes() == BODY
    assert leftovers(tmp_path) == ["f"]
    assert told[-1] == (512, 512)
    assert server.requests == [("/f", None)]


def test_what_broke_off_is_resumed_by_range(server, tmp_path):
    server.plan = [("cut", 300_000)]
    assert fetched(server, tmp_path).read_bytes() == BODY
    assert server.requests == [("/f", None), ("/f", "bytes=300000-")]


def test_a_part_of_an_earlier_process_is_resumed(server, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/f.part").write_bytes(BODY[:1000])
    assert fetched(server, tmp_path).read_bytes() == BODY
    assert server.requests == [("/f", "bytes=1000-")]


def test_a_server_that_ignores_ranges_starts_again(server, tmp_path):
    server.ranges, server.plan = False, [("cut", 300_000)]
    assert fetched(server, tmp_path).read_bytes() == BODY
    assert server.requests[1] == ("/f", "bytes=300000-")


def test_a_part_of_another_file_is_found_out_by_the_hash_and_fetched_anew(server, tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/f.part").write_bytes(b"x" * 1000)
    assert fetched(server, tmp_path).read_bytes() == BODY
    assert server.requests == [("/f", "bytes=1000-"), ("/f", None)]


@pytest.mark.parametrize("size", [len(BODY) + 1, len(BODY)])
def test_a_part_that_is_too_long_is_fetched_anew(server, tmp_path, size):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/f.part").write_bytes(b"x" * size)
    assert fetched(server, tmp_path).read_bytes() == BODY
    assert server.requests == [("/f", f"bytes={size}-"), ("/f", None)]


@pytest.mark.parametrize("span", ["bytes 0-9/10", f"bytes {'9' * 5000}-/1", "nonsense", ""])
def test_a_range_that_was_not_asked_for_starts_anew(server, tmp_path, span):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/f.part").write_bytes(BODY[:1000])
    server.plan = [("span", span)]
    assert fetched(server, tmp_path).read_bytes() == BODY
    assert server.requests == [("/f", "bytes=1000-"), ("/f", None)]


def test_a_part_that_is_whole_needs_no_network(tmp_path):
    (tmp_path / "in").mkdir()
    (tmp_path / "in/f.part").write_bytes(BODY)
    download("http://127.0.0.1:9/f", tmp_path / "in/f", HASH, retries=QUICK)
    assert (tmp_path / "in/f").read_bytes() == BODY


def test_another_file_is_refused_with_both_hashes_and_not_kept(server, tmp_path):
    with pytest.raises(DownloadFailed) as error:
        fetched(server, tmp_path, sha256="0" * 64)
    assert HASH in str(error.value)
    assert "0" * 64 in str(error.value)
    assert leftovers(tmp_path) == []


@pytest.mark.parametrize("status", [500, 503, 429])
def test_what_may_pass_is_asked_again(server, tmp_path, status):
    server.plan = [status, status]
    assert fetched(server, tmp_path).read_bytes() == BODY
    assert len(server.requests) == 3


def test_what_does_not_pass_is_given_up(server, tmp_path):
    server.plan = [503] * 9
    with pytest.raises(DownloadFailed, match="HTTP 503"):
        fetched(server, tmp_path)
    assert len(server.requests) == QUICK.attempts


def test_not_found_is_not_asked_again(server, tmp_path):
    server.plan = [404]
    with pytest.raises(DownloadFailed, match="HTTP 404"):
        fetched(server, tmp_path)
    assert len(server.requests) == 1


def test_a_server_that_is_not_there(tmp_path):
    with pytest.raises(DownloadFailed, match="no connection"):
        download("http://127.0.0.1:9/f", tmp_path / "f", HASH, retries=QUICK)


def test_a_server_that_drips_is_given_up_and_what_came_is_kept(server, tmp_path):
    server.plan = [("drip", 100_000), ("drip", 10), ("drip", 10)]
    with pytest.raises(DownloadFailed, match="too slow"):
        fetched(server, tmp_path, retries=Retries(seconds=1, attempts=2, pause=0))
    assert leftovers(tmp_path) == ["f.part"]
    part = (tmp_path / "in/f.part").read_bytes()
    assert len(part) >= 100_000
    assert BODY.startswith(part)


def test_a_server_that_breaks_off_again_and_again_at_one_place_is_given_up(server, tmp_path):
    server.ranges, server.plan = False, [("cut", 200_000)] * 9
    with pytest.raises(DownloadFailed, match="broke off"):
        fetched(server, tmp_path)
    assert len(server.requests) == QUICK.attempts


def test_a_server_that_does_not_say_how_much_it_sends(server, tmp_path):
    server.plan = [("unsized", 300_000)]  # and so it seems to be all of it
    with pytest.raises(DownloadFailed, match="another file"):
        fetched(server, tmp_path)
    server.plan = [("unsized", len(BODY))]
    assert fetched(server, tmp_path).read_bytes() == BODY


def test_a_redirect_to_another_host_is_followed(server, tmp_path):
    other = FileServer({"/elsewhere": BODY})
    server.plan = [f"{other.url}/elsewhere"]
    assert fetched(server, tmp_path).read_bytes() == BODY
    assert other.requests == [("/elsewhere", None)]
    other.close()


def test_a_redirect_without_end_and_one_to_no_web_address_are_refused(server, tmp_path):
    server.plan = ["/f"] * 20
    with pytest.raises(DownloadFailed, match="without end"):
        fetched(server, tmp_path)
    for odd in ("file:///etc/hostname", "http://[", "//", ""):
        server.plan = [odd] * 9
        with pytest.raises(DownloadFailed):
            fetched(server, tmp_path)


def test_from_https_no_redirect_leads_to_http(monkeypatch, server, tmp_path):
    from contextlib import contextmanager
    from types import SimpleNamespace

    from metareview.http.connections import Connections

    @contextmanager
    def redirecting(self, method, url, **options):
        yield SimpleNamespace(status=302, headers={"Location": f"{server.url}/f"})

    monkeypatch.setattr(Connections, "open", redirecting)
    with pytest.raises(DownloadFailed, match="from https"):
        download("https://bench.example/f", tmp_path / "f", HASH, retries=QUICK)
    assert server.requests == []


@pytest.mark.parametrize("step", [200, ("unsized", len(BODY))])
def test_a_file_that_is_too_large_is_refused_by_what_is_announced_or_by_what_comes(server, tmp_path, step):
    server.plan = [step]
    with pytest.raises(DownloadFailed, match="larger than"):
        fetched(server, tmp_path, largest=len(BODY) - 1)
    assert leftovers(tmp_path) == []


def test_through_a_proxy(server, tmp_path, monkeypatch):
    monkeypatch.setenv("http_proxy", server.url)
    target = tmp_path / "f"
    download("http://bench.invalid/f", target, HASH, retries=QUICK)
    assert target.read_bytes() == BODY
    assert server.proxied == ["http://bench.invalid/f"]
    monkeypatch.setenv("no_proxy", "bench.invalid")
    with pytest.raises(DownloadFailed, match="no connection"):
        download("http://bench.invalid/f", tmp_path / "g", HASH, retries=QUICK)


def test_two_processes_at_once_fetch_it_once(server, tmp_path):
    server.plan = [("drip", 500_000)]  # 12,000 bytes to go
    code = (
        "import sys; from pathlib import Path; from metareview.sources.download import download;"
        "download(sys.argv[1], Path(sys.argv[2]), sys.argv[3])"
    )
    target = tmp_path / "in" / "f"
    call = [sys.executable, "-c", code, f"{server.url}/f", str(target), HASH]
    first = subprocess.Popen(call)
    wait_until(lambda: server.requests)
    second = subprocess.Popen(call)
    wait_until(lambda: (tmp_path / "in/f.part").exists())
    server.stopped.set()  # what is still to come breaks off, and is asked for again
    assert (first.wait(30), second.wait(30)) == (0, 0)
    assert target.read_bytes() == BODY
    assert [path for path, asked in server.requests if asked is None] == ["/f"]
    assert leftovers(tmp_path) == ["f"]
