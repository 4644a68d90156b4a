"""The model's settings, from the environment or from the nearest `.env`. The environment wins.

That file may be a stranger's, since it is looked for in the folders above too: one that another user owns or may write
is refused, and no file says where a key of the environment goes. A key is kept in a `Secret`, which shows as `***` when
it is printed, and is read in one function only: where a request gets its header.
"""

from __future__ import annotations

import math
import os
import re
import shlex
import stat
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from io import StringIO
from pathlib import Path
from urllib.parse import urlsplit, urlunsplit

from metareview.errors import InputError, UsageError
from metareview.http.secret import Secret

_OURS = re.compile(r"(?:LLM|EMBEDDING)_(?:MODEL_URL|MODEL|API_KEY|TIMEOUT)\b")
_ONLY_A_COMMENT = re.compile(r"[^=]*=[^\S\r\n]*#")
_EXAMPLES = {"LLM_MODEL": "gpt-4.1-mini", "EMBEDDING_MODEL": "text-embedding-3-small"}
_EXAMPLE_URL = "https://api.openai.com/v1"
_LONGEST_TIMEOUT = 86_400.0
_DEFAULT_PORTS = {"http": 80, "https": 443}
NO_ENV_FILE = "METAREVIEW_NO_ENV_FILE"
"""Set to anything, this variable keeps every `.env` from being read, as in a folder that is a stranger's."""
TIMEOUT = 60.0
"""The seconds that a request has by default."""


@dataclass(frozen=True, slots=True)
class ModelSettings:
    """An OpenAI-compatible endpoint: base URL, model name, key, and the seconds that a request has.

    `kind` names the settings in messages.
    """

    url: str
    model: str
    api_key: Secret = field(default_factory=Secret, repr=False)
    kind: str = "LLM"
    timeout: float = TIMEOUT
    origin: str = field(default="", compare=False)
    """Where they came from, in words: the environment, or which file; empty for those that a caller made."""

    def __post_init__(self) -> None:
        name = f"{self.kind}_MODEL_URL"
        try:
            parts = urlsplit(self.url.strip())
            host, _ = parts.hostname, parts.port  # raises where the port is none
        except ValueError:
            parts, host = urlsplit(""), None
        if parts.scheme not in ("http", "https") or not host:
            raise UsageError(f"{name} is not an http or https address. Set it to one, as in {_EXAMPLE_URL}")
        if parts.username is not None or parts.password is not None:
            raise UsageError(f"{name} holds a user name or password. Put the key into {self.kind}_API_KEY.")
        path = parts.path.rstrip("/")
        for suffix in ("/chat/completions", "/embeddings"):
            path = path.removesuffix(suffix).rstrip("/")
        object.__setattr__(self, "url", urlunsplit((parts.scheme, parts.netloc, path, parts.query, "")))
        if not self.model.strip():
            raise UsageError(f"{self.kind}_MODEL is empty. Set it to the model's name.")
        object.__setattr__(self, "model", self.model.strip())
        key = self.api_key.reveal().strip()
        if not (key.isascii() and key.isprintable()):
            raise UsageError(f"{self.kind}_API_KEY has characters that no key has. Copy it again.")
        object.__setattr__(self, "api_key", Secret(key))
        if not 0 < self.timeout <= _LONGEST_TIMEOUT:
            raise UsageError(
                f"{self.kind}_TIMEOUT is no number of seconds from above 0 to {_LONGEST_TIMEOUT:,.0f}. "
                f"Set it to how long one request may take, as in {self.kind}_TIMEOUT=300, or leave it out."
            )

    def address(self, path: str) -> str:
        """The full address of an operation: `address("embeddings")`. A query in the URL stays at its end."""
        parts = urlsplit(self.url)
        return urlunsplit(parts._replace(path=f"{parts.path}/{path}"))

    @property
    def server(self) -> str:
        """The server's address in one spelling, without credentials and query: what cache keys and runs hold.

        >>> ModelSettings("HTTPS://API.example.com.:443/v1/?key=secret", "m").server
        'https://api.example.com/v1'
        """
        parts = urlsplit(self.url)
        host = (parts.hostname or "").rstrip(".")
        host = f"[{host}]" if ":" in host else host
        port = "" if parts.port in (None, _DEFAULT_PORTS[parts.scheme]) else f":{parts.port}"
        return f"{parts.scheme}://{host}{port}{parts.path}"

    @property
    def server_name(self) -> str:
        """The server in messages."""
        return f"the model server at {self.shown_url}"

    @property
    def shown_url(self) -> str:
        """The URL as messages and runs may show it: without its query, where some services want a key."""
        return urlunsplit(urlsplit(self.url)._replace(query=""))

    @classmethod
    def load(cls, kind: str, environ: Mapping[str, str] | None = None, start: Path | None = None) -> ModelSettings:
        """Those of the model that judges (LLM) or embeds (EMBEDDING); UsageError says what to set if one is missing."""
        environ = os.environ if environ is None else environ
        names = (f"{kind}_MODEL_URL", f"{kind}_MODEL")
        address, key = names[0], f"{kind}_API_KEY"
        file = None if environ.get(NO_ENV_FILE) else nearest_env_file(start or Path.cwd())
        stored: dict[str, str] = {}
        try:
            stored = read_env_file(file) if file else {}
        except InputError:
            if any(name not in environ for name in (*names, key)):
                raise
        values = {**stored, **environ}
        missing = [name for name in names if not values.get(name, "").strip()]
        if missing:
            # On one line: what a command prints of an error has no line breaks, since a file's name may hold some.
            example = " and ".join(f"{name}={_EXAMPLES.get(name, _EXAMPLE_URL)}" for name in missing)
            what = "the embedding model" if kind == "EMBEDDING" else "the model that judges"
            them = "them" if len(missing) > 1 else "it"
            where = f"{file} does not have {them} either" if file else f"there is no .env with {them} either"
            places = "in the environment or in .env"
            if environ.get(NO_ENV_FILE):
                where, places = f"no .env is read, because {NO_ENV_FILE} is set", "in the environment"
            raise UsageError(
                f"{' and '.join(missing)} not set, so {what} is unknown; {where}. Set {them} {places}, for example "
                f"{example} and, if the server wants a key, {kind}_API_KEY."
            )
        if environ.get(key, "").strip() and address not in environ:
            raise UsageError(
                f"{address} is that of {file}, and {key} that of the environment, which goes to no address of a file. "
                f"Set {address} in the environment too, or unset {key} there: one in that file goes to its address."
            )
        timeout = f"{kind}_TIMEOUT"
        origin = _origin([name for name in (*names, key, timeout) if values.get(name, "").strip()], environ, file)
        secret = Secret(values.get(key, ""))
        return cls(values[address], values[names[1]], secret, kind, _seconds(values.get(timeout, "")), origin)


def _origin(used: Sequence[str], environ: Mapping[str, str], file: Path | None) -> str:
    """The origin of settings, in words: the environment, the file, or which of them from which."""
    of_environment = [name for name in used if name in environ]
    of_file = [name for name in used if name not in environ]
    if of_environment and of_file:
        return f"{file} ({', '.join(of_file)}) and the environment ({', '.join(of_environment)})"
    return str(file) if of_file else "the environment"


def _seconds(text: str) -> float:
    """The number that a text is; NaN for any other text, and the usual one for none."""
    try:
        return float(text) if text.strip() else TIMEOUT
    except ValueError:
        return math.nan


def nearest_env_file(start: Path) -> Path | None:
    """The `.env` in `start` or the closest folder above it."""
    start = start.absolute()
    return next((file for folder in (start, *start.parents) if (file := folder / ".env").is_file()), None)


def read_env_file(file: Path) -> dict[str, str]:
    """The assignments of a `.env`, as python-dotenv reads them; nothing in a value is replaced.

    A comment in place of a value is none, so that a placeholder is never sent as a key. A statement that cannot be
    parsed is an InputError if it names a setting of ours; others may be meant for other programs.
    """
    try:
        with file.open(encoding="utf-8-sig", newline="") as stream:
            _refuse_foreign_file(file, os.fstat(stream.fileno()))  # not of what is there a moment before
            text = stream.read()
    except UnicodeDecodeError:
        raise InputError("not UTF-8 text", file=file, fix="Save it as UTF-8.") from None
    except OSError as error:
        raise InputError(f"cannot be read ({error.strerror})", file=file, fix="Allow reading it.") from None
    from dotenv.parser import parse_stream

    values = {}
    for binding in parse_stream(StringIO(text)):
        statement = binding.original.string
        if binding.error and (ours := _OURS.search(statement)):
            line = binding.original.line + statement.count("\n", 0, ours.start())
            fix = f"Write {ours[0]}=value on one line, and close all quotes above."
            raise InputError(f"{ours[0]} cannot be parsed", file=file, line=line, fix=fix)
        if binding.key is not None and binding.value is not None:
            values[binding.key] = "" if _ONLY_A_COMMENT.match(statement) else binding.value
    return values


def _refuse_foreign_file(file: Path, found: os.stat_result) -> None:
    """The owner of a `.env`, and anyone who can write it, decide where the notes and its key go."""
    if sys.platform == "win32":
        return
    if not {found.st_uid, file.lstat().st_uid} <= {os.geteuid(), 0}:  # a link has an owner too
        fix = "Set what is in it in the environment, or put a .env of your own, if only an empty one, into this folder."
        raise InputError("belongs to another user, who could send your comments anywhere", file=file, fix=fix)
    if found.st_mode & (stat.S_IWGRP | stat.S_IWOTH):
        fix = f"Set what is in it in the environment, or keep it to yourself: chmod go-w {shlex.quote(str(file))}"
        raise InputError("other users may write it, and so send your comments anywhere", file=file, fix=fix)
