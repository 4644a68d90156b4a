"""Runs commands, each once, in one working folder, and gives their outputs in normal form."""

from __future__ import annotations

import io
import json
import os
import re
import shlex
import traceback
from contextlib import AbstractContextManager, chdir, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from types import TracebackType
from unittest.mock import patch

from golden.api import API, NEEDS
from golden.commands import COMMANDS
from golden.inputs import INPUTS, Origins
from golden.models import make_model, refusing
from golden.normal import Digest, digest, normal_text
from metareview.cli import main
from model_server import ModelServer

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"
NAMES = (*COMMANDS, *API)
_RUN_FILES = ("summary.json", "results.jsonl", "pairs.jsonl")
_REPORTS = (".csv", ".html", ".json", ".md", ".xml")
_KEEPS_A_RUN = ("comments", "outcomes", "routing", "demo")
_UNSET = ("GITHUB_STEP_SUMMARY", "LLM_API_KEY", "EMBEDDING_API_KEY")


@dataclass(frozen=True, slots=True)
class Outcome:
    """A command's exit code, the digests of its files, and what it said on standard error."""

    exit_code: int
    files: dict[str, Digest]
    message: str = ""


def needs_shared(name: str) -> bool:
    """Whether a command reads published data, itself or through an input or a run."""
    words = _words(name)
    return (
        any("{shared}" in word for word in words)
        or any(INPUTS[made].shared for made in _made(words))
        or any(needs_shared(earlier) for earlier in _earlier(name))
    )


def _words(name: str) -> list[str]:
    return list(NEEDS.get(name, ())) if name in API else shlex.split(COMMANDS[name])


def _made(words: list[str]) -> list[str]:
    return [word.removeprefix("made/") for word in words if word.startswith("made/")]


def _earlier(name: str) -> list[str]:
    """The commands whose runs or caches this one reads."""
    named = (re.fullmatch(r"(?:runs|caches)/([\w-]+)(?:\.sqlite)?", word) for word in _words(name))
    return [match[1] for match in named if match and match[1] != name]


class Workspace(AbstractContextManager["Workspace"]):
    """A working folder with a model server beside it. What a command reads is made first."""

    def __init__(self, folder: Path, shared: Path = SHARED) -> None:
        self._folder = folder.resolve()
        self.normal = self._folder / "normal"
        self._origins = Origins(Path(str(files("metareview"))) / "data" / "demo", shared.resolve())
        self._outcomes: dict[str, Outcome] = {}
        self._model = make_model(shared / "martian" / "evaluations.json")
        self._server = ModelServer(self._model)

    def __enter__(self) -> Workspace:
        self._server.__enter__()
        for name in ("made", "reports", "caches", "normal"):
            (self._folder / name).mkdir()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.__exit__(kind, error, trace)

    def outcome(self, name: str) -> Outcome:
        """What the command gives. Its files in normal form are in `normal / name`."""
        if name not in self._outcomes:
            for made in _made(_words(name)):
                if not (self._folder / "made" / made).exists():
                    INPUTS[made].write(self._folder / "made" / made, self._origins)
            for earlier in _earlier(name):
                self.outcome(earlier)
            with chdir(self._folder), patch.dict(os.environ, self._environment()):
                for unset in _UNSET:
                    os.environ.pop(unset, None)
                self._outcomes[name] = self._call(name) if name in API else self._run(name)
        return self._outcomes[name]

    def _environment(self) -> dict[str, str]:
        url = self._server.url
        models = {f"{kind}_MODEL_URL": url for kind in ("LLM", "EMBEDDING")}
        names = {f"{kind}_MODEL": "test-model" for kind in ("LLM", "EMBEDDING")}
        return {**models, **names, "XDG_CACHE_HOME": str(self._folder / "cache")}

    def _roots(self) -> dict[str, str]:
        return {
            str(self._origins.demo): "<demo>",
            str(self._origins.shared): "<shared>",
            str(self._folder): "<work>",
            self._server.url: "<model>",
        }

    def _call(self, name: str) -> Outcome:
        try:
            documents = API[name](self._origins)
        except Exception:
            return Outcome(1, {}, traceback.format_exc())
        digests = {}
        for file, value in documents.items():
            lines = value if file.endswith(".jsonl") else [value]
            digests[file] = self._keep(name, file, "".join(json.dumps(line) + "\n" for line in lines))
        return Outcome(0, digests)

    def _run(self, name: str) -> Outcome:
        values = {"demo": self._origins.demo, "shared": self._origins.shared, "name": name}
        arguments = [word.format(**values) for word in _words(name)] + ["--json", "-q"]
        written = [Path("reports", f"{name}{suffix}") for suffix in _REPORTS]
        if arguments[0] in _KEEPS_A_RUN:
            arguments += ["--out", f"runs/{name}"]
            written = [Path("runs", name, file) for file in _RUN_FILES]
        self._server.script = refusing(self._model) if name == "llm-refused" else self._model
        code, out, message = _main(arguments)
        texts = {"stdout.json": out} if out.strip() else {}
        texts |= {path.name: path.read_bytes().decode() for path in written if path.exists()}
        return Outcome(code, {file: self._keep(name, file, text) for file, text in texts.items()}, message)

    def _keep(self, name: str, file: str, text: str) -> Digest:
        target = self.normal / name / file
        target.parent.mkdir(parents=True, exist_ok=True)
        normal = normal_text(target.suffix, text, self._roots())
        target.write_text(normal, encoding="utf-8")
        return digest(file, normal)


def _main(arguments: list[str]) -> tuple[int, str, str]:
    """The exit code, standard output and standard error of the command line, called in this process."""
    out, err = (io.TextIOWrapper(io.BytesIO(), encoding="utf-8", write_through=True) for _ in range(2))
    code: object = 0
    with redirect_stdout(out), redirect_stderr(err):
        try:
            main(arguments)
        except SystemExit as end:
            code = end.code
        except Exception:
            traceback.print_exc()
            code = 1
    return int(code or 0), out.buffer.getvalue().decode(), err.buffer.getvalue().decode()
