"""manifest.json of a run's folder: what made the run, and what its files were when it was finished."""

from __future__ import annotations

import hashlib
import json
import platform
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from importlib.metadata import version

from metareview import __version__
from metareview.formats.checksums import SCHEMA, Checksum
from metareview.runs.files import JsonObject
from metareview.runs.shape import check_shape
from metareview.sources.catalogue import datasets_with


@dataclass(frozen=True)
class Manifest:
    """What made the run: configuration, input hashes, versions, seed, status."""

    kind: str
    config: JsonObject
    inputs: Mapping[str, str]
    started: str
    status: str = "running"
    finished: str | None = None
    records: int | None = None
    files: Mapping[str, Checksum] | None = None
    """What a finished run wrote; None in one that was made before this was kept."""
    replaced: Mapping[str, Checksum] | None = None
    """What `files` take the place of, while that happens: either is right."""
    settings_from: str = ""
    """Where the settings of a model server came from; no part of what makes two runs the same."""
    versions: Mapping[str, str] = field(
        default_factory=lambda: {
            "metareview": __version__,
            "python": platform.python_version(),
            **{name: version(name) for name in ("numpy", "scipy", "rapidfuzz")},
        }
    )

    @property
    def fingerprint(self) -> str:
        """What must be equal for two runs to be the same run."""
        text = json.dumps({"config": self.config, "inputs": self.inputs}, sort_keys=True, ensure_ascii=True)
        return hashlib.sha256(text.encode()).hexdigest()

    def to_json(self) -> JsonObject:
        document = {
            "schema": SCHEMA,
            "kind": self.kind,
            "status": self.status,
            "fingerprint": self.fingerprint,
            "config": self.config,
            "inputs": dict(self.inputs),
            "versions": dict(self.versions),
            "seed": self.config.get("seed", 0),
            "started": self.started,
            "finished": self.finished,
        }
        if self.settings_from:
            document["settings_from"] = self.settings_from
        if datasets := datasets_with(self.inputs.values()):
            document["datasets"] = datasets
        if self.records is not None:
            document["records"] = self.records
        if self.files is not None:
            document["files"] = {name: checksum.to_json() for name, checksum in self.files.items()}
        if self.replaced is not None:
            document["replaced"] = {name: checksum.to_json() for name, checksum in self.replaced.items()}
        return document

    @classmethod
    def from_json(cls, stored: JsonObject) -> Manifest:
        """KeyError, TypeError or the like where it is no manifest of this version, or its parts do not fit."""
        names = ("kind", "config", "inputs", "started", "status", "finished", "versions")
        files, replaced = (
            None if checksums is None else {name: Checksum.from_json(each) for name, each in checksums.items()}
            for checksums in (stored.get("files"), stored.get("replaced"))
        )
        made = {name: stored[name] for name in names}
        optional = {"records": stored.get("records"), "settings_from": stored.get("settings_from", "")}
        manifest = cls(**made, **optional, files=files, replaced=replaced)
        check_shape(manifest)
        _ = manifest.versions["metareview"]
        if stored["fingerprint"] != manifest.fingerprint:
            raise ValueError("the configuration is not that of the fingerprint")
        return manifest


def now() -> str:
    return datetime.now(UTC).isoformat(timespec="seconds")
