import json
from pathlib import Path

import pytest


@pytest.fixture
def write_lines(tmp_path):
    """Writes rows (objects, or lines as they are) to a file of JSON lines."""

    def write(*rows, name="events.jsonl"):
        path = tmp_path / name
        lines = (row if isinstance(row, str) else json.dumps(row) for row in rows)
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")
        return path

    return write


@pytest.fixture(scope="session")
def routing_data():
    """The folder of real histories next to the repository; tests that need it are skipped without it."""
    folder = Path(__file__).resolve().parents[3] / "shared" / "data" / "routing"
    if not folder.is_dir():
        pytest.skip("the real histories (../shared/data/routing) are not here")
    return folder
