import pytest

from pulls import GitLabPull, Pull


@pytest.fixture
def pull(tmp_path):
    return Pull(tmp_path)


@pytest.fixture
def gitlab_pull(tmp_path):
    return GitLabPull(tmp_path)
