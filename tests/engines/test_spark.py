"""On a real cluster: the figures of one process, to the last digit, whatever the data is in and whoever is killed."""

import gzip
import json
import random
from collections import Counter
from datetime import UTC, datetime, timedelta

import engine_work
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import metareview as mr
from metareview.cli import main
from metareview.engines.spark import SparkEngine
from metareview.engines.spark_exchange import SparkExchange
from metareview.errors import InputError, UsageError
from metareview.pipelines.routing import large, scatter

KINDS = ["review_submitted"] * 4 + ["review_comment", "comment", "pushed", "edited", "merged", "closed"]
KINDS += ["review_requested", "ready_for_review", "converted_to_draft", "labelled"]


def history(seed=1, size=900):
    """Twelve repositories, one of which has most events; with all that a real history has in it."""
    rng = random.Random(seed)
    people = [f"{name}{number}" for name in ("ann", "Bob", "cy[bot]", "Dée") for number in range(4)] + [None]
    start, rows, opened = datetime(2026, 1, 1, tzinfo=UTC), [], {}
    for number in range(size):
        repo = "Big/one" if rng.random() < 0.6 else f"org/r{rng.randrange(11)}"
        at = start + timedelta(minutes=20 * number if rng.random() < 0.9 else 20 * (number - 1))
        actor = rng.choice(people)
        row = {"repo": repo, "at": at.isoformat(), "id": str(rng.randrange(700)) if rng.random() < 0.9 else None}
        if rng.random() < 0.2 or not opened.get(repo):
            pr = len(opened.setdefault(repo, [])) + 1
            opened[repo].append(pr)
            files = [f"src/{rng.randrange(9)}.py" for _ in range(rng.randrange(1, 4))]
            row |= {"kind": "opened", "title": "a", "body": f"Fixes #{pr}, cc @bob{pr % 4}", "files": files}
            row |= {"draft": rng.random() < 0.2}
        else:
            pr = rng.choice(opened[repo][-4:])
            row |= {"kind": rng.choice(KINDS), "body": rng.choice([None, "@Ann1 please", "half \ud83d"])}
            row |= {"target": rng.choice(people)} if row["kind"] == "review_requested" else {}
            row |= {"state": rng.choice(["APPROVED", "COMMENTED"])} if row["kind"] == "review_submitted" else {}
        if actor is not None and rng.random() < 0.2:
            actor = actor.upper()
        rows.append(row | {"pr": pr, "actor": actor, "actor_type": "Bot" if actor == "ann3" else None})
    return rows


def write(path, rows):
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    return path


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """The history in two files."""
    folder = tmp_path_factory.mktemp("history")
    rows = history()
    return [write(folder / "a%20 [1].jsonl", rows[:500]), write(folder / "b.jsonl", rows[500:])]


def same(on_spark, local):
    """The summary but for the run's path, in the same order of keys; and the records, in whatever order."""
    summaries = [json.dumps(run.summary | {"run": None}) for run in (on_spark, local)]
    assert summaries[0] == summaries[1]
    records = [sorted(run.records, key=lambda record: (record["repo"], record["pr"])) for run in (on_spark, local)]
    assert records[0] == records[1]
    assert records[0] != []


def test_work_is_mapped_in_order_and_what_it_refuses_is_raised(spark):
    engine = SparkEngine(spark)
    assert list(engine.map(engine_work.times, 10, [[1, 2], [3], [], [4]])) == [[10, 20], [30], [], [40]]
    with pytest.raises(InputError, match=r"a.jsonl:41: not readable. Export it again."):
        list(engine.map(engine_work.refuses, None, [1]))
    with pytest.raises(UsageError, match=r"Spark could not do the work: ZeroDivisionError: division by zero$"):
        list(engine.map(engine_work.breaks, None, [1, 0]))


def test_what_one_step_makes_comes_to_the_next_by_its_keys(spark):
    keys = ["a", "b", "ü", "half \ud83d", "e"]
    exchange = SparkExchange(spark)
    made = exchange.make(engine_work.make, keys, spark.range(0, 3, 1, 3))
    assert list(made) == [(0, "0!"), (1, "1!"), (2, "2!")]
    chunks = [["b", "e"], ["a"], ["half \ud83d"], ["ü"]]
    for factor in (1, 10):  # As often as one likes.
        found = exchange.use(engine_work.receive, factor, chunks, list)
        assert found == [
            (place, {key: [(n, at, factor * n, f"{n}{key}".encode("utf-8", "surrogatepass")) for n in range(3)
                           for at in range(2)] for key in chunk})
            for place, chunk in enumerate(chunks)
        ]  # fmt: skip
    assert exchange.use(engine_work.receive, 1, [], list) == []
    with pytest.raises(InputError, match=r"a.jsonl:42: not readable. Export it again."):
        exchange.use(engine_work.receive, 2, [["a"], ["none"]], list)
    exchange.close()
    with pytest.raises(InputError, match=r"a.jsonl:41: not readable. Export it again."):
        list(SparkExchange(spark).make(engine_work.make, [], spark.range(0, 3, 1, 3)))


@pytest.fixture
def small_pieces(spark, monkeypatch):
    """Many pieces and many batches, however small the history is."""
    monkeypatch.setattr(scatter, "PIECE", 20_000)
    monkeypatch.setattr(large, "BATCH", 60)


def test_a_damaged_run_is_refused_and_made_anew(small_pieces, files, tmp_path):
    folder = tmp_path / "run"
    found = mr.evaluate_routing(files, engine="spark", out=folder)
    parts = sorted((folder / "results.parquet").iterdir())
    seals = found.manifest.files
    assert seals.keys() == {"summary.json", *(f"results.parquet/{part.name}" for part in parts)}
    assert sum(seal.lines for name, seal in seals.items() if name != "summary.json") == found.manifest.records
    parts[-1].write_bytes(parts[0].read_bytes())
    with pytest.raises(InputError, match=f"{parts[-1].name}: a damaged run: "):
        mr.load_run(folder)
    assert mr.evaluate_routing(files, engine="spark", out=folder).metrics == found.metrics
    assert len(mr.load_run(folder).records) == found.manifest.records


def test_json_lines_in_pieces_give_the_same_run_in_parts(small_pieces, files, tmp_path, capsys):
    found = mr.evaluate_routing(files, engine="spark", out=tmp_path / "spark")
    local = mr.evaluate_routing(files, out=tmp_path / "local")
    same(found, local)
    assert found.manifest.inputs == local.manifest.inputs
    assert list(found.read_records()) == list(local.read_records())  # in the same order
    assert len(list((tmp_path / "spark" / "results.parquet").iterdir())) > 4
    assert not (tmp_path / "spark" / "results.jsonl").exists()
    # What it says is so: figures of what was left out, and of routers that lack what they need.
    assert any("an earlier event of its kind has its id" in warning for warning in found.result.warnings)

    printed = []
    for name in ("spark", "local"):
        with pytest.raises(SystemExit) as ended:
            main(["compare", str(tmp_path / name), "--reviewer", "popularity", "--reviewer", "recency"])
        assert ended.value.code == 0
        printed.append("".join(capsys.readouterr()).replace(f"/{name}", ""))
    assert printed[0] == printed[1]


@pytest.mark.parametrize("options", [{"cutoff": "ready_for_review"}, {"reviews_visible_at": "creation"}], ids=str)
def test_a_repository_that_dwarfs_the_rest_is_streamed(spark, files, tmp_path, monkeypatch, options):
    options = options | {"truth_window": "2d"}
    local = mr.evaluate_routing(files, **options)
    monkeypatch.setattr(large, "HELD", 100)
    sizes = Counter(row["repo"] for row in history())
    assert [repo for repo, number in sizes.items() if number > 100] == ["Big/one"]
    same(mr.evaluate_routing(files, engine="spark", out=tmp_path / "run", **options), local)


def test_parquet_with_a_cohort_that_is_chosen_among_all(spark, files, tmp_path):
    rows = [{key: value for key, value in row.items() if value != "half \ud83d"} for row in history()]
    for row in rows:
        row["at"] = datetime.fromisoformat(row["at"])
    schema = [("at", pa.timestamp("ns", tz="UTC")), ("repo", pa.string()), ("pr", pa.int32()), ("kind", pa.string())]
    schema += [(name, pa.string()) for name in ("id", "actor", "actor_type", "body", "state", "target")]
    table = pa.Table.from_pylist(rows, pa.schema([*schema, ("files", pa.list_(pa.string())), ("draft", pa.bool_())]))
    (tmp_path / "events").mkdir()
    for number in range(3):
        part = table.slice(300 * number, 300)
        pq.write_table(part, tmp_path / "events" / f"{number}.parquet", row_group_size=100)
    predictions = [
        {"repo": "big/ONE", "pr": pr, "router": "model", "candidates": ["BOB1", "x"]} for pr in (1, 2, 10**6)
    ]
    options = {
        "routers": ["recency", "mentions"],
        "predictions": write(tmp_path / "p.jsonl", predictions),
        "cutoff": "ready_for_review",
        "truth": "all_reviewers",
        "truth_window": None,
        "limit": 60,
        "ttfc": True,
        "merged_within": "1d",
    }
    found = mr.evaluate_routing(tmp_path / "events", engine="spark", **options)
    same(found, mr.evaluate_routing(tmp_path / "events", **options))
    assert found.result.prs == 60
    assert any("drafts that never became ready" in warning for warning in found.result.warnings)
    assert any("1 prediction left out" in warning for warning in found.result.warnings)


def archived(row, number):
    """An event as GH Archive writes it; what it has no kind for, as a push that shows how far the archive reaches."""
    user = {"login": row["actor"] or "ghost", "type": "User"}
    pull = {"number": row["pr"], "user": user, "body": row.get("body"), "base": {"sha": "s"}}
    kinds = {
        "opened": ("PullRequestEvent", {"action": "opened", "number": row["pr"], "pull_request": pull}),
        "review_submitted": (
            "PullRequestReviewEvent",
            {"action": "created", "review": {"user": user, "state": "approved"}, "pull_request": pull},
        ),
        "merged": ("PullRequestEvent", {"action": "closed", "pull_request": pull | {"merged": True}}),
    }
    kind, payload = kinds.get(row["kind"], ("PushEvent", {}))
    return {
        "id": str(number), "type": kind, "actor": {"login": user["login"]}, "repo": {"name": row["repo"]},
        "payload": payload, "public": True, "created_at": row["at"].replace("+00:00", "Z"),
    }  # fmt: skip


def test_hours_of_an_archive_packed_with_gzip(spark, tmp_path):
    rows = [archived(row, number) for number, row in enumerate(history(2, 400))]
    (tmp_path / "hours").mkdir()
    for number in range(2):
        text = "".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows[number::2])
        (tmp_path / "hours" / f"2026-01-01-{number}.json.gz").write_bytes(
            gzip.compress(text.encode("utf-8", "replace"))
        )
    options = {"since": "2026-01-02", "until": "2026-01-05", "repos": ["BIG/one", "org/r3"]}
    options |= {"routers": ["popularity", "revfinder"]}
    local = mr.evaluate_routing(tmp_path / "hours", **options)
    # Archives have no files: records are written before it is known that a router has no figures.
    assert any("revfinder is not applicable" in warning for warning in local.result.warnings)
    for out in (None, tmp_path / "run"):
        same(mr.evaluate_routing(tmp_path / "hours", engine="spark", out=out, **options), local)


def test_a_data_frame_is_replayed_where_it_is(spark, files, tmp_path):
    rows = [row for row in history() if row.get("body") != "half \ud83d"]
    names = ["repo", "pr", "at", "kind", "id", "actor", "actor_type", "body", "files", "draft", "state", "target"]
    columns = "repo string, pr int, at string, kind string, id string, actor string, actor_type string, body string, "
    columns += "files array<string>, draft boolean, state string, target string"
    frame = spark.createDataFrame([tuple(row.get(name) for name in names) for row in rows], columns)
    found = mr.evaluate_routing(frame.withColumn("at", frame["at"].cast("timestamp")), routers=["popularity"])
    local = mr.evaluate_routing(write(tmp_path / "events.jsonl", rows), routers=["popularity"])
    same(found, local)
    shuffled = mr.evaluate_routing(frame.orderBy("id").repartition(5), routers=["popularity"])
    assert shuffled.manifest.inputs == found.manifest.inputs
    fewer = mr.evaluate_routing(frame.where("kind != 'edited'"), routers=["popularity"])
    assert fewer.manifest.inputs != found.manifest.inputs

    names = [name for name in names if name != "pr"]
    with pytest.raises(InputError, match=r"^the data frame:1: "):
        mr.evaluate_routing(frame.select(*names).coalesce(1), routers=["popularity"])
    with pytest.raises(InputError, match=r"^the data frame: the history has no pull requests"):
        mr.evaluate_routing(frame.where("kind = 'comment'"), routers=["popularity"])


def test_a_worker_that_is_killed_in_mid_run_changes_nothing(small_pieces, spark_cluster, files, tmp_path):
    from slow_router import Slow

    options = {"routers": [Slow, "popularity"], "truth_window": "1d"}
    with spark_cluster.killing_a_worker():
        found = mr.evaluate_routing(files, engine="spark", out=tmp_path / "run", **options)
    assert len(spark_cluster.workers) == 1
    same(found, mr.evaluate_routing(files, **options))
    spark_cluster.replace_worker()


def reviews(seed, references=()):
    """Some remarks on each of thirty pull requests; those of a reviewer are near the references, or not."""
    rng = random.Random(seed)
    found = []
    for number in range(30):
        near = references[number]["comments"] if references else []
        comments = [{"path": f"{rng.randrange(3)}.py", "from_line": rng.randrange(1, 40), "note": rng.choice(NOTES)}]
        comments += [each | {"note": f"{each['note']} {rng.choice(NOTES)}"} for each in near if rng.random() < 0.6]
        found.append({"pr": f"https://github.com/o/r/pull/{number}", "language": "Go", "comments": comments})
    return found


NOTES = ["The handle is never closed", "Slow: quadratic in the rows", "Name the magic number 7", "Überlauf 😀"]


def test_comments_are_scored_by_pull_request(spark, tmp_path, monkeypatch):
    monkeypatch.setattr("metareview.pipelines.comments.work.CHUNK", 40)  # several chunks of a small run
    references, negatives = reviews(1), reviews(2)[:9]
    generated = [each | {"reviewer": name} for seed, name in ((3, "a"), (4, "b")) for each in reviews(seed, references)]
    options = {"negatives": negatives, "judge": "offline", "all_prs": True}
    local = mr.evaluate_comments(generated, reference=references, out=tmp_path / "local", **options)
    found = mr.evaluate_comments(generated, reference=references, out=tmp_path / "spark", engine="spark", **options)
    assert json.dumps(found.summary | {"run": None}) == json.dumps(local.summary | {"run": None})
    assert found.manifest.inputs == local.manifest.inputs
    assert found.records == local.records != []
    assert list(found.read_pairs()) == list(local.read_pairs()) != []
    assert len(list((tmp_path / "spark" / "pairs.parquet").iterdir())) > 4

    comments = "pr string, language string, {}comments array<struct<path: string, from_line: int, note: string>>"
    frames = [
        spark.createDataFrame([tuple(row[name] for name in names) for row in rows], comments.format(more))
        for rows, names, more in (
            (generated, ("pr", "language", "reviewer", "comments"), "reviewer string, "),
            (references, ("pr", "language", "comments"), ""),
            (negatives, ("pr", "language", "comments"), ""),
        )
    ]
    options["negatives"] = frames[2]
    framed = mr.evaluate_comments(frames[0], reference=frames[1], **options)
    assert framed.metrics == local.metrics
    assert framed.records == local.records
    assert list(framed.read_pairs()) == list(local.read_pairs())


def test_what_cannot_be_read_is_told_as_ever(small_pieces, files, tmp_path):
    lines = files[0].read_text().splitlines(keepends=True)
    broken = tmp_path / "broken.jsonl"
    broken.write_text("".join([*lines[:333], '{"repo": 1}\n', *lines[333:]]))
    with pytest.raises(InputError) as told:
        mr.evaluate_routing([files[1], broken], engine="spark")
    with pytest.raises(InputError) as expected:
        mr.evaluate_routing([files[1], broken])
    assert str(told.value) == str(expected.value)
    assert "broken.jsonl:334:" in str(told.value)
    with pytest.raises(UsageError, match="leave out --spark-master to use it"):
        mr.evaluate_routing(files, engine="spark", spark_master="spark://elsewhere:7077")
