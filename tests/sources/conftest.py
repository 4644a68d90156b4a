import pytest

from pulls import Pull


@pytest.fixture
def pull(tmp_path):
    return Pull(tmp_path)
