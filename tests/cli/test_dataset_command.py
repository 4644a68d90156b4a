import json
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from dataset_server import FILES, REFERENCE
from file_server import FileServer, wait_until
from metareview.api import evaluate_comments, evaluate_routing
from metareview.sources.catalogue import DATASETS

SHARED = Path(__file__).resolve().parents[3] / "shared" / "data"


def manifest(folder):
    return json.loads((Path(folder) / "manifest.json").read_text())


def test_list_says_what_there_is_and_whether_it_is_here(run, mirror, shop_bench):
    code, out, _ = run("dataset", "list")
    assert code == 0
    assert out.splitlines()[-3:] == [
        "shop-bench: invented",
        "  acme/bench at c0ffeec0ffee, licence MIT",
        "  reference (2 files), negatives, candidates, history; size unknown; not fetched yet",
    ]
    assert (
        "patanamon/revfinder at d06f34320afd, licence not clear: see its README\n  history; 3.9 MB; not fetched" in out
    )
    run("dataset", "get", "shop-bench")
    assert "not fetched" not in run("dataset", "list")[1].splitlines()[-1]
    described = json.loads(run("dataset", "list", "--json")[1])["datasets"][-1]
    assert (described["name"], described["here"], described["repository"]) == ("shop-bench", "yes", "acme/bench")
    assert described["files"][0] == {
        "path": "data/good.jsonl",
        "role": "reference",
        "sha256": shop_bench.files[0].sha256,
        "bytes": len(FILES["data/good.jsonl"]),
        "address": f"{mirror.url}/raw/acme/bench/{shop_bench.commit}/data/good.jsonl",
        "file": f"{os.environ['METAREVIEW_DATA']}/datasets/shop-bench/c0ffeec0ffee/good.jsonl",
        "here": "yes",
    }


def test_list_tells_what_is_partly_here_and_what_is_damaged(run, mirror, shop_bench, data_folder):
    run("dataset", "get", "shop-bench")
    folder = data_folder / "datasets/shop-bench/c0ffeec0ffee"

    def here():
        return json.loads(run("dataset", "list", "--json")[1])["datasets"][-1]["here"]

    (folder / "good.jsonl").unlink()
    assert here() == "4 of 5"
    (folder / "good.jsonl").write_text("another")
    assert here() == "damaged"


def test_get_fetches_and_then_says_that_it_is_here_without_asking_anybody(run, mirror, shop_bench):
    code, out, err = run("dataset", "get", "shop-bench")
    assert code == 0
    assert "5 files fetched and checked" in out
    assert "Fetching shop-bench: good.jsonl" in err
    mirror.close()
    code, out, err = run("dataset", "get", "shop-bench")
    assert (code, err) == (0, "")
    assert "5 files here already, checked" in out
    assert f"acme/bench at {shop_bench.commit}, licence MIT" in out
    [document] = json.loads(run("dataset", "get", "shop-bench", "--json")[1])["datasets"]
    assert (document["fetched"], document["here"]) == ([], "yes")


def test_get_refuses_what_it_does_not_know(run, shop_bench):
    code, out, err = run("dataset", "get", "shop-bnech")
    assert (code, out) == (2, "")
    assert "Did you mean 'shop-bench'?" in err


def test_a_server_without_the_file_is_a_mistake_of_somebodys_setup(run, mirror, shop_bench):
    mirror.files.clear()
    code, out, err = run("dataset", "get", "shop-bench")
    assert (code, out) == (2, "")
    assert "HTTP 404" in err
    assert "place by hand" in err


def test_a_name_stands_for_the_files_of_its_role_and_is_fetched_at_first_use(run, here, mirror, shop_bench):
    command = ["comments", "shop-bench", "--reference", "shop-bench", "--negatives", "shop-bench", "--out", "r"]
    code, out, err = run(*command, "--json")
    assert code == 0, err
    assert "Fetching shop-bench: said.json" in err
    reviewers = json.loads(out)["reviewers"]
    assert reviewers["terse"]["metrics"]["positive_match_rate"] == 1
    assert {name: each["negative_expected_nums"] for name, each in reviewers.items()} == {"terse": 1, "noisy": 1}
    assert json.loads(out)["reviewers"]["terse"]["prs_with_references"] == 2
    kept = manifest("r")
    assert set(kept["inputs"]) == {
        "generated/said.json", "reference/good.jsonl", "reference-2/more.jsonl", "negatives/bad.jsonl"
    }  # fmt: skip
    assert kept["datasets"]["shop-bench"]["commit"] == shop_bench.commit
    files = [file for file in shop_bench.files if file.role != "history"]
    assert kept["datasets"]["shop-bench"]["files"] == {file.path: file.sha256 for file in files}
    mirror.close()
    assert run(*command, "-q")[0] == 0  # continued, without a network


def test_a_file_named_like_a_data_set_does_not_take_its_place(run, here, mirror, shop_bench):
    hostile = REFERENCE | {"comments": [{"path": "x.py", "from_line": 1, "note": "Anything"}] * 5}
    (here / "shop-bench").write_text(json.dumps(hostile | {"reviewer": "me"}))
    taken = "shop-bench: this is the data set, not what lies here under its name; for that, write ./shop-bench.\n"
    code, out, err = run("check", "--reference", "shop-bench", "--negatives", "shop-bench", "--json")
    assert code == 0, err
    assert json.loads(out)["references"] == 2
    assert err.count(taken) == 1
    command = [
        "comments",
        "shop-bench",
        "--reference",
        "shop-bench",
        "--negatives",
        "shop-bench",
        "--out",
        "r",
        "--json",
    ]
    code, out, err = run(*command)
    assert code == 0, err
    assert list(json.loads(out)["reviewers"]) == ["terse", "noisy"]
    assert err.count(taken) == 1
    assert taken not in run(*command, "-q")[2]
    code, out, err = run("routing", "shop-bench", "--json", "--out", "routed")
    assert (code, json.loads(out)["prs"], err.count(taken)) == (0, 1, 1)
    assert evaluate_comments("shop-bench", reference="shop-bench", judge="exact").metrics.keys() == {"terse", "noisy"}


def test_a_path_to_a_file_named_like_a_data_set_is_that_file(run, here, mirror, shop_bench):
    (here / "shop-bench").write_text(json.dumps(REFERENCE | {"reviewer": "me"}))
    for path in ("./shop-bench", str(here / "shop-bench")):
        code, out, err = run("check", "--reference", path, "--json")
        assert (code, json.loads(out)["references"]) == (0, 1), err
        assert "data set" not in err
    run_of_file = evaluate_comments("./shop-bench", reference="./shop-bench", judge="exact", force=True)
    assert list(run_of_file.metrics) == ["me"]
    assert mirror.requests == []


def test_a_file_is_taken_where_its_name_is_a_data_sets_without_such_files(run, here):
    (here / "revfinder-android").write_text(json.dumps(REFERENCE | {"reviewer": "me"}))
    (here / "ref.jsonl").write_bytes(FILES["data/good.jsonl"])
    command = ["comments", "revfinder-android", "--reference", "ref.jsonl", "--json", "--out", "r", "--force"]
    code, out, err = run(*command)
    assert (code, list(json.loads(out)["reviewers"])) == (0, ["me"])
    assert (
        "revfinder-android: this is what lies here under this name: the data set revfinder-android has no file" in err
    )


def test_names_in_python(here, mirror, shop_bench):
    run = evaluate_comments("shop-bench", reference="shop-bench", judge="exact")
    assert run.metrics["terse"]["positive_match_rate"] == 1
    mixed = evaluate_comments(Path("shop-bench"), reference=["shop-bench"], negatives=["shop-bench"], judge="exact")
    assert mixed.metrics["terse"]["false_positive_rate"] == 0
    routed = evaluate_routing("shop-bench", routers=["popularity"], out="routed")
    assert routed.summary["prs"] == 1
    assert list(manifest("routed")["datasets"]) == ["shop-bench"]


def test_routing_and_check_take_names_too(run, here, mirror, shop_bench):
    code, out, err = run("routing", "shop-bench", "--json", "--out", "r")
    assert code == 0, err
    assert json.loads(out)["prs"] == 1
    code, out, err = run("check", "--reference", "shop-bench", "--json")
    assert code == 0, err
    assert json.loads(out)["references"] == 2


def test_a_name_without_a_file_of_that_role(run, here, monkeypatch):
    code, _, err = run("comments", "revfinder-android", "--reference", "aacr-bench")
    assert code == 2
    assert "revfinder-android has no file of the role candidates, only history" in err


def test_a_name_that_is_nearly_one(run, here):
    code, _, err = run("check", "--reference", "aacr-bnch")
    assert code == 2
    assert "aacr-bnch: no such file. Did you mean the data set aacr-bench?" in err
    assert "Check the path" in run("check", "--reference", "aacr-bnch.json")[2]


def test_without_a_network_the_first_use_says_what_is_missing(run, here, monkeypatch, shop_bench):
    monkeypatch.setenv("METAREVIEW_DATASET_MIRROR", "http://127.0.0.1:9")
    code, out, err = run("routing", "shop-bench")
    assert (code, out) == (2, "")
    assert shop_bench.of_role("history")[0].sha256 in err


def test_interrupted_it_keeps_what_came_and_goes_on(mirror, shop_bench, data_folder, tmp_path):
    mirror.plan = [("hold", 100)]
    code = (
        "import sys; sys.path[:0] = [sys.argv[1]]; from dataset_server import dataset_of, FILES, ROLES;"
        "from metareview.sources import catalogue;"
        "catalogue.DATASETS['shop-bench'] = dataset_of('shop-bench', FILES, ROLES);"
        "from metareview.cli import main; main(['dataset', 'get', 'shop-bench'])"
    )
    tests = str(Path(__file__).resolve().parents[1])
    process = subprocess.Popen([sys.executable, "-c", code, tests], stderr=subprocess.PIPE, text=True)
    part = data_folder / "datasets/shop-bench/c0ffeec0ffee/good.jsonl.part"
    wait_until(lambda: part.exists() and part.stat().st_size == 100)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=20)
    assert process.returncode == 130
    assert "is kept; the same command goes on" in err
    assert "Traceback" not in err
    assert part.stat().st_size == 100
    assert subprocess.run([sys.executable, "-c", code, tests], capture_output=True).returncode == 0
    assert mirror.requests[1][1] == "bytes=100-"
    assert part.with_suffix("").read_bytes() == FILES["data/good.jsonl"]


@pytest.mark.skipif(not SHARED.is_dir(), reason="the published data (../shared/data) is not here")
def test_the_published_benchmark_by_name(run, here, data_folder, monkeypatch):
    dataset = DATASETS["aacr-bench"]
    served = FileServer({})
    for file in dataset.files:
        served.files[f"/{dataset.repository}/{dataset.commit}/{file.path}"] = (SHARED / "aacr" / file.name).read_bytes()
    monkeypatch.setenv("METAREVIEW_DATASET_MIRROR", served.url)
    by_name = run("check", "--reference", "aacr-bench", "--negatives", "aacr-bench", "--json", "-q")[1]
    served.close()
    [good, bad] = (SHARED / "aacr" / file.name for file in dataset.files)
    by_path = run("check", "--reference", good, "--negatives", bad, "--json", "-q")[1]
    folder = data_folder / "datasets/aacr-bench/540dd9bdcc4d"
    assert json.loads(by_name.replace(str(folder), str(SHARED / "aacr"))) == json.loads(by_path)
    assert json.loads(by_name)["references"] == 1505
