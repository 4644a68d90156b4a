"""Fuzzes every reader and writer of comments with atheris, by hand:

    pip install atheris && PYTHONPATH=src python fuzz/readers.py -max_total_time=3600 CORPUS_FOLDER

The first byte chooses the format, the second whether it is strict; the rest is the file. What is valid JSON is mostly
changed as JSON, so that files stay valid and get strange. Anything but InputError and UsageError is a finding.
"""

import json
import random
import sys
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["metareview"]):
    from metareview.errors import InputError, UsageError
    from metareview.formats.convert import convert_reviews
    from metareview.formats.registry import comment_formats
    from metareview.formats.source import Source

    FORMATS = comment_formats()

sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "formats"))
from format_samples import FILE_NAME, SAMPLES

NAMES = list(FORMATS)
WRITERS = [name for name in NAMES if FORMATS[name].write is not None]
STRANGE = [None, True, 0, -1, 1.5, 2**31, 10**30, "", "x", "10-15", "N/A", "\ud800", "file:///C:/a", "../..", "{0}",
           "[a](1)", [], {}, [[]], [None], {"": None}, {"text": 1}, [{}] * 3]  # fmt: skip


def test_one(data):
    if len(data) < 2:
        return
    fmt = FORMATS[NAMES[data[0] % len(NAMES)]]
    source = Source(Path(FILE_NAME), strict=bool(data[1] % 2))
    source.data = data[2:]
    try:
        for each in FORMATS.values():
            each.sniff(source)
        reviews = list(fmt.read(source))
    except (InputError, UsageError):
        return
    "\n".join(source.all_warnings()).encode()
    for name in [WRITERS[data[1] % len(WRITERS)]] if reviews else ():
        try:
            for text in convert_reviews(reviews, name).files.values():
                text.encode()
        except UsageError:
            pass


def changed(value, rng):
    """The value with one thing in it replaced, dropped, doubled or wrapped."""
    if rng.random() < 0.15 or not isinstance(value, dict | list) or not value:
        return rng.choice([rng.choice(STRANGE), [value], {"text": value}, value])
    if isinstance(value, list):
        at = rng.randrange(len(value))
        action = rng.random()
        middle = [] if action < 0.1 else [value[at]] * 2 if action < 0.2 else [changed(value[at], rng)]
        return [*value[:at], *middle, *value[at + 1 :]]
    key = rng.choice(list(value))
    copy = dict(value)
    if rng.random() < 0.1:
        copy[rng.choice([*value, "x"])] = copy.pop(key)
    else:
        copy[key] = changed(value[key], rng)
    return copy


def mutate(data, max_size, seed):
    rng = random.Random(seed)
    if len(data) > 2 and rng.random() < 0.8:
        try:
            value = json.loads(data[2:])
            for _ in range(rng.randint(1, 4)):
                value = changed(value, rng)
            return (data[:2] + json.dumps(value).encode())[:max_size]
        except (ValueError, RecursionError):
            pass
    return atheris.Mutate(data, max_size)


def main():
    folder = next((Path(each) for each in sys.argv[1:] if not each.startswith("-")), None)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for place, name in enumerate(NAMES):
            for strict in (0, 1):
                (folder / f"{name}-{strict}").write_bytes(bytes([place, strict]) + SAMPLES[name].encode())
    atheris.Setup([*sys.argv, "-max_len=40000", "-timeout=20", "-rss_limit_mb=3000"], test_one, custom_mutator=mutate)
    atheris.Fuzz()


main()
