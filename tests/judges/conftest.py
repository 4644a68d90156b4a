"""Fixtures of several tests of judges."""

import pytest

from metareview.judges.remote.cache import VerdictCache
from metareview.judges.remote.llm import LlmJudge


@pytest.fixture
def cache(tmp_path):
    cache = VerdictCache(tmp_path / "verdicts.sqlite")
    yield cache
    cache.close()


@pytest.fixture
def judging(request):
    """Makes judges that retry fast, and closes them. `JUDGING` of a module are its usual options."""
    made = []

    def make(server, kind=LlmJudge, **options):
        settings = {name: options.pop(name) for name in ("key", "model") if name in options}
        made.append(kind(server.settings(kind=kind.kind, **settings), **{"backoff": 0.001, **usual, **options}))
        return made[-1]

    usual = getattr(request.module, "JUDGING", {})
    yield make
    for judge in made:
        judge.close()
