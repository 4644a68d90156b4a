"""Finished runs of every kind, their files changed at random, and every way to read a run: for `fuzz/run_folders.py`,
and for a short round of it among the tests. The same seed changes the same things."""

import asyncio
import contextlib
import io
import json
import random
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import httpx
import numpy as np

import metareview as mr
from metareview.cli import main
from metareview.comparison.frame import open_frame
from metareview.comparison.outcome_frame import open_outcome_frame
from metareview.comparison.unlisted import unlisted_of
from metareview.errors import MetareviewError
from metareview.judges.protocol import SAME, UNDECIDED, Answer, Judge
from metareview.model.build_gates import GateResult
from metareview.model.label import OutcomeLabel
from metareview.runs.labels import LabelFile
from metareview.runs.writer import keep_gates
from metareview.viewer.app import make_app
from metareview.viewer.catalogue import Catalogue
from metareview.viewer.settings import Settings
from parts_of_runs import copy_as_parts
from sealed_runs import seal_again

CODES = {0, 2, 3, 4, 130}
AT = "2026-03-02T10:00:00+00:00"
HOST = "127.0.0.1:7575"


def pull(number):
    return f"https://github.com/o/r/pull/{number}"


def _note(note, line, **fields):
    return {"note": note, "path": "a.py", "side": "right", "from_line": line, "to_line": line, **fields}


def _reviews(name, *, cost=None):
    words = ("leaks the handle", "slow loop", f"{name} would rename it")
    return [
        {"pr": pull(pr), "reviewer": name, **({"cost": cost} if cost else {}),
         "comments": [_note(f"{word} {pr}", 4 * at, severity="high") for at, word in enumerate(words[:pr], 1)]}
        for pr in (1, 2, 3)
    ]  # fmt: skip


REFERENCES = [
    {"pr": pull(pr), "language": "Go", "comments": [_note(f"leaks the handle {pr}", 4, category="Code Defect"),
                                                    _note(f"slow loop {pr}", 9, severity="low")]}
    for pr in (1, 2, 3)
]  # fmt: skip
NEGATIVES = [{"pr": pull(1), "comments": [_note("loud would rename it 3", 12)]}]
EVENTS = [
    {"id": f"{pr}{kind}", "repo": "o/r", "pr": pr, "kind": kind, "actor": actor, "at": f"2026-01-0{pr}T{hour}:00:00Z",
     "files": ["a.py"], "title": "t", "body": "please look @bob"}
    for pr in range(1, 6)
    for kind, actor, hour in (("opened", "ann", "08"), ("review_submitted", "bob", "09"), ("merged", "bob", "10"))
]  # fmt: skip
_COMMITS = [
    {"sha": sha, "at": f"2026-03-02T{at}:00Z", "author": "ann",
     "files": [{"path": "a.py", "status": status, "patch": patch}]}
    for sha, at, status, patch in (("c100000", "09:00", "added", "@@ -0,0 +1,3 @@\n+one\n+two\n+three"),
                                   ("c200000", "11:00", "modified", "@@ -1,3 +1,3 @@\n one\n-two\n+zwei\n three"))
]  # fmt: skip
CONVERSATIONS = [
    {"pr": pull(pr), "reviewer": "bot[bot]", "author": "ann", "commits": _COMMITS,
     "merged_at": "2026-03-02T15:00:00Z",
     "comments": [_note(f"Line {line} of {pr}.", line, id=f"{pr}-{line}", at="2026-03-02T10:00:00Z", commit="c100000")
                  for line in (1, 2, 3)]}
    for pr in (1, 2, 3)
]  # fmt: skip


class Unsure(Judge):
    """Leaves every other pair open."""

    name = "unsure"

    def judge(self, questions):
        return [self._answer(len(question.pairs)) for question in questions]

    def _answer(self, pairs):
        match = np.where(np.arange(pairs) % 2, UNDECIDED, SAME).astype(np.int8)
        return Answer(np.where(match == UNDECIDED, np.nan, 0.75), match)


REVIEWS = [*_reviews("loud", cost=0.5), *_reviews("sharp")]
_COMMON = {"reference": REFERENCES, "judge": "rouge", "ignore_location": True}


def _routing(folder: Path) -> mr.Run:
    with tempfile.TemporaryDirectory() as scratch:
        history = Path(scratch) / "events.jsonl"
        history.write_text("".join(json.dumps(each) + "\n" for each in EVENTS))
        return mr.evaluate_routing(history, routers=["popularity", "mentions"], out=folder)


MAKERS: dict[str, Callable[[Path], mr.Run]] = {
    "comments": lambda folder: mr.evaluate_comments(REVIEWS, negatives=NEGATIVES, **_COMMON, out=folder),
    "repeated": lambda folder: mr.evaluate_comments(
        [{**each, "run": f"run-{number}"} for each in REVIEWS for number in (1, 2)], **_COMMON, repeat=True, out=folder
    ),
    "undecided": lambda folder: mr.evaluate_comments(REVIEWS, reference=REFERENCES, judge=Unsure(), out=folder),
    "routing": _routing,
    "outcomes": lambda folder: mr.evaluate_outcomes(CONVERSATIONS, out=folder),
}


def make_runs(root: Path) -> list[Path]:
    """Small runs of every kind, with labels; two of them also as a cluster writes them."""
    _label_comments(MAKERS["comments"](root / "comments"))
    MAKERS["repeated"](root / "repeated")
    others = [each | {"reviewer": f"{each['reviewer']}, other"} for each in REVIEWS]
    pairs = root / "comments" / "pairs.jsonl"
    mr.evaluate_comments(others, reference=REFERENCES, examples=[pairs], out=root / "taught")
    run = MAKERS["undecided"](root / "undecided")
    keep_gates(run, (GateResult("loud", "f1", 0.5, over=False, value=None, passed=False),))
    MAKERS["routing"](root / "routing")
    outcomes = MAKERS["outcomes"](root / "outcomes")
    open_outcome_frame(outcomes, budget=8)
    said = [OutcomeLabel(pull(pr), "bot[bot]", 0, f"Line 1 of {pr}.", "not", AT, "eva") for pr in (1, 2)]
    LabelFile(root / "outcomes").append(said)
    for name in ("comments", "routing"):
        copy_as_parts(root / name, root / f"{name}-parts")
    return sorted(root.iterdir())


def _label_comments(run) -> None:
    open_frame(run, budget=8)
    issue = unlisted_of(run).issues[0]
    pair = {"pr": pull(2), "reviewer": "loud", "generated": 0, "reference": 0, "match": True}
    pair |= {"a": "leaks the handle 2", "b": "leaks the handle 2", "at": AT, "name": "eva"}
    said = {"issue": issue.id, "pr": issue.pr, "comments": [list(each) for each in issue.comments]}
    said |= {"verdict": "valid", "note": "rename it", "at": AT, "name": "eva", "model": None}
    (run.folder / "labels.jsonl").write_text(json.dumps(pair) + "\n" + json.dumps(said) + "\n")


# Changing

STRANGE = [None, True, False, 0, -1, 1.5, 2**31, 2**63, 10**30, -(10**30), 1e308, float("nan"), float("inf"), "", "x",
           "N/A", "\ud800", "\0", "2026-01-01T00:00:00Z", "9999-99-99", [], {}, [[]], [None], {"": None}, {"x": [1]},
           [{}] * 3, ["x", 1], "9" * 5000]  # fmt: skip


def changed(value, rng: random.Random):
    """The value with one thing in it replaced, dropped, doubled, renamed or wrapped; deep inside as often as not."""
    if not isinstance(value, dict | list) or not value or rng.random() < 0.05:
        return rng.choice([rng.choice(STRANGE), rng.choice(STRANGE), [value], {"x": value}])
    action = rng.random()
    if isinstance(value, list):
        at = rng.randrange(len(value))
        middle = [] if action < 0.1 else [value[at]] * 2 if action < 0.2 else [changed(value[at], rng)]
        return [*value[:at], *middle, *value[at + 1 :]]
    key, copy = rng.choice(list(value)), dict(value)
    if action < 0.1:
        del copy[key]
    elif action < 0.15:
        copy[rng.choice([*value, "x"])] = copy.pop(key)
    else:
        copy[key] = changed(value[key], rng)
    return copy


def _as_json(text: bytes, rng: random.Random, lines: bool) -> bytes:
    """One value, or in one line of several, made another."""
    parts = text.splitlines() if lines else [text]
    at = rng.randrange(len(parts))
    value = json.loads(parts[at])
    for _ in range(rng.choice((1, 1, 1, 3))):
        value = changed(value, rng)
    parts[at] = json.dumps(value).encode()
    return b"\n".join(parts) + b"\n"


def _as_bytes(text: bytes, rng: random.Random) -> bytes:
    at, end = sorted((rng.randrange(len(text) + 1), rng.randrange(len(text) + 1)))
    lines = text.splitlines(keepends=True)
    one, other = rng.randrange(len(lines)), rng.randrange(len(lines))
    swapped = [*lines]
    swapped[one], swapped[other] = lines[other], lines[one]
    flipped = bytearray(text)
    for _ in range(rng.randint(1, 8)):
        flipped[rng.randrange(len(text))] ^= 1 << rng.randrange(8)
    return rng.choice(
        [b"", text[:at], text[:at] + text[end:], b"".join(lines[:one]), b"".join(lines[one:]), b"".join(swapped),
         b"".join([*lines[:one], *lines[one + 1 :]]), b"".join([*lines, lines[one]]), bytes(flipped), bytes(flipped),
         text[:at] + b"\xff\xfe\x80" + text[at:], text[:at] + b"\n" + text[at:], b"[" * 100_000, b"null\n", b"{}\n",
         b"\0" * 64, text.replace(b"\n", b"\r\n")]
    )  # fmt: skip


def mutate(folder: Path, rng: random.Random) -> str:
    """Change one file of a run, and say which, and whether the manifest was made to fit."""
    files = sorted(each for each in folder.rglob("*") if each.is_file())
    file = rng.choice(files)
    told = file.relative_to(folder).as_posix()
    text, action = file.read_bytes(), rng.random()
    if action < 0.04:
        file.unlink()
    elif action < 0.07:
        file.unlink()
        file.mkdir()
    elif action < 0.09:
        file.write_bytes(rng.choice(files).read_bytes())
    elif action < 0.7 and file.suffix in (".json", ".jsonl") and text:
        file.write_bytes(_as_json(text, rng, file.suffix == ".jsonl"))
    elif text:
        file.write_bytes(_as_bytes(text, rng))
    if rng.random() < 0.7:
        seal_again(folder)
        told += ", sealed again"
    return told


# Reading


@dataclass
class Found:
    """Something that is neither an answer nor a refusal."""

    run: str
    change: str
    reader: str
    error: str


def _command(*arguments: str) -> Callable[[Path], None]:
    def read(run: Path) -> None:
        stdin = sys.stdin
        sys.stdin = io.StringIO("s\nd\nv\nf\nu\nj\nq\n")
        # As strict as a terminal or a pipe is.
        out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
        try:
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                main([each.format(run=run, out=run.parent / "out", sound=run.parent / "sound") for each in arguments])
        except SystemExit as end:
            code = end.code or 0
            told = err.buffer.getvalue().decode()
            if code not in CODES or "Traceback" in told:
                raise AssertionError(f"exit {code}: {told[:300]}") from None
        finally:
            sys.stdin = stdin

    return read


def _python(use: Callable[[mr.Run], object]) -> Callable[[Path], None]:
    def read(run: Path) -> None:
        with contextlib.suppress(MetareviewError):
            use(mr.load_run(run))

    return read


PAGES = ["", "/live", "/pairs", "/pairs?verdict=same&q=leak", "/prs", "/comments?list=heeded", "/settings", "/label",
         "/unlisted", "/pr/0", "/pr/1"]  # fmt: skip


def _viewer(run: Path) -> None:
    """The list of runs and all pages of this one; nothing but answers and refusals."""
    settings = Settings()
    root = run.parent / "shown"
    root.mkdir(exist_ok=True)
    shown = Path(shutil.copytree(run, root / "run", symlinks=True))
    catalogue = Catalogue(root, settings.token)
    app = make_app(catalogue, settings)

    async def ask() -> None:
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url=f"http://{HOST}") as client:
            addresses = ["/", "/live", *(f"/run/run{page}" for page in PAGES), "/compare?a=run"]
            for address in addresses:
                answer = await client.get(address)
                if answer.status_code not in (200, 303, 400, 404, 422):
                    raise AssertionError(f"{address}: {answer.status_code}")

    try:
        asyncio.run(ask())
    finally:
        catalogue.close()
        shutil.rmtree(shown)


def _again(run: Path) -> None:
    """The command that made it, whichever that was; a run that goes on is made of what is there."""
    manifest = run / "manifest.json"
    for status in ("finished", "running"):
        for make in MAKERS.values():
            copy = Path(shutil.copytree(run, run.parent / "again"))
            if manifest.is_file():
                text = manifest.read_bytes()
                (copy / "manifest.json").write_bytes(text.replace(b'"finished"', f'"{status}"'.encode(), 1))
            try:
                with contextlib.suppress(MetareviewError):
                    make(copy)
            finally:
                shutil.rmtree(copy)


def _verdicts(run: Path, option: str, name: str) -> None:
    others = [each | {"reviewer": "nobody"} for each in _reviews("loud")]
    file = run / name
    with contextlib.suppress(MetareviewError):
        given = {option: [file] if option == "examples" else file}
        mr.evaluate_comments(others, reference=REFERENCES, ignore_location=True, **given)


READERS: dict[str, Callable[[Path], None]] = {
    **{f"report .{kind}": _command("report", "{run}", "-o", f"{{out}}.{kind}", "-q")
       for kind in ("html", "md", "csv", "json", "xml")},
    "leaderboard": _command("leaderboard", "{run}"),
    "leaderboard of two": _command("leaderboard", "{run}", "{sound}", "--json"),
    "compare": _command("compare", "{run}"),
    "compare with a sound one": _command("compare", "{sound}", "{run}", "--json"),
    "show": _command("show", "{run}"),
    "show of comments": _command("show", "{run}", "--missed", "--noise", "--near", "--matched", "--undecided"),
    "show --unlisted": _command("show", "{run}", "--unlisted", "--top", "0"),
    "show --disagree": _command("show", "{sound}", "--disagree", "{run}"),
    "show of outcomes": _command("show", "{run}", "--heeded", "--unheeded", "--rejected", "--repeated",
                                 "--cannot-tell", "--undecided"),
    "label": _command("label", "{run}", "--budget", "8"),
    "label --name": _command("label", "{run}", "--name", "eva"),
    "label --unlisted": _command("label", "{run}", "--unlisted"),
    "label --promote": _command("label", "{run}", "--unlisted", "--promote", "{out}.jsonl"),
    "calibrate --run": _command("calibrate", "--run", "{run}", "--disagreements", "--by", "severity"),
    "calibrate --run of outcomes": _command("calibrate", "--run", "{run}", "--json"),
    "calibrate of labels": _command("calibrate", "{run}/labels.jsonl", "--judge", "exact"),
    **{f"to_frame({what!r})": _python(lambda run, what=what: run.to_frame(what))
       for what in ("prs", "pairs", "references", "comments")},
    "records": _python(lambda run: run.records),
    "corrected": _python(lambda run: (run.summary, run.corrected, repr(run), run._repr_html_())),
    **{f"report .{kind} in Python": _python(lambda run, kind=kind: run.report(run.folder.parent / f"out.{kind}"))
       for kind in ("html", "md", "csv", "json", "xml")},
    "read_records": _python(lambda run: list(run.read_records())),
    "compare in Python": _python(lambda run: mr.compare(run)),
    "verdicts": partial(_verdicts, option="verdicts", name="pairs.jsonl"),
    "examples": partial(_verdicts, option="examples", name="pairs.jsonl"),
    "the run's examples": partial(_verdicts, option="examples", name="examples.jsonl"),
    "the same command": _again,
    "viewer": _viewer,
}  # fmt: skip


def findings(runs: list[Path], rng: random.Random, changes: int, readers: int) -> Iterator[Found]:
    """What so many changes bring to light, each read in so many ways."""
    with tempfile.TemporaryDirectory(prefix="mutated-") as scratch:
        for _ in range(changes):
            here = Path(scratch) / "here"
            source = rng.choice(runs)
            run = Path(shutil.copytree(source, here / "run"))
            shutil.copytree(source, here / "sound")
            change = mutate(run, rng)
            for name in rng.sample(sorted(READERS), readers):
                try:
                    with warnings.catch_warnings():
                        warnings.simplefilter("ignore")  # NumPy's, about what is no number
                        READERS[name](run)
                except MetareviewError:
                    continue
                except Exception as error:
                    yield Found(source.name, change, name, f"{type(error).__name__}: {str(error)[:300]}")
            shutil.rmtree(here)
