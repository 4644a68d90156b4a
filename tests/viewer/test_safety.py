"""Attacks on the viewer: each must fail, and each test shows first that what is asked for properly works."""

import asyncio
import contextlib
import http.client
import json
import os
import re
import socket
from dataclasses import replace

import pytest
from starlette.responses import PlainTextResponse
from viewer_samples import HOST, client_of, pull, said, served, small_run

from metareview.api import evaluate_comments
from metareview.viewer.safety import HEADERS, MOST_ADDRESS, MOST_BODY, POLICY, TOKEN_HEADER, Guard
from metareview.viewer.settings import Settings
from sealed_runs import seal_again

SETTINGS = Settings()
ORIGIN = f"http://{HOST}"


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    small_run(folder / "small")
    return folder


@pytest.fixture(scope="module")
def client(root):
    return client_of(root)


async def echo(scope, receive, send):
    """An application that takes writes: what it says was let through."""
    message = await receive()
    await PlainTextResponse(f"{scope['method']} {len(message['body'])}")(scope, receive, send)


def ask(method="GET", path="/", headers=(), body=(b"",), query=b"", settings=SETTINGS, kind="http"):
    """One request to a guarded echo, with exactly these headers and the body in these parts."""
    sent, parts = [], [*body]
    scope = {
        "type": kind,
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": query,
        "headers": [(name.lower().encode(), value.encode("latin-1")) for name, value in headers],
    }

    async def receive():
        return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

    async def send(message):
        sent.append(message)

    asyncio.run(Guard(echo, settings)(scope, receive, send))
    return sent, parts


def status(*args, **named):
    return ask(*args, **named)[0][0]["status"]


# The Host header


def serving(root):
    """The port of a real server."""
    return _port(served(root))


@contextlib.contextmanager
def _port(server):
    with server as address:
        yield int(address.rpartition(":")[2])


def raw(port, request):
    """The first line of what a server answers to these bytes, and all of it."""
    with socket.create_connection(("127.0.0.1", port), timeout=20) as connection:
        connection.sendall(request)
        answer = b""
        with contextlib.suppress(ConnectionResetError):
            while part := connection.recv(65536):
                answer += part
    return int(answer.split(b" ", 2)[1]), answer


def test_another_sites_name_that_leads_here_is_refused_by_a_real_server(root):
    with serving(root) as port:

        def of(host_lines):
            return raw(port, b"GET / HTTP/1.1\r\n" + host_lines + b"Connection: close\r\n\r\n")[0]

        for good in (f"127.0.0.1:{port}", f"localhost:{port}", f"LocalHost:{port}", f"[::1]:{port}"):
            assert of(f"Host: {good}\r\n".encode()) == 200, good
        for bad in (
            "evil.example",
            f"evil.example:{port}",
            f"127.0.0.1.evil.example:{port}",
            "127.0.0.1",
            "localhost:1",
        ):
            assert of(f"Host: {bad}\r\n".encode()) == 421, bad
        for bad in (f"localhost:{port}@evil.example", f"evil.example#localhost:{port}", f"127.0.0.1:{port} x", ""):
            assert of(f"Host: {bad}\r\n".encode()) in (400, 421), bad
        assert of(b"") == 400
        assert of(f"Host: localhost:{port}\r\nHost: evil.example\r\n".encode()) == 400


def test_what_is_refused_tells_nothing_of_the_runs(client):
    answer = client.get("/run/small", headers={"host": "evil.example"})
    assert answer.status_code == 421
    assert "sharp" not in answer.text


def test_with_a_wildcard_host_addresses_and_our_own_name_pass_and_other_names_do_not():
    settings = Settings(host="0.0.0.0", access="word")
    assert settings.knows_host("192.168.1.7:7575")
    assert settings.knows_host(f"{socket.gethostname()}:7575")
    assert not settings.knows_host("evil.example:7575")
    assert not settings.knows_host("192.168.1.7:80")
    assert not Settings(host="192.168.1.7", access="word").knows_host("192.168.1.8:7575")


# Writes


GOOD_WRITE = [("host", HOST), ("origin", ORIGIN), (TOKEN_HEADER, SETTINGS.token)]
FORM = ("content-type", "application/x-www-form-urlencoded")


def without(name):
    return [header for header in GOOD_WRITE if header[0] != name]


def test_our_own_page_may_write():
    assert status("POST", headers=GOOD_WRITE) == 200
    assert status("POST", headers=[*GOOD_WRITE, ("sec-fetch-site", "same-origin")]) == 200
    assert status("POST", headers=[*without("origin"), ("sec-fetch-site", "same-origin")]) == 200
    form = f"a=1&token={SETTINGS.token}".encode()
    assert status("POST", headers=[*without(TOKEN_HEADER), FORM], body=[form[:9], form[9:]]) == 200


@pytest.mark.parametrize(
    "headers",
    [
        pytest.param(without("origin"), id="no origin at all"),
        pytest.param([*without("origin"), ("origin", "http://evil.example")], id="another site"),
        pytest.param([*without("origin"), ("origin", "null")], id="a sandboxed frame"),
        pytest.param([*without("origin"), ("origin", f"https://{HOST}")], id="another scheme"),
        pytest.param([*without("origin"), ("origin", "http://127.0.0.1:8000")], id="another port of this machine"),
        pytest.param([*without("origin"), ("origin", "http://localhost:7575")], id="another name of this machine"),
        pytest.param([*without("origin"), ("origin", f"{ORIGIN}.evil.example")], id="a longer name"),
        pytest.param([*GOOD_WRITE, ("origin", "http://evil.example")], id="two origins"),
        pytest.param([*GOOD_WRITE, ("sec-fetch-site", "cross-site")], id="cross-site"),
        pytest.param([*GOOD_WRITE, ("sec-fetch-site", "same-site")], id="same site, other origin"),
        pytest.param([*GOOD_WRITE, ("sec-fetch-site", "none")], id="typed by hand"),
        pytest.param(without(TOKEN_HEADER), id="no token"),
        pytest.param([*without(TOKEN_HEADER), (TOKEN_HEADER, "")], id="an empty token"),
        pytest.param([*without(TOKEN_HEADER), (TOKEN_HEADER, SETTINGS.token[:-1])], id="most of the token"),
        pytest.param([*without(TOKEN_HEADER), (TOKEN_HEADER, "\xff\xfe")], id="bytes for a token"),
    ],
)
def test_a_write_from_anywhere_else_is_refused(headers):
    assert status("POST", headers=headers) == 403


def test_a_token_in_the_address_or_in_a_body_that_is_no_form_does_not_count():
    token = f"token={SETTINGS.token}".encode()
    assert status("POST", headers=without(TOKEN_HEADER), query=token) == 403
    assert status("POST", headers=[*without(TOKEN_HEADER), ("content-type", "text/plain")], body=[token]) == 403


def test_each_process_has_its_own_token():
    assert Settings().token != Settings().token
    assert len(Settings().token) >= 32


def test_only_reading_and_forms():
    for method in ("PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT", "PROPFIND"):
        assert status(method, headers=GOOD_WRITE) == 405, method
    assert status("HEAD", headers=[("host", HOST)]) == 200


def test_pages_that_are_read_take_no_writes(client):
    token = {TOKEN_HEADER: client_token(client)}
    for path in ("/", "/run/small", "/static/viewer.js"):
        assert client.post(path, headers={"origin": ORIGIN, **token}).status_code in (403, 405), path


def client_token(client):
    return client.app._settings.token


def test_no_web_sockets():
    sent, _ = ask(headers=[("host", HOST)], kind="websocket")
    assert sent == [{"type": "websocket.close", "code": 1008}]


def test_no_other_origin_may_read(client):
    answer = client.get("/", headers={"origin": "http://evil.example"})
    assert not [name for name in answer.headers if name.startswith("access-control-")]
    assert client.options("/", headers={"origin": "http://evil.example"}).status_code == 405


# The token of --host


SECRET = Settings(access="a-long-word")


def test_without_the_word_nothing_is_shown_but_the_small_page(root):
    client = client_of(root, SECRET)
    for path in ("/", "/run/small", "/run/small/pairs", "/static/viewer.js", "/nothing"):
        answer = client.get(path)
        assert answer.status_code == 401, path
        assert "sharp" not in answer.text
    for wrong in ("", "a-long-wor", "a-long-word2", "A-LONG-WORD", "ä"):
        assert client.get("/", params={"token": wrong}).status_code == 401, wrong
        assert client.get("/", headers={"authorization": f"Bearer {wrong}".encode()}).status_code == 401, wrong
    assert client.get("/", headers={"cookie": f"{SECRET.cookie}=a-long-word"}).status_code == 401
    assert client.get("/", headers={"authorization": "Basic a-long-word"}).status_code == 401


def test_the_word_is_said_once_and_then_is_no_longer_in_the_address(root):
    client = client_of(root, SECRET)
    answer = client.get("/run/small/pairs?sort=score&token=a-long-word&text=leak")
    assert (answer.status_code, answer.headers["location"]) == (303, "/run/small/pairs?sort=score&text=leak")
    cookie = answer.headers["set-cookie"]
    assert "httponly" in cookie.lower()
    assert "samesite=strict" in cookie.lower()
    assert "a-long-word" not in cookie
    assert client.get("/run/small").status_code == 200
    assert client_of(root, SECRET).get("/", headers={"authorization": "Bearer a-long-word"}).status_code == 200


def test_the_redirection_leads_nowhere_else(root):
    client = client_of(root, SECRET)
    for path in ("//evil.example", "/%2f/evil.example", "/\\evil.example"):
        answer = client.get(f"{ORIGIN}{path}?token=a-long-word")
        assert (
            answer.status_code != 303
            or answer.headers["location"].startswith("/%2F")
            or not answer.headers["location"].startswith("//")
        ), path
    assert status(path="//evil.example", headers=[("host", HOST)], query=b"token=a-long-word", settings=SECRET) == 400


@pytest.mark.parametrize("others", ['x={"a": 1}; ', "theme=a b; ", "\xff=1; ", "a; ", "expires=Mon, 01; ", "=; ;; "])
def test_cookies_of_other_programs_on_this_machine_lock_nobody_out(root, others):
    ours = f"{SECRET.cookie}={SECRET.pass_value}"
    for cookie in (others + ours, f"{ours}; {others}", f"{SECRET.cookie}=stale; {ours}", f"{ours}; {SECRET.cookie}=x"):
        assert status(headers=[("host", HOST), ("cookie", cookie)], settings=SECRET) == 200, cookie
    wrong = f"{others}{SECRET.cookie}x={SECRET.pass_value}; y{SECRET.cookie}={SECRET.pass_value}"
    assert status(headers=[("host", HOST), ("cookie", wrong)], settings=SECRET) == 401


def test_a_write_needs_the_word_too():
    settings = replace(SECRET, token=SETTINGS.token)
    assert status("POST", headers=GOOD_WRITE, settings=settings) == 401
    assert status("POST", headers=GOOD_WRITE, query=b"token=a-long-word", settings=settings) == 401
    word = ("authorization", "Bearer a-long-word")
    assert status("POST", headers=[*GOOD_WRITE, word], settings=settings) == 200
    assert status("POST", headers=[*without(TOKEN_HEADER), word], settings=settings) == 403


# What answers carry


@pytest.mark.parametrize("path", ["/", "/run/small", "/run/nothing", "/static/viewer.css", "/static/../x", "/live"])
def test_every_answer_carries_the_policy(client, path):
    headers = client.get(path).headers
    assert {name: headers[name] for name in HEADERS} == HEADERS


def test_the_policy_lets_nothing_inline_act_and_nothing_load_from_elsewhere():
    parts = dict(part.split(" ", 1) for part in POLICY.split("; "))
    assert parts.pop("default-src") == "'none'"
    assert set(parts) >= {"script-src", "style-src", "form-action", "base-uri", "frame-ancestors"}
    assert {source for sources in parts.values() for source in sources.split()} <= {"'self'", "'none'"}


def test_a_defect_shows_a_small_page_with_the_policy_and_no_traceback(root, monkeypatch):
    def broken(*args):
        raise RuntimeError("secret of the defect")

    monkeypatch.setattr("metareview.viewer.app.runs_page", broken)
    answer = client_of(root).get("/")
    assert answer.status_code == 500
    assert answer.headers["content-security-policy"] == POLICY
    assert "secret" not in answer.text
    assert "Traceback" not in answer.text


# Sizes


def test_large_bodies_are_refused_at_once_or_as_they_come():
    write = GOOD_WRITE
    assert status("POST", headers=write, body=[b"x" * MOST_BODY]) == 200
    assert status("POST", headers=[*write, ("content-length", str(MOST_BODY + 1))]) == 413
    assert status("POST", headers=[*write, ("content-length", "9" * 5000)]) == 413
    assert status("POST", headers=[*write, ("content-length", "-1")]) == 413
    endless = [b"x" * 1000] * 1000
    sent, left = ask("POST", headers=[*write, ("transfer-encoding", "chunked")], body=endless)
    assert sent[0]["status"] == 413
    assert len(left) > 900  # it did not wait for the rest
    assert status("GET", headers=[("host", HOST)], body=endless) == 413


def test_a_real_server_refuses_an_endless_chunked_body(root):
    with serving(root) as port:
        head = f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nTransfer-Encoding: chunked\r\n\r\n".encode()
        chunk = b"4000\r\n" + b"x" * 0x4000 + b"\r\n"
        assert raw(port, head + chunk * 6 + b"0\r\n\r\n")[0] == 413


def test_a_body_that_does_not_come_is_not_waited_for(root, monkeypatch):
    monkeypatch.setattr("metareview.viewer.safety.BODY_SECONDS", 0.1)
    with serving(root) as port:
        head = f"POST / HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Length: 100\r\n\r\nabc".encode()
        assert raw(port, head)[0] == 408


@pytest.mark.parametrize("name", ["labels.jsonl", "frame.json", "unlisted.json", "summary.json", "manifest.json"])
def test_a_file_that_is_read_whole_has_a_largest_size(tmp_path, name):
    root = attacked(tmp_path)
    with (root / "small" / name).open("ab") as file:
        file.truncate(4 << 30)  # a hole, which takes no place on the disk
    assert "too large" in client_of(root).get("/run/small").text


def test_long_addresses_are_refused(client):
    assert client.get("/", params={"q": "x" * (MOST_ADDRESS - 10)}).status_code == 200
    assert client.get("/", params={"q": "x" * MOST_ADDRESS}).status_code == 414
    assert client.get("/" + "x" * MOST_ADDRESS).status_code == 414


# Paths


SECRET_TEXT = "outside of the folder"


def attacked(tmp_path):
    """A folder of runs beside a file that must not be read."""
    (tmp_path / "secret.txt").write_text(SECRET_TEXT)
    small_run(tmp_path / "runs" / "small")
    return tmp_path / "runs"


@pytest.mark.parametrize(
    "path",
    [
        "/run/../secret.txt",
        "/run/..%2fsecret.txt",
        "/run/%2e%2e/secret.txt",
        "/run/%2e%2e%2fsecret.txt",
        "/run/..%5csecret.txt",
        "/run/%252e%252e%252fsecret.txt",
        "/run/{outside}",
        "/run/%2F{outside}",
        "//{outside}",
        "/run/small%00",
        "/run/small/../../secret.txt",
        "/run/small/pr/../../../secret.txt",
        "/run/./small",
        "/run/small/pr/-1",
        "/run/small/pr/99999999999999999999",
        "/run/small/pr/0x1",
        "/static/../app.py",
        "/static/..%2fapp.py",
        "/static/%2e%2e%2f%2e%2e%2ferrors.py",
        "/static/app.py",
        "/compare?a=../secret.txt&b=small",
    ],
)
def test_no_path_of_an_address_is_opened(tmp_path, path):
    root = attacked(tmp_path)
    outside = (tmp_path / "secret.txt").as_posix()
    with serving(root) as port:
        connection = http.client.HTTPConnection("127.0.0.1", port)
        connection.putrequest("GET", path.format(outside=outside), skip_host=True)  # as it is: no client mends it
        connection.putheader("Host", f"127.0.0.1:{port}")
        connection.endheaders()
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
    assert answer.status in (400, 404), text
    assert SECRET_TEXT not in text


def test_links_are_not_followed(tmp_path):
    root = attacked(tmp_path)
    small_run(tmp_path / "elsewhere")
    (root / "linked").symlink_to(tmp_path / "elsewhere", target_is_directory=True)
    (root / "above").symlink_to(tmp_path, target_is_directory=True)
    client = client_of(root)
    text = client.get("/").text
    assert 'href="/run/small"' in text
    assert "linked" not in text
    assert "elsewhere" not in text
    assert client.get("/run/linked").status_code == 404


@pytest.mark.parametrize("name", ["manifest.json", "results.jsonl", "pairs.jsonl", "summary.json", "labels.jsonl"])
def test_a_run_whose_file_leads_elsewhere_is_not_read(tmp_path, name):
    root = attacked(tmp_path)
    run = root / "small"
    content = (run / name).read_text() if (run / name).exists() else ""
    (tmp_path / "secret.txt").write_text(content + f'{{"{SECRET_TEXT}": 1}}\n')
    (run / name).unlink(missing_ok=True)
    (run / name).symlink_to(tmp_path / "secret.txt")
    client = client_of(root)
    for path in ("/", "/run/small", "/run/small/pairs", "/run/small/pr/0"):
        text = client.get(path).text
        assert SECRET_TEXT not in text
    assert "follows no links" in client.get("/run/small").text


def test_a_pipe_in_the_place_of_a_file_keeps_nobody_waiting(tmp_path):
    root = attacked(tmp_path)
    (root / "small" / "pairs.jsonl").unlink()
    os.mkfifo(root / "small" / "pairs.jsonl")
    assert "not a file" in client_of(root).get("/run/small").text


# Hostile runs


ATTACKS = (
    "<script>alert(1)</script><img src=x onerror=alert(2)>",
    "![x](http://evil.example/pixel.png) [y](javascript:alert(3)) <a href='javascript:alert(4)'>z</a>",
    "\"><svg onload=alert(5)> ' onmouseover=alert(6) \x00\x1b[31m \ud800",
)


@pytest.fixture(scope="module")
def hostile(tmp_path_factory):
    """Whatever a run can name or say tries to be markup."""
    root = tmp_path_factory.mktemp("hostile")
    notes = [said(note, 1 + 9 * at, path=note, category=note, severity=note) for at, note in enumerate(ATTACKS)]
    references = [{"pr": pull(1), "language": ATTACKS[0], "pr_category": ATTACKS[2], "comments": notes}]
    references.append({"pr": "javascript:alert(7)#8", "comments": notes[:1]})
    reviews = [{"pr": each["pr"], "reviewer": name, "comments": notes} for each in references for name in ATTACKS]
    folder = root / '<b onclick="alert(8)">' / ("x" * 200)
    evaluate_comments(reviews, reference=references, judge="exact", ignore_location=True, out=folder)
    return client_of(root)


def test_nothing_that_a_run_says_becomes_markup(hostile):
    address = re.search(r'href="(/run/[^"]*)"', hostile.get("/").text)[1]
    pages = ["/", address, *(f"{address}/{page}" for page in ("pairs", "prs", "settings", "pr/0", "pr/1"))]
    pages += [f"{address}/pairs?text=%3Cscript%3E", f"/compare?a={address.removeprefix('/run/')}"]
    for page in pages:
        answer = hostile.get(page, params=None)
        assert answer.status_code == 200, (page, answer.text)
        assert_inert(answer.text)


def assert_inert(text):
    """As a browser reads it: only our two scripts, no handlers, no styles, no images, no odd links."""
    from html.parser import HTMLParser

    class Reader(HTMLParser):
        def handle_starttag(self, tag, attributes):
            assert tag not in ("img", "iframe", "object", "embed", "base", "style", "b onclick"), tag
            for name, value in attributes:
                assert not name.startswith("on"), (tag, name)
                assert name not in ("style", "srcdoc", "formaction"), (tag, name)
                if name in ("src", "action") or (name == "href" and tag != "a"):
                    assert re.match(r"/(?!/)", value), (tag, value)
                elif name == "href":  # a link may lead to a plain address of the web: it loads nothing by itself
                    assert re.match(r"/(?!/)|#|\?|https?://[a-z]", value), (tag, value)
            if tag == "script":
                assert dict(attributes)["src"].startswith("/static/")

    Reader().feed(text)
    assert "\x00" not in text
    assert "\x1b" not in text


def test_a_query_is_shown_as_text(client):
    attack = '"><script>alert(1)</script>'
    for path in ("/", "/run/small/pairs", "/run/small/prs", "/run/small/pr/0"):
        for name in ("q", "text", "sort", "reviewer", "verdict", "low", "page", attack):
            assert_inert(client.get(path, params={name: attack}).text)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("results.jsonl", "{broken\n"),
        ("results.jsonl", "[1, 2]\n"),
        ("results.jsonl", '{"github_pr_url": 1}\n'),
        ("results.jsonl", "[" * 100_000 + "\n"),
        ("pairs.jsonl", "{broken\n"),
        ("pairs.jsonl", '{"pr": "x"}\n'),
        ("pairs.jsonl", "3\n"),
        ("summary.json", "[" * 100_000),
        ("manifest.json", "[" * 100_000),
        ("manifest.json", "{}"),
        ("summary.json", "{}"),
    ],
)
def test_a_broken_run_has_a_page_with_the_fix(tmp_path, name, content):
    small_run(tmp_path / "runs" / "small")
    (tmp_path / "runs" / "small" / name).write_text(content)
    seal_again(tmp_path / "runs" / "small")
    client = client_of(tmp_path / "runs")
    assert client.get("/").status_code == 200
    answer = client.get("/run/small/pairs")
    assert answer.status_code in (200, 422)
    assert re.search("(?i)run (it|the evaluation) again|not finished", answer.text), answer.text
    assert "Traceback" not in answer.text
    assert client.get("/run/small").status_code in (200, 422)


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("score", "high"),
        ("generated", {}),
        ("generated", 2**70),
        ("by", None),
        ("by", ["x"]),
        ("pr", 3),
        ("match", "x"),
    ],
)
def test_pairs_of_the_wrong_type_are_no_defect(tmp_path, key, value):
    small_run(tmp_path / "runs" / "small")
    path = tmp_path / "runs" / "small" / "pairs.jsonl"
    rows = [json.loads(line) for line in path.read_text().splitlines()]
    rows[3][key] = value
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    answer = client_of(tmp_path / "runs").get("/run/small/pairs")
    assert answer.status_code in (200, 422)
