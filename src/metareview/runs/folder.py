"""A run's folder: appended to while running, continued after a kill, read back, never half-written.

    manifest.json   configuration, input hashes, versions, seed, status
    results.jsonl   one record a pull request and reviewer
    pairs.jsonl     every judged pair
    summary.json    what --json prints

A record is written after its pairs, so a record that is there has all its pairs; whatever a kill left behind it is
dropped when the run goes on.
"""

from __future__ import annotations

import hashlib
import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from types import TracebackType
from typing import IO, Any

from metareview import __version__
from metareview.errors import InputError, UsageError

SCHEMA = "metareview.run/1"
RESULTS, PAIRS, SUMMARY, MANIFEST = "results.jsonl", "pairs.jsonl", "summary.json", "manifest.json"
VERDICTS = "verdicts.sqlite"
"""The run's own verdict cache, where the user's is not to be used; it goes when the run is finished."""
_VERDICT_FILES = (VERDICTS, f"{VERDICTS}-wal", f"{VERDICTS}-shm")
Key = tuple[str, str]


def default_folder(name: str, now: datetime | None = None) -> Path:
    """`runs/<time>-<name>`, a new one."""
    stamp = (now or datetime.now()).strftime("%Y%m%d-%H%M%S")
    safe = "".join(c if c.isalnum() or c in "-_." else "-" for c in name).strip(".-") or "run"
    folder = Path("runs") / f"{stamp}-{safe[:60]}"
    for attempt in range(2, 1000):
        if not folder.exists():
            break
        folder = Path("runs") / f"{stamp}-{safe[:60]}-{attempt}"
    return folder


def fingerprint(config: Mapping[str, Any], inputs: Mapping[str, str]) -> str:
    """What must be equal for two runs to be the same run."""
    text = json.dumps({"config": config, "inputs": inputs}, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()


class RunFolder(AbstractContextManager["RunFolder"]):
    """An open run. `done` holds the records that an earlier attempt completed; `summary` a finished run's answer."""

    def __init__(
        self,
        path: Path,
        kind: str,
        config: Mapping[str, Any],
        inputs: Mapping[str, str],
        *,
        overwrite: bool = False,
        is_complete: Callable[[Mapping[str, Any]], bool] = lambda record: True,
        key: Callable[[Mapping[str, Any]], Key] = lambda record: (
            record["github_pr_url"],
            record["reviewer"],
        ),
    ) -> None:
        self.path = path
        self._key = key
        self.done: dict[Key, dict[str, Any]] = {}
        self.answered = 0
        """Pairs of `done` that a model had answered: this run need not ask again."""
        self.summary: dict[str, Any] | None = None
        self._appended_after_resuming = False
        self._files: dict[str, IO[str]] = {}
        self._manifest = {
            "schema": SCHEMA,
            "kind": kind,
            "status": "running",
            "fingerprint": fingerprint(config, inputs),
            "config": dict(config),
            "inputs": dict(inputs),
            "versions": {
                "metareview": __version__,
                "python": platform.python_version(),
                **{name: version(name) for name in ("numpy", "scipy", "rapidfuzz")},
            },
            "seed": config.get("seed"),
            "started": _now(),
            "finished": None,
        }
        try:
            before = self._existing_manifest(overwrite)
            self.path.mkdir(parents=True, exist_ok=True)
            self._lock = _FolderLock(self.path)
            if before is None:
                for name in (RESULTS, PAIRS, SUMMARY, *_VERDICT_FILES):
                    (self.path / name).unlink(missing_ok=True)
                self._write_manifest()
            else:
                self._take_up(before, is_complete)
        except OSError as error:
            raise UsageError(
                f"Cannot write to {self.path}: {error.strerror}. Choose another --out."
            ) from None

    def _existing_manifest(self, overwrite: bool) -> dict[str, Any] | None:
        """The manifest of the same run, if the folder holds it; None for a new run; else an error."""
        if self.path.exists() and not self.path.is_dir():
            raise UsageError(f"--out {self.path} is a file. Name a folder.")
        if overwrite or not self.path.exists() or not any(self.path.iterdir()):
            return None
        try:
            manifest = json.loads((self.path / MANIFEST).read_text("utf-8"))
        except (OSError, ValueError):
            manifest = None
        if not isinstance(manifest, dict) or manifest.get("schema") != SCHEMA:
            raise UsageError(
                f"{self.path} is not empty and holds no run. Choose another --out, or pass --overwrite."
            )
        if manifest.get("fingerprint") != self._manifest["fingerprint"]:
            differing = ", ".join(_differences(manifest, self._manifest)) or "something"
            raise UsageError(
                f"{self.path} holds another run ({differing} differ). Choose another --out, or pass --overwrite."
            )
        return manifest

    def _take_up(self, before: Mapping[str, Any], is_complete: Callable[[Mapping[str, Any]], bool]) -> None:
        self._manifest["started"] = before.get("started")
        records = {
            self._key(record): record for record in read_lines(self.path / RESULTS) if is_complete(record)
        }
        finished = before.get("status") == "finished" and (self.path / SUMMARY).exists()
        if finished and len(records) == before.get("records"):
            self.summary = json.loads((self.path / SUMMARY).read_text("utf-8"))
            return
        self.done = records
        if (self.path / PAIRS).exists():  # A routing run has none.
            kept = [
                pair for pair in read_lines(self.path / PAIRS) if (pair["pr"], pair["reviewer"]) in records
            ]
            self.answered = sum(pair["by"] in ("model", "cache") for pair in kept)
            write_lines(self.path / PAIRS, kept)
        write_lines(self.path / RESULTS, records.values())
        (self.path / SUMMARY).unlink(missing_ok=True)
        self._write_manifest()

    def append(self, record: Mapping[str, Any], pairs: Iterable[Mapping[str, Any]] | None = None) -> None:
        """Pairs first: a record is only there when its pairs are."""
        self._appended_after_resuming |= bool(self.done)
        if pairs is not None:
            out = self._open(PAIRS)
            out.writelines(_line(pair) for pair in pairs)
            out.flush()
        out = self._open(RESULTS)
        out.write(_line(record))
        out.flush()

    def _open(self, name: str) -> IO[str]:
        if name not in self._files:
            self._files[name] = (self.path / name).open("a", encoding="utf-8", newline="\n")
        return self._files[name]

    def finish(self, summary: Mapping[str, Any], order: Sequence[Key]) -> None:
        """Write the summary last. A continued run is put into the order that an unbroken one has."""
        for file in self._files.values():
            file.close()
        self._files.clear()
        if self._appended_after_resuming:
            rank = {key: position for position, key in enumerate(order)}
            if (self.path / PAIRS).exists():
                pairs = sorted(read_lines(self.path / PAIRS), key=lambda p: rank[p["pr"], p["reviewer"]])
                write_lines(self.path / PAIRS, pairs)
            records = sorted(read_lines(self.path / RESULTS), key=lambda record: rank[self._key(record)])
            write_lines(self.path / RESULTS, records)
        _write_whole(self.path / SUMMARY, json.dumps(summary, ensure_ascii=False, indent=1) + "\n")
        for name in _VERDICT_FILES:
            (self.path / name).unlink(missing_ok=True)
        self._manifest |= {"status": "finished", "finished": _now(), "records": len(order)}
        self._write_manifest()

    def _write_manifest(self) -> None:
        _write_whole(self.path / MANIFEST, json.dumps(self._manifest, ensure_ascii=False, indent=1) + "\n")

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for file in self._files.values():
            file.close()
        self._lock.release()


@dataclass(frozen=True)
class StoredRun:
    """A finished run, read back."""

    path: Path
    manifest: dict[str, Any]
    summary: dict[str, Any]

    @property
    def kind(self) -> str:
        """`comments` or `routing`."""
        return str(self.manifest["kind"])

    def figures(self) -> dict[str, dict[str, Any]]:
        """Each reviewer's metrics, or each router's hit@k and MRR."""
        if self.kind == "comments":
            return {name: block["metrics"] for name, block in self.summary["reviewers"].items()}
        ranked = [f"hit@{k}" for k in self.summary["config"]["k"]] + ["mrr"]
        return {name: {m: block[m] for m in ranked} for name, block in self.summary["routers"].items()}

    def records(self) -> Iterator[dict[str, Any]]:
        return read_lines(self.path / RESULTS)

    def pairs(self) -> Iterator[dict[str, Any]]:
        return read_lines(self.path / PAIRS)


def read_run(path: str | Path) -> StoredRun:
    """The finished run in this folder; anything else there is an InputError with the fix."""
    folder = Path(path)
    if not (folder / MANIFEST).is_file():
        raise InputError(
            "not a run's folder", file=folder, fix="Name one that --out made; it has a manifest.json."
        )
    try:
        manifest = json.loads((folder / MANIFEST).read_text("utf-8"))
        if manifest["schema"] != SCHEMA:
            raise InputError(
                f"made by another version ({manifest['schema']})",
                file=folder,
                fix="Run the evaluation again.",
            )
        if manifest["status"] != "finished":
            raise InputError(
                "this run is not finished",
                file=folder,
                fix="The command that began it, with the same --out, ends it.",
            )
        summary = json.loads((folder / SUMMARY).read_text("utf-8"))
    except (OSError, ValueError, KeyError, TypeError) as error:
        raise InputError(
            f"a broken run ({type(error).__name__})",
            file=folder,
            fix="Run the evaluation again with --overwrite.",
        ) from None
    return StoredRun(folder, manifest, summary)


def read_lines(path: Path) -> Iterator[dict[str, Any]]:
    """The whole lines of a file that may have been cut off in the middle of one."""
    if not path.exists():
        return
    with path.open("rb") as lines:
        for number, line in enumerate(lines, 1):
            if not line.endswith(b"\n"):
                return
            try:
                yield json.loads(line)
            except ValueError:
                raise InputError(
                    "broken JSON in a run's file",
                    file=path,
                    line=number,
                    fix="Run it again with --overwrite.",
                ) from None


def write_lines(path: Path, records: Iterable[Mapping[str, Any]]) -> None:
    _write_whole(path, "".join(map(_line, records)))


def _write_whole(path: Path, text: str) -> None:
    """All of it or nothing: beside it first, then renamed. Half a surrogate pair, as in a folder's name that is no
    UTF-8, is written as JSON's own escape for it."""
    beside = path.with_name(path.name + ".new")
    beside.write_text(text, encoding="utf-8", errors="backslashreplace", newline="\n")
    beside.replace(path)


def _line(record: Mapping[str, Any]) -> str:
    return json.dumps(record, ensure_ascii=False, separators=(",", ":")) + "\n"


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")


def _differences(a: Mapping[str, Any], b: Mapping[str, Any]) -> Iterator[str]:
    for name in sorted({*a.get("config", {}), *b["config"]}):
        if a.get("config", {}).get(name) != b["config"].get(name):
            yield name
    if a.get("inputs") != b["inputs"]:
        yield "input files"


class _FolderLock:
    """Keeps a second process out; it goes with the process, however that ends."""

    def __init__(self, folder: Path) -> None:
        self._handle: int | None = None
        try:
            import fcntl
        except ImportError:  # not on Windows; two runs into one folder are then the user's to avoid
            return
        self._handle = os.open(folder, os.O_RDONLY)
        try:
            fcntl.flock(self._handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            self.release()
            raise UsageError(
                f"Another process is writing to {folder}. Wait for it, or choose another --out."
            ) from None

    def release(self) -> None:
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
