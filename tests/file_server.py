"""A local server of files that can be told to misbehave, and a proxy in front of it."""

import contextlib
import re
import threading
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit


class FileServer:
    """Serves `files` by path. `requests` has (path, Range) of each; `plan` what to do with the next ones.

    A step of the plan: a status, or a redirect's target, or `("cut", n)` to break off after n bytes, `("hold", n)` to
    keep silent after them, `("drip", n)` for n bytes and then one at a time, `("unsized", n)` for n bytes without
    saying beforehand how many, `("span", text)` for a Content-Range of this text.
    """

    def __init__(self, files, *, ranges=True):
        self.files, self.ranges = dict(files), ranges
        self.requests, self.plan, self.proxied = [], [], []
        self.stopped = threading.Event()
        outer = self

        class Handler(BaseHTTPRequestHandler):
            def do_GET(self):
                with contextlib.suppress(ConnectionError):
                    outer.answer(self)

            def log_message(self, *arguments):
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        threading.Thread(target=self._server.serve_forever, args=(0.01,), daemon=True).start()
        self.url = f"http://127.0.0.1:{self._server.server_address[1]}"

    def answer(self, handler):
        path = handler.path
        if "://" in path:  # asked as a proxy is
            self.proxied.append(path)
            path = urlsplit(path).path
        self.requests.append((path, handler.headers["Range"]))
        step = self.plan.pop(0) if self.plan else 200
        if isinstance(step, str):
            return self._head(handler, 302, {"Location": step})
        if path not in self.files and step == 200:
            step = 404
        if isinstance(step, int) and step != 200:
            return self._head(handler, step, {"Retry-After": "0"})
        data, status, headers = self.files[path], 200, {}
        asked = re.fullmatch(r"bytes=(\d+)-", handler.headers["Range"] or "")
        if asked and self.ranges:
            start = int(asked[1])
            if start >= len(data):
                return self._head(handler, 416, {})
            headers = {"Content-Range": f"bytes {start}-{len(data) - 1}/{len(data)}"}
            if isinstance(step, tuple) and step[0] == "span":
                headers, step = {"Content-Range": step[1]}, 200
            data, status = data[start:], 206
        kind, count = step if isinstance(step, tuple) else ("whole", len(data))
        size = None if kind == "unsized" else str(len(data))
        self._head(handler, status, {**headers, "Content-Length": size})
        handler.wfile.write(data[:count])
        if kind == "hold":
            self.stopped.wait(60)
        if kind == "drip":
            for byte in data[count:]:
                if self.stopped.wait(0.02):
                    return None
                handler.wfile.write(bytes([byte]))
        handler.close_connection = True
        return None

    def _head(self, handler, status, headers):
        handler.send_response(status)
        for name, value in {"Content-Length": "0", **headers}.items():
            if value is not None:
                handler.send_header(name, value)
        handler.end_headers()

    def close(self):
        self.stopped.set()
        self._server.shutdown()
        self._server.server_close()


def wait_until(condition, seconds=20):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it did not come to pass"
        time.sleep(0.01)
