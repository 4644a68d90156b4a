"""The package in examples/plugins, installed as a user would: its judge, router and format are known by name."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

PACKAGE = Path(__file__).resolve().parents[1] / "examples" / "plugins"
PR = "https://github.com/acme/shop/pull/7"


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder with the package in it, as pip installs it."""
    folder = tmp_path_factory.mktemp("installed")
    command = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-build-isolation"]
    subprocess.run([*command, "--target", folder, PACKAGE], check=True, capture_output=True)
    return folder


@pytest.fixture
def metareview(installed, tmp_path):
    def run(*arguments, path=installed):
        done = subprocess.run(
            [sys.executable, "-m", "metareview", *map(str, arguments)],
            cwd=tmp_path,
            env={**os.environ, "PYTHONPATH": str(path)},
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    return run


@pytest.fixture
def files(tmp_path):
    reference = {"pr": PR, "comments": [{"path": "cart.py", "from_line": 3, "note": "The coupon is applied twice"}]}
    (tmp_path / "references.jsonl").write_text(json.dumps(reference) + "\n", "utf-8")
    (tmp_path / "reviews.csv").write_text(
        f"pr,reviewer,path,line,note\n{PR},bot,cart.py,3,the coupon is applied two times\n{PR},bot,cart.py,3,Nice!\n",
        "utf-8",
    )


@pytest.mark.parametrize(("kind", "name"), [("judges", "word-overlap"), ("routers", "round-robin"), ("formats", "csv")])
def test_an_installed_plug_in_is_listed_with_the_package_that_brings_it(metareview, kind, name):
    [entry] = [each for each in json.loads(metareview("list", kind, "--json"))["items"] if each["name"] == name]
    assert entry["origin"] == "metareview-example 1.0"
    assert len(entry["summary"]) > 10


def test_an_installed_judge_and_format_score_comments(metareview, files):
    # 4 of 7 distinct words are shared: 0.571.
    summary = json.loads(metareview(
        "comments", "reviews.csv", "--reference", "references.jsonl", "--judge", "word-overlap", "--json",
    ))  # fmt: skip
    block = summary["reviewers"]["bot"]
    assert (block["positive_match_nums"], block["unmatched_nums"]) == (1, 1)
    assert summary["config"]["threshold"] == 0.5
    higher = json.loads(metareview(
        "comments", "reviews.csv", "--reference", "references.jsonl", "--judge", "word-overlap", "--threshold", "0.6",
        "--json",
    ))  # fmt: skip
    assert higher["reviewers"]["bot"]["positive_match_nums"] == 0


def test_package_module_factory_needs_no_installation(metareview, files):
    summary = json.loads(metareview(
        "comments", "reviews.csv", "--format", "metareview_example.csv_format:PLUGIN", "--judge",
        "metareview_example.word_overlap:WordOverlap", "--reference", "references.jsonl", "--json", path=PACKAGE,
    ))  # fmt: skip
    assert summary["judge"]["name"] == "word-overlap"
    assert summary["reviewers"]["bot"]["positive_match_nums"] == 1


def test_an_installed_router_ranks(metareview, tmp_path):
    """Ada reviewed first, so she has waited longest when the third pull request opens."""
    events = []
    for number, reviewer in ((1, "ada"), (2, "bob"), (3, "ada")):
        day = f"2025-06-0{number}"
        events.append({"repo": "acme/shop", "pr": number, "at": f"{day}T10:00:00Z", "kind": "opened", "actor": "eve"})
        events.append({"repo": "acme/shop", "pr": number, "at": f"{day}T10:30:00Z", "kind": "review_submitted",
                       "actor": reviewer})  # fmt: skip
    (tmp_path / "events.jsonl").write_text("".join(json.dumps(event) + "\n" for event in events), "utf-8")
    summary = json.loads(metareview("routing", "events.jsonl", "--router", "round-robin", "--json"))
    assert summary["routers"]["round-robin"]["hit@1"] == pytest.approx(1 / 3)
