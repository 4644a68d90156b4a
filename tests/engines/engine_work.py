"""What the tests of engines have workers do; a worker imports it by its name."""

import os
import signal
import time
from collections import defaultdict
from contextlib import contextmanager
from pathlib import Path

from metareview.engines.spark_exchange import Bundle, Made
from metareview.errors import InputError


def times(factor: int, numbers: list[int]) -> list[int]:
    return [factor * number for number in numbers]


def slow_first(context: None, number: int) -> int:
    time.sleep(0.2 if number == 0 else 0)
    return number


def whose(context: None, number: int) -> int:
    return os.getpid()


def dies_once(folder: Path, number: int) -> int:
    """The worker that first has the third chunk is killed in the middle of it."""
    mark = folder / "died"
    if number == 3 and not mark.exists():
        mark.touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def always_dies(folder: Path, number: int) -> int:
    with (folder / "begun").open("a") as file:
        file.write(".")
    os._exit(9)


def refuses(context: None, number: int) -> int:
    raise InputError("not readable", file="a.jsonl", line=lambda: number + 40, fix="Export it again.")


def breaks(context: None, number: int) -> float:
    return 1 / number


class Unsendable(Exception):
    def __init__(self, one: int, two: int) -> None:
        super().__init__(f"{one} and {two}")


def raises_what_cannot_be_sent(context: None, number: int) -> None:
    raise Unsendable(number, 2)


def prints(context: None, number: int) -> int:
    print("between the messages", flush=True)
    os.write(1, b"and past Python")
    return number


def marks(folder: Path, number: int) -> int:
    (folder / str(number)).touch()
    time.sleep(0.05)
    return number


def make(keys, batches):
    """Two bundles for each key; where there are none, only the first piece can be made."""
    for batch in batches:
        for number in batch.column(0).to_pylist():
            if not keys and number:
                refuses(None, number)
            content = {key: f"{number}{key}".encode("utf-8", "surrogatepass") for key in keys}
            yield Made(
                number, f"{number}!", [Bundle(key, number, at, number, content[key]) for key in keys for at in (0, 1)]
            )


@contextmanager
def receive(factor, bundles):
    """Gives what came for the keys of a chunk, in order."""
    found = defaultdict(list)
    for key, number, place, first, content in bundles:
        found[key].append((number, place, factor * first, content))
    yield lambda keys: {key: sorted(found[key]) or refuses(None, factor) for key in keys}
