"""What several tests of judges need."""

import pytest

from metareview.judges.remote.cache import VerdictCache


@pytest.fixture
def cache(tmp_path):
    cache = VerdictCache(tmp_path / "verdicts.sqlite")
    yield cache
    cache.close()
