"""A history that is scattered over the disk and replayed in batches gives what one that is held in memory gives."""

import json
import random
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from metareview.engines.local import LocalEngine
from metareview.errors import InputError, UsageError
from metareview.formats.history import open_history
from metareview.pipelines import routing
from metareview.pipelines.routing import RoutingOptions, large, scatter, scratch, seen, stream
from metareview.runs.files import PARTS, RESULTS, SUMMARY

PEOPLE = ["Ann", "bob", "cyd", "dee", "eve", "Fay", "gus[bot]", "hal"]
KINDS = ["review_submitted", "review_comment", "comment", "pushed", "review_requested", "edited", "odd_kind"]


def history(seed: int, *, repos: int = 5, prs: int = 60) -> list[dict[str, Any]]:
    """Events as histories have them: out of order, at equal instants, with repeated ids, drafts and other spellings."""
    rng = random.Random(seed)
    events: list[dict[str, Any]] = []

    def add(repo: str, pr: int, second: int, kind: str, **more: Any) -> None:
        day, clock = divmod(second, 86_400)
        at = f"2025-{1 + day // 28:02d}-{1 + day % 28:02d}T{clock // 3600:02d}:{clock // 60 % 60:02d}:{clock % 60:02d}Z"
        events.append({"repo": repo, "pr": pr, "at": at, "kind": kind, **more})

    for pr in range(1, prs + 1):
        repo = f"org/repo{min(rng.randrange(repos), rng.randrange(repos))}"
        opened = pr * 120_000 + rng.randrange(3) * 40
        person = rng.choice(PEOPLE)
        draft = {"draft": True} if rng.random() < 0.2 else {}
        add(repo, pr, opened, "opened", actor=person, body=f"Fixes #{pr} @{rng.choice(PEOPLE)}", id=str(pr), **draft,
            files=rng.sample(["a.py", "b/c.py", "d.md"], rng.randrange(3)))  # fmt: skip
        if draft and rng.random() < 0.6:
            add(repo, pr, opened + 600, "ready_for_review", actor=person)
        for _ in range(rng.randrange(8)):
            who = rng.choice(PEOPLE)
            spelled = who.upper() if rng.random() < 0.2 else who
            add(repo, pr, opened + rng.randrange(-60, 7_200), rng.choice(KINDS), actor=spelled,
                actor_type=rng.choice(["User", "Bot"]) if who == "hal" else None,
                id=str(rng.randrange(40)), target=rng.choice(PEOPLE), state=rng.choice(["APPROVED", None]))  # fmt: skip
        if rng.random() < 0.5:
            add(repo, pr, opened + rng.randrange(9_000), "merged", actor=rng.choice(PEOPLE))
        if rng.random() < 0.1:
            add(repo, pr, opened + 300_000, "opened", actor=person)  # once more, which is left out
    rng.shuffle(events)
    return events


def write(folder: Path, events: list[dict[str, Any]]) -> Path:
    file = folder / "events.jsonl"
    file.write_text("".join(json.dumps(event) + "\n" for event in events))
    return file


def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(scatter, "PIECE", 3_000)
    monkeypatch.setattr(large, "BATCH", 60)


def summary(folder: Path) -> dict[str, Any]:
    return json.loads((folder / SUMMARY).read_text()) | {"run": None}


OPTIONS: list[dict[str, Any]] = [
    {},
    {"limit": 17},
    {"cutoff": "ready_for_review"},
    {"cutoff": "ready_for_review", "limit": 9},
    {"cutoff": "created_at+30m", "truth": "all_reviewers", "truth_window": "none"},
    {"repos": ["org/repo1", "org/repo2"], "truth_window": "7d", "merged_within": "1h", "ttfc": True},
    {"since": "2025-02-01", "until": "2025-03-01", "include_bots": True},
    {"reviews_visible_at": "creation", "routers": ["revfinder", "chrev"], "truth": "all_reviewers"},
]


@pytest.mark.parametrize("keywords", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_the_run_is_the_same_to_the_last_byte(
    keywords: dict[str, Any], seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, history(seed))
    options = RoutingOptions(file, **keywords)
    routing.evaluate(options, out=tmp_path / "held")
    small_pieces(monkeypatch)
    monkeypatch.setattr(routing, "_LARGE", 0)
    run = routing.evaluate(options, out=tmp_path / "scattered")
    assert len(list(scatter.pieces_of(open_history(file)))) > 3
    held, scattered = tmp_path / "held", tmp_path / "scattered"
    assert (scattered / RESULTS).read_bytes() == (held / RESULTS).read_bytes()
    assert summary(scattered) == summary(held)
    assert run.result == routing.evaluate(RoutingOptions(file, **keywords, workers=1)).result
    assert not (scattered / PARTS).exists()
    manifests = [json.loads((folder / "manifest.json").read_text()) for folder in (held, scattered)]
    assert len({each["fingerprint"] for each in manifests}) == 1


def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every repository is streamed, and each of its passes takes many steps."""
    small_pieces(monkeypatch)
    monkeypatch.setattr(routing, "_LARGE", 0)
    monkeypatch.setattr(large, "HELD", 0)
    monkeypatch.setattr(scatter, "BLOCK", 3)
    for name, number in [("BLOCK", 4), ("BUCKET", 20), ("COURSES", 2), ("STRETCH_EVENTS", 7), ("STRETCH_COURSES", 3)]:
        monkeypatch.setattr(stream, name, number)
    monkeypatch.setattr(stream, "RUN", 5)
    monkeypatch.setattr(scratch, "BUFFERED", 11)
    monkeypatch.setattr(seen, "BLOCK", 6)


@pytest.mark.parametrize("keywords", OPTIONS, ids=str)
@pytest.mark.parametrize("seed", [0, 1])
def test_a_streamed_repository_gives_the_same_run_to_the_last_byte(
    keywords: dict[str, Any], seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, history(seed, repos=2))
    (tmp_path / "p.jsonl").write_text(
        "".join(
            json.dumps({"repo": f"org/repo{pr % 2}", "pr": pr, "router": "model", "candidates": ["BOB", "ann", "x"]})
            + "\n"
            for pr in range(1, 70, 2)
        )
    )
    options = RoutingOptions(file, **keywords, predictions=tmp_path / "p.jsonl")
    routing.evaluate(options, out=tmp_path / "held")
    small_blocks(monkeypatch)
    replayed: list[str] = []
    inner = stream.Streamed.replay

    def counted(self: stream.Streamed, *arguments: Any) -> Any:
        replayed.append("once")
        return inner(self, *arguments)

    monkeypatch.setattr(stream.Streamed, "replay", counted)
    routing.evaluate(options, out=tmp_path / "streamed")
    assert replayed
    held, streamed = tmp_path / "held", tmp_path / "streamed"
    assert (streamed / RESULTS).read_bytes() == (held / RESULTS).read_bytes()
    assert summary(streamed) == summary(held)


def test_a_streamed_repository_takes_a_fraction_of_the_memory() -> None:
    script = Path(__file__).with_name("large_repository.py")
    found = {
        way: subprocess.run([sys.executable, script, way], capture_output=True, text=True, check=True).stdout.split()
        for way in ("held", "streamed")
    }
    assert found["held"][1:] == found["streamed"][1:]
    assert int(found["held"][0]) > 300
    assert int(found["streamed"][0]) < 200


def test_worker_processes_change_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path, history(3, repos=9, prs=80))
    for workers in (1, 2, 3):
        if workers > 1:
            small_pieces(monkeypatch)
        routing.evaluate(RoutingOptions(file, workers=workers), out=tmp_path / str(workers))
    assert (tmp_path / "1" / RESULTS).read_bytes() == (tmp_path / "2" / RESULTS).read_bytes()
    assert summary(tmp_path / "1") == summary(tmp_path / "2") == summary(tmp_path / "3")


def test_without_a_folder_the_records_are_in_memory(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path, history(4))
    held = routing.evaluate(RoutingOptions(file))
    small_pieces(monkeypatch)
    monkeypatch.setattr(routing, "_LARGE", 0)
    scattered = routing.evaluate(RoutingOptions(file))
    assert list(scattered.read_records()) == list(held.read_records())
    assert scattered.manifest.inputs == held.manifest.inputs


def test_a_run_that_was_cut_off_goes_on_where_it_was(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path, history(5))
    small_pieces(monkeypatch)
    monkeypatch.setattr(routing, "_LARGE", 0)
    whole = routing.evaluate(RoutingOptions(file), out=tmp_path / "whole")
    replayed: list[int] = []

    def interrupted(self: LocalEngine, work: Any, context: Any, chunks: Any) -> Any:
        for number, chunk in enumerate(chunks):
            if len(replayed) == 3:
                raise KeyboardInterrupt
            replayed.append(chunk.number)
            yield number, work(context, chunk)

    with monkeypatch.context() as patch:
        patch.setattr(LocalEngine, "map_as_done", interrupted)
        with pytest.raises(KeyboardInterrupt):
            routing.evaluate(RoutingOptions(file), out=tmp_path / "cut")
    cut = tmp_path / "cut"
    assert not (cut / RESULTS).exists()
    begun = list(replayed)
    done: list[int] = []

    def counted(self: LocalEngine, work: Any, context: Any, chunks: Any) -> Any:
        for number, chunk in enumerate(chunks):
            done.append(chunk.number)
            yield number, work(context, chunk)

    with monkeypatch.context() as patch:
        patch.setattr(LocalEngine, "map_as_done", counted)
        run = routing.evaluate(RoutingOptions(file), out=cut)
    assert done
    assert not set(done) & set(begun)  # Nothing is done twice.
    assert run.result == whole.result
    assert (cut / RESULTS).read_bytes() == (tmp_path / "whole" / RESULTS).read_bytes()


def test_a_finished_run_is_found_again_and_another_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = write(tmp_path, history(6))
    small_pieces(monkeypatch)
    monkeypatch.setattr(routing, "_LARGE", 0)
    first = routing.evaluate(RoutingOptions(file), out=tmp_path / "run")
    again = routing.evaluate(RoutingOptions(file), out=tmp_path / "run")
    assert again.result == first.result
    assert again.manifest.finished == first.manifest.finished
    results = tmp_path / "run" / RESULTS
    whole = results.read_bytes()
    results.write_bytes(whole[: len(whole) // 2])
    assert routing.evaluate(RoutingOptions(file), out=tmp_path / "run").result == first.result
    assert results.read_bytes() == whole
    with pytest.raises(UsageError, match="k differ"):
        routing.evaluate(RoutingOptions(file, k=[2]), out=tmp_path / "run")


def test_what_cannot_be_read_names_the_line_of_the_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    events = history(7)
    events[200] = events[200] | {"at": "yesterday"}
    file = write(tmp_path, events)
    small_pieces(monkeypatch)
    with pytest.raises(InputError, match=r"events.jsonl:201: ") as refused:
        routing.evaluate(RoutingOptions(file, workers=2))
    monkeypatch.undo()
    with pytest.raises(InputError) as held:
        routing.evaluate(RoutingOptions(file, workers=1))
    assert str(refused.value) == str(held.value)


def test_a_line_with_too_many_values_is_named_by_its_number_in_the_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = write(tmp_path, history(7)[:10])
    monkeypatch.setattr(scatter, "PIECE", file.stat().st_size - 1)
    with file.open("a") as lines:
        lines.write('{"repo": "o/r", "pr": 1, "files": [' + "[]," * 1_400_000 + "[]]}\n")
    for workers in (1, 2):
        with pytest.raises(InputError, match=r"events\.jsonl:11: 4 MB of JSON"):
            routing.evaluate(RoutingOptions(file, workers=workers))


def test_an_earlier_last_cutoff_than_it_looked_finds_the_same_people(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last pull request is opened twice: the second time is left out, and what came after is not in the time."""
    rows = [
        {"repo": "o/r", "pr": n, "at": f"2025-01-{n:02d}T00:00:00Z", "kind": "opened", "actor": "ann"}
        for n in range(1, 10)
    ]
    rows.append({"repo": "o/r", "pr": 9, "at": "2025-03-01T00:00:00Z", "kind": "opened", "actor": "ann"})
    rows.append({"repo": "o/r", "pr": 9, "at": "2025-02-01T00:00:00Z", "kind": "comment", "actor": "late"})
    rows.append({"repo": "o/r", "pr": 3, "at": "2025-01-03T00:10:00Z", "kind": "comment", "actor": "bob"})
    file = write(tmp_path, rows)
    held = routing.evaluate(RoutingOptions(file, routers=["popularity"]))
    monkeypatch.setattr(routing, "_LARGE", 0)
    scattered = routing.evaluate(RoutingOptions(file, routers=["popularity"]))
    assert scattered.result == held.result
    assert held.result.routers["popularity"].load.population == 1
