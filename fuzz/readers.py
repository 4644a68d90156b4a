"""Fuzz every reader of input, and every writer of comments, by hand:

    PYTHONPATH=src python fuzz/readers.py --minutes 60 --seed 1
    pip install atheris && PYTHONPATH=src python fuzz/readers.py -max_total_time=3600 CORPUS_FOLDER

The first needs no package: inputs are mutated at random, reproducibly by seed. The second lets atheris look for inputs
that reach new code. The first byte of an input chooses the reader, the second whether it is strict; the rest is the
file. Valid JSON is mostly mutated as JSON, so that it stays valid; Parquet, SQLite and gzip are also rebuilt from
mutated rows. Any exception but InputError and UsageError is a finding, and so is an input that takes longer than 20
seconds. `--list` names the readers.
"""

import argparse
import atexit
import gzip
import json
import os
import random
import shutil
import signal
import sqlite3
import sys
import tempfile
import time
import traceback
from collections import Counter
from contextlib import closing, nullcontext, suppress
from pathlib import Path

BY_ATHERIS = any(each.startswith("-") and "=" in each and not each.startswith("--") for each in sys.argv[1:])
if BY_ATHERIS:
    import atheris
sys.path.insert(0, str(Path(__file__).parent.parent / "tests" / "formats"))

with atheris.instrument_imports(include=["metareview"]) if BY_ATHERIS else nullcontext():
    from metareview.errors import InputError, UsageError
    from metareview.formats.codeowners import OwnersByCommit
    from metareview.formats.convert import convert_reviews
    from metareview.formats.history import read_history
    from metareview.formats.input_file import InputFile
    from metareview.formats.labels import read_label_set
    from metareview.formats.outcome_labels import read_outcome_labels
    from metareview.formats.predictions import read_predictions
    from metareview.formats.protocol import TextFilter
    from metareview.formats.registry import comment_formats, history_formats
    from metareview.formats.router_config import read_router_config
    from metareview.formats.text_items import read_text_items
    from metareview.formats.verdicts import read_verdicts
    from metareview.judges.remote.settings import read_env_file
    from metareview.model.comment import Comment, ReferenceSet, Review
    from metareview.pipelines.comments.examples import read_examples

    FORMATS = comment_formats()
    HISTORIES = history_formats()

from format_samples import FILE_NAME, SAMPLES, URL  # noqa: E402
from test_sqlite_history import TABLES  # noqa: E402

try:
    import pyarrow as pa
    import pyarrow.parquet as pq
except ImportError:
    pa = None

SECONDS, LARGEST = 20, 200_000
REFUSALS = (InputError, UsageError)
FOLDER = Path(tempfile.mkdtemp(prefix="fuzz-readers-"))
atexit.register(shutil.rmtree, FOLDER, ignore_errors=True)
EVENT = {"repo": "o/r", "pr": 1, "at": "2025-01-01T10:00:00Z", "kind": "opened", "actor": "ann", "actor_type": "User",
         "id": 5, "title": "t", "body": "b", "files": ["a.py"], "draft": False, "base_sha": "a1"}  # fmt: skip
HOUR = {
    "id": "1", "type": "PullRequestEvent", "actor": {"login": "ann"}, "repo": {"name": "o/r"},
    "payload": {"action": "opened", "number": 1, "pull_request": {
        "number": 1, "title": "t", "body": "b", "draft": False, "merged": False, "base": {"sha": "a1"},
        "user": {"login": "ann", "type": "User"}}, "requested_reviewer": {"login": "ben"},
        "review": {"state": "approved", "body": "b", "user": {"login": "ben"}},
        "issue": {"number": 1, "pull_request": {}},
        "comment": {"body": "c", "path": "a.py", "user": {"login": "ben"}}},
    "public": True, "created_at": "2025-01-01T10:00:00Z"}  # fmt: skip
CHANGE = {"changeId": 1, "submit_date": "2025-01-01 10:00:00", "close_date": "2025-01-02", "status": "M",
          "files": ["a.py"], "approve_history": [
              {"userId": 5, "grant_date": "2025-01-01 11:00:00", "approve_value": 2}]}  # fmt: skip
ROUTE = {"repo": "o/r", "pr_number": 1, "router": "x", "risk": "low", "notes": ["n"], "candidates": [
    {"target": {"type": "user", "name": "ann"}, "score": 0.5}]}  # fmt: skip
ANSWER = {"repo": "o/r", "pr": 1, "router": "x", "candidates": ["ann"], "risk": "low", "notes": "n", "evidence": [1]}
THREADS = {"data": {"repository": {"pullRequest": {"url": URL, "author": {"login": "ann"}, "reviewThreads": {
    "pageInfo": {"hasNextPage": False}, "nodes": [{
        "id": "T1", "isResolved": True, "isOutdated": False, "path": "a.py", "line": 3, "startLine": 2,
        "diffSide": "RIGHT", "subjectType": "LINE", "comments": {"nodes": [{
            "databaseId": 7, "body": "Leaks.", "author": {"login": "bot", "__typename": "Bot"},
            "createdAt": "2025-01-01T10:00:00Z", "reactionGroups": [
                {"content": "THUMBS_UP", "reactors": {"totalCount": 2}}]}]}}]}, "reviews": {"nodes": [{
                    "databaseId": 9, "state": "COMMENTED", "author": {"login": "coderabbitai", "__typename": "Bot"},
                    "body": "**Actionable comments posted: 1**\n<details><summary>Nitpick comments (1)</summary>"
                    "<blockquote>\n<details><summary>a.py (1)</summary><blockquote>\n\n`3-4`: **Close it**\n\n"
                    "Text.\n\n</blockquote></details>\n</blockquote></details>"}]}}}}}  # fmt: skip
LABEL = {"a": "It leaks.", "b": "The file is never closed.", "match": True, "group": "g", "pr": URL, "reviewer": "bot",
         "name": "ann", "generated": 0, "reference": 0, "severity": "high", "category": "c"}  # fmt: skip
GIVEN = LABEL | {"at": "2026-01-31T10:00:00Z", "negative": False}
ISSUE = {"issue": "i1", "verdict": "valid", "pr": URL, "name": "ann", "at": "2026-01-31T10:00:00Z"}
OUTCOME = {"pr": URL, "reviewer": "bot", "position": 0, "addressed": "fully", "note": "n", "at": "2026-01-31",
           "name": "ann"}  # fmt: skip
PAIR = {"pr": URL, "reviewer": "bot", "generated": 0, "reference": 0, "negative": False, "gap": 0, "eligible": True,
        "score": 0.9, "match": True, "by": "judge", "reason": "r", "aligned": True}  # fmt: skip
RECORD = {"github_pr_url": URL, "reviewer": "bot", "skipped": False,
          "match_details": [{"generated": 0, "note": "It leaks."}], "negative_comments": [],
          "reference_comments": [{"reference": 0, "note": "Close it."}]}  # fmt: skip
EXAMPLE = {"a": "Close it.", "b": "It leaks.", "match": True, "by": "model", "pr": URL, "reviewer": "bot", "score": 1.0}
EVALUATION = {URL: {"tool": {"candidates": [{"text": "It leaks."}], "true_positives": [
    {"golden_comment": "Close it.", "matched_candidate": "It leaks.", "confidence": 0.9, "reasoning": "r"}],
    "false_positives": [{"candidate": "x"}], "false_negatives": [{"golden_comment": "y"}]}}}  # fmt: skip
ITEM = {"id": 1, "ground_truth_context": ["a b"], "retrieved_context": ["a", "b c"]}
OWNERS = b"# owners\n*.py @ann @org/team ann@example.org\n/docs/ @ben\nsrc/**/[ab]?.c\n\\#x @cy\n!no @d\n"
SETTINGS = b'export LLM_MODEL=\'m\' # x\nLLM_MODEL_URL="http://h\\n"\nLLM_API_KEY=k #c\n=\nA="\\\n'
REFERENCES = ReferenceSet({URL: Review(URL, comments=(Comment("Close it."),))}, {}, ())
WRITERS = [name for name, each in FORMATS.items() if each.write is not None]
STRANGE = [None, True, 0, -1, 1.5, 2**31, 10**30, 1e400, "", "x", "10-15", "N/A", "\ud800", "file:///C:/a", "../..",
           "{0}", "[a](1)", "::error::", "\x00\x1b[1m", "\u202e\u2028", "0000-01-01", "9999-12-31T23:59:59-23:59",
           "10000-01-01", "2025-01-01T10:00:00Z", "x" * 3000, "[" * 40, [], {}, [[]], [None], {"": None}, {"text": 1},
           [{}] * 3]  # fmt: skip


# Readers: each takes the bytes of a file and whether to be strict


def read_comments(name):
    def read(data, strict):
        source = InputFile.of_bytes(data, FILE_NAME, strict=strict)
        for each in FORMATS.values():
            each.sniff(source)
        reviews = list(FORMATS[name].read(source))
        "\n".join(source.all_warnings()).encode()
        if reviews:
            with suppress(*REFUSALS):
                for text in convert_reviews(reviews, WRITERS[len(data) % len(WRITERS)]).files.values():
                    text.encode()

    return read


def of_file(read, name="file.jsonl"):
    """A reader of bytes from a reader of paths."""

    def read_file(data, strict):
        path = FOLDER / name
        path.write_bytes(data)
        read(path)

    return read_file


def read_events(name):
    def read(path):
        source = InputFile(path)
        for each in HISTORIES.values():
            each.sniff(source)
        HISTORIES[name].read(source)

    return of_file(read, f"history.{name}")


def read_any_history(path):
    """Read all of it, and once more with a filter of texts."""
    read_history(path)
    read_history(path, texts=TextFilter(frozenset({"o/r"}), 0))


def read_owners(path):
    owners = OwnersByCommit(path).find("o/r", None)
    for file in ("a.py", "docs/x", "src/a/b.c", "#x", "a/" * 30):
        owners.owners(file)


def read_pairs_of_run(given, beside, record):
    """A reader of one of the two files of a run, with a valid one beside it."""

    def read(data, strict):
        folder = FOLDER / "run"
        folder.mkdir(exist_ok=True)
        (folder / given).write_bytes(data)
        (folder / beside).write_bytes(lines(record))
        read_verdicts(folder / "pairs.jsonl")

    return read


def read_pairs_in_parts(data, strict):
    folder = FOLDER / "parts" / "pairs.parquet"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "part-00000.parquet").write_bytes(data)
    read_verdicts(folder)


# Files from rows


def lines(*rows):
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def as_gzip(rows):
    return gzip.compress(lines(*rows), 1)


def as_parquet(rows):
    """Columns in Arrow's types; as JSON where Arrow refuses the cells, and sometimes one of them twice."""
    rows = [row for row in rows if isinstance(row, dict)] or [EVENT]
    columns = []
    for name in dict.fromkeys(name for row in rows for name in row):
        cells = [row.get(name) for row in rows]
        try:
            columns.append((name, pa.array(cells)))
        except (pa.ArrowException, OverflowError, UnicodeError, ValueError, TypeError):
            texts = [json.dumps(cell).encode() + (b"\xff" if cell == [] else b"") for cell in cells]
            columns.append((name, pa.array(texts, pa.binary()).view(pa.string())))
    if len(rows) % 4 == 0:
        columns.append(columns[len(rows[0]) % len(columns)])
    sink = pa.BufferOutputStream()
    names, arrays = zip(*columns, strict=True)
    pq.write_table(pa.Table.from_arrays(arrays, names=names), sink, row_group_size=2)
    return sink.getvalue().to_pybytes()


def as_parts(rows):
    return as_parquet([{"record": row if isinstance(row, str) else json.dumps(row)} for row in rows])


def as_database(tables):
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(TABLES)
        for name in ROWS:
            made.execute(f"delete from {name}")
            rows = tables.get(name)
            for row in [row for row in rows if isinstance(row, list)] if isinstance(rows, list) else ():
                cells = [each if isinstance(each, str | int | float | None) else json.dumps(each) for each in row]
                marks = [
                    "cast(x'ff' as text)" if each == "\ud800" else "?" for each in cells
                ]  # a text that is not UTF-8
                with suppress(sqlite3.Error, OverflowError, UnicodeError):
                    made.execute(
                        f"insert into {name} values ({', '.join(marks)})", [each for each in cells if each != "\ud800"]
                    )
        made.commit()
        return made.serialize()


def rows_of_tables():
    with closing(sqlite3.connect(":memory:")) as made:
        made.executescript(TABLES)
        names = [name for (name,) in made.execute("select name from sqlite_master where type = 'table'").fetchall()]
        return {name: [list(row) for row in made.execute(f"select * from {name}")] for name in names}


ROWS = rows_of_tables()


class Reader:
    """`read` takes the bytes of a file; `seeds` are the first files, or built by `make` from the rows `base`."""

    def __init__(self, read, *seeds, make=None, base=None):
        self.read, self.make, self.base = read, make, base
        self.seeds = [make(base)] if make else list(seeds)


READERS = {name: Reader(read_comments(name), SAMPLES[name].encode()) for name in FORMATS}
READERS["github"].seeds.append(json.dumps(THREADS).encode())
READERS |= {
    "events": Reader(read_events("events"), lines(EVENT, EVENT | {"kind": "review_submitted", "actor": "ben"})),
    "gharchive": Reader(read_events("gharchive"), lines(HOUR, HOUR | {"type": "PullRequestReviewEvent"})),
    "gerrit": Reader(read_events("gerrit"), lines(CHANGE, CHANGE | {"changeId": 2})),
    "sqlite": Reader(of_file(read_any_history, "history.sqlite"), make=as_database, base=ROWS),
    "gzip": Reader(of_file(read_any_history, "x.json.gz"), make=as_gzip, base=[EVENT]),
    "predictions": Reader(of_file(read_predictions), lines(ANSWER), json.dumps(ROUTE, indent=1).encode()),
    "codeowners": Reader(of_file(read_owners, "CODEOWNERS"), OWNERS),
    "router-config": Reader(of_file(read_router_config, "c.json"), b'{"weight": 0.5, "names": ["a", {"b": null}]}'),
    "labels": Reader(of_file(lambda path: read_label_set(InputFile(path))), lines(LABEL), lines(GIVEN, ISSUE, OUTCOME)),
    "outcome-labels": Reader(of_file(lambda path: read_outcome_labels(InputFile(path))), lines(OUTCOME, LABEL)),
    "verdicts": Reader(of_file(read_verdicts), lines(PAIR), lines(LABEL), lines(EXAMPLE), lines(EVALUATION)),
    "pairs-of-run": Reader(read_pairs_of_run("pairs.jsonl", "results.jsonl", RECORD), lines(PAIR)),
    "records-of-run": Reader(read_pairs_of_run("results.jsonl", "pairs.jsonl", PAIR), lines(RECORD)),
    "examples": Reader(of_file(lambda path: read_examples([path], REFERENCES)), lines(EXAMPLE), lines(LABEL)),
    "text": Reader(of_file(read_text_items), lines(ITEM, ITEM)),
    "env": Reader(of_file(read_env_file, ".env"), SETTINGS),
}  # fmt: skip
if pa is not None:
    READERS |= {
        "parquet-events": Reader(of_file(read_any_history, "e.parquet"), make=as_parquet, base=[EVENT, EVENT, EVENT]),
        "parquet-pairs": Reader(read_pairs_in_parts, make=as_parts, base=[PAIR, PAIR]),
    }
NAMES = list(READERS)


# Changes


def changed(value, rng):
    """The value with one part replaced, dropped, doubled or wrapped."""
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


def changed_json(data, rng):
    """A JSON file, mutated as a whole or in one of its lines; ValueError if it is not JSON."""
    try:
        value = json.loads(data)
        for _ in range(rng.randint(1, 4)):
            value = changed(value, rng)
        return json.dumps(value, indent=rng.choice([None, None, 1])).encode()
    except ValueError:
        rows = data.split(b"\n")
        at = rng.choice([at for at, row in enumerate(rows) if row.strip()] or [0])
        rows[at] = json.dumps(changed(json.loads(rows[at]), rng)).encode()
        return b"\n".join(rows)


def changed_bytes(data, rng):
    """The data with a few bytes dropped, doubled or inserted."""
    for _ in range(rng.randint(1, 4)):
        at, end = sorted(rng.randrange(len(data) + 1) for _ in range(2))
        end = min(end, at + rng.choice([1, 2, 8, 200]))
        piece = rng.choice([b"", b"\0", b"\xff", b"\n", b'"', b"{", b"\\ud800", rng.randbytes(2), data[at:end] * 2])
        data = data[:at] + piece + data[end:]
    return data


def changed_file(reader, data, rng):
    """A new file for this reader."""
    if reader.make is not None and rng.random() < 0.8:
        base = reader.base
        for _ in range(rng.randint(1, 5)):
            base = changed(base, rng)
        with suppress(Exception):  # No file can be made of these rows.
            data = reader.make(base if isinstance(base, type(reader.base)) else reader.base)
        return data if rng.random() < 0.9 else changed_bytes(data, rng)
    if reader.make is None and rng.random() < 0.8:
        with suppress(ValueError, RecursionError):
            return changed_json(data, rng)
    return changed_bytes(data, rng)


def mutate(data, max_size, seed):
    rng = random.Random(seed)
    if len(data) > 2 and rng.random() < 0.8:
        reader = READERS[NAMES[data[0] % len(NAMES)]]
        return (data[:2] + changed_file(reader, data[2:], rng))[:max_size]
    return atheris.Mutate(data, max_size)


# Running


def test_one(data):
    if len(data) >= 2:
        with suppress(*REFUSALS):
            READERS[NAMES[data[0] % len(NAMES)]].read(data[2:], bool(data[1] % 2))


def by_atheris():
    folder = next((Path(each) for each in sys.argv[1:] if not each.startswith("-")), None)
    if folder is not None:
        folder.mkdir(parents=True, exist_ok=True)
        for place, (name, reader) in enumerate(READERS.items()):
            for number, seed in enumerate(reader.seeds):
                for strict in (0, 1):
                    (folder / f"{name}-{number}-{strict}").write_bytes(bytes([place, strict]) + seed)
    atheris.Setup([*sys.argv, f"-max_len={LARGEST}", f"-timeout={SECONDS}", "-rss_limit_mb=3000"], test_one,
                  custom_mutator=mutate)  # fmt: skip
    atheris.Fuzz()


class TooLong(BaseException):
    """Raised by the alarm; no reader catches it."""


def raise_too_long(number, frame):
    raise TooLong


def by_chance(minutes, seed, chosen):
    """Try each reader in turn on mutated seeds and accepted inputs; return the number of findings."""
    rng = random.Random(seed)
    known = {name: list(READERS[name].seeds) for name in chosen}
    counts, findings = Counter(), {}

    alarm = getattr(signal, "alarm", lambda seconds: None)  # Windows has none.
    if hasattr(signal, "SIGALRM"):
        signal.signal(signal.SIGALRM, raise_too_long)
    until = time.monotonic() + 60 * minutes
    while time.monotonic() < until:
        for name in chosen:
            reader = READERS[name]
            data = changed_file(reader, rng.choice(known[name]), rng)[:LARGEST]
            strict = rng.random() < 0.5
            counts[name] += 1
            alarm(SECONDS)
            try:
                reader.read(data, strict)
            except REFUSALS:
                continue
            except (Exception, TooLong) as error:
                last = traceback.extract_tb(error.__traceback__)[-1]
                where = name, type(error).__name__, f"{last.filename}:{last.lineno}"
                if where not in findings:
                    findings[where] = FOLDER.parent / f"finding-{len(findings)}-{name}"
                    findings[where].write_bytes(bytes([NAMES.index(name), strict]) + data)
                    print(f"--- {' '.join(where)}: {findings[where]}", flush=True)
                    traceback.print_exception(error, limit=-6, file=sys.stdout)
                continue
            finally:
                alarm(0)
            if len(known[name]) < 400:
                known[name].append(data)
            elif rng.random() < 0.1:
                known[name][rng.randrange(400)] = data
    taken = ", ".join(f"{name} {counts[name]:,}" for name in chosen)
    print(f"{sum(counts.values()):,} inputs, {len(findings)} findings. {taken}")
    return len(findings)


def main():
    if BY_ATHERIS:
        by_atheris()
        return 0
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1.0, help="how long  [default: 1]")
    parser.add_argument("--seed", type=int, default=0, help="of all that is left to chance  [default: 0]")
    parser.add_argument("--reader", action="append", choices=NAMES, metavar="NAME", help="only this one; repeatable")
    parser.add_argument("--list", action="store_true", help="name the readers")
    given = parser.parse_args()
    if given.list:
        print("\n".join(NAMES))
        return 0
    os.chdir(FOLDER)  # A folder without settings of the user.
    return 1 if by_chance(given.minutes, given.seed, given.reader or NAMES) else 0


if __name__ == "__main__":
    sys.exit(main())
