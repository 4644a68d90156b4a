"""Fixtures: an invented data set on a local mirror, and a data folder of its own. Import those that a test needs."""

import hashlib
import json

import pytest

from file_server import FileServer
from metareview.sources import catalogue
from metareview.sources.catalogue import DataFile, Dataset

URL = "https://github.com/acme/shop/pull/7"
REFERENCE = {"pr": URL, "comments": [{"path": "cart.py", "from_line": 11, "note": "Coupon is applied twice"}]}
OTHER = {
    "pr": "https://github.com/acme/shop/pull/8",
    "comments": [{"path": "db.py", "from_line": 54, "note": "The connection to the database is never closed"}],
}
NEGATIVE = {"pr": URL, "comments": [{"path": "cart.py", "from_line": 31, "note": "Add a docstring"}]}
SAID = {
    URL: {"terse": [{"text": "Coupon is applied twice", "path": "cart.py", "line": 11}],
          "noisy": [{"text": "Rename this", "path": "cart.py", "line": 2}]}
}  # fmt: skip
EVENTS = [
    {"repo": "acme/shop", "pr": 7, "at": "2025-06-01T10:00:00Z", "kind": "opened", "actor": "ann"},
    {"repo": "acme/shop", "pr": 7, "at": "2025-06-01T10:20:00Z", "kind": "review_submitted", "actor": "bob"},
]
FILES = {
    "data/good.jsonl": json.dumps(REFERENCE).encode(),
    "data/more.jsonl": json.dumps(OTHER).encode(),
    "data/bad.jsonl": json.dumps(NEGATIVE).encode(),
    "data/said.json": json.dumps(SAID).encode(),
    "data/events.jsonl": "\n".join(map(json.dumps, EVENTS)).encode(),
}
ROLES = dict(zip(FILES, ("reference", "reference", "negatives", "candidates", "history"), strict=True))


def dataset_of(name, files, roles):
    """A data set of these files, with their own hashes."""
    made = [DataFile(path, role, hashlib.sha256(files[path]).hexdigest()) for path, role in roles.items()]
    return Dataset(name, "invented", "acme/bench", "c0ffee" * 6 + "c0ff", "MIT", tuple(made))


@pytest.fixture
def data_folder(tmp_path, monkeypatch):
    for name in ("http_proxy", "https_proxy", "all_proxy", "no_proxy"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(name.upper(), raising=False)
    monkeypatch.setenv("METAREVIEW_DATA", str(tmp_path / "data"))
    return tmp_path / "data"


@pytest.fixture
def shop_bench(data_folder, monkeypatch):
    """A data set with a file of each role, and two of references."""
    dataset = dataset_of("shop-bench", FILES, ROLES)
    monkeypatch.setitem(catalogue.DATASETS, dataset.name, dataset)
    return dataset


@pytest.fixture
def mirror(shop_bench, monkeypatch):
    """A mirror that has it."""
    served = FileServer(
        {f"/raw/{shop_bench.repository}/{shop_bench.commit}/{path}": data for path, data in FILES.items()}
    )
    monkeypatch.setenv("METAREVIEW_DATASET_MIRROR", f"{served.url}/raw")
    yield served
    served.close()
