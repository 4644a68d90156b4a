"""Which engine, and how many workers."""

import pytest

from metareview.engines.choice import check_engine, local_engine
from metareview.engines.local import cores
from metareview.errors import UsageError


@pytest.mark.parametrize(
    ("engine", "workers", "master", "problem"),
    [
        ("sparc", None, None, "--engine 'sparc' is not known.* Did you mean 'spark'"),
        ("local", None, "local[2]", "--spark-master goes with --engine spark"),
        ("spark", 2, None, "--workers are processes on this machine"),
        ("local", 0, None, "--workers 0 leaves nobody"),
    ],
)
def test_what_cannot_be_meant_is_refused(engine: str, workers: int | None, master: str | None, problem: str) -> None:
    with pytest.raises(UsageError, match=problem):
        check_engine(engine, workers, master)


def test_what_can_be_meant_is_not() -> None:
    check_engine("local", None, None)
    check_engine("local", 3, None)
    check_engine("spark", None, "local[2]")
    check_engine("spark", None, None)


def test_processes_are_used_where_they_pay_unless_the_user_knows_better() -> None:
    assert local_engine(None, worthwhile=False).workers == 1
    assert local_engine(None, worthwhile=True).workers == cores()
    assert local_engine(3, worthwhile=False).workers == 3
    assert local_engine(1, worthwhile=True).workers == 1
