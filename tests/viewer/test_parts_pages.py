"""Pages of a run whose lines are Parquet parts are those of the same run with JSON lines."""

import re

import pytest
from viewer_samples import client_of, pull, small_run, unfinished

import metareview as mr
from metareview.runs.files import to_line
from metareview.runs.part_columns import COMMENT_COLUMNS
from metareview.runs.parts import write_part
from parts_of_runs import copy_as_parts


@pytest.fixture(scope="module")
def clients(tmp_path_factory):
    """Of the same runs as lines, and as parts."""
    root = tmp_path_factory.mktemp("runs")
    small_run(root / "lines" / "small")
    day = "2026-01-0{}T08:{:02d}:00Z"
    history = [
        {"id": f"{number}{minute}", "repo": "o/r", "pr": number, "at": day.format(number, minute), **more}
        for number in range(1, 6)
        for minute, more in ((0, {"kind": "opened", "actor": "ann"}), (9, {"kind": "review_submitted", "actor": "bob"}))
    ]
    (root / "history.jsonl").write_text("".join(map(to_line, history)))
    mr.evaluate_routing(root / "history.jsonl", routers=["popularity"], out=root / "lines" / "way")
    for name in ("small", "way"):
        copy_as_parts(root / "lines" / name, root / "parts" / name)
    return client_of(root / "lines"), client_of(root / "parts"), root


PAGES = [
    "/run/small",
    "/run/small/prs",
    "/run/small/prs?q=bounds",
    "/run/small/pr/0",
    "/run/small/pr/1",
    "/run/small/pairs",
    "/run/small/pairs?sort=-score",
    "/run/small/pairs?verdict=same&q=leak",
    "/run/way",
    "/run/way/pr/0",
    "/run/way/pr/3",
]


@pytest.mark.parametrize("page", PAGES)
def test_a_page_is_the_same(clients, page):
    lines, parts, _ = clients
    answers = [client.get(page) for client in (lines, parts)]
    assert [answer.status_code for answer in answers] == [200, 200]
    texts = [re.sub(r'(?<=name="token" value=")[^"]+', "", answer.text) for answer in answers]
    assert texts[0] == texts[1]


def test_the_list_of_runs_counts_what_a_cluster_has_written_so_far(clients):
    _, parts, root = clients
    folder = unfinished(root / "parts" / "going")
    (folder / "results.jsonl").unlink()
    lines = [to_line({"github_pr_url": pull(1), "reviewer": "a"}).encode()] * 5
    write_part(folder / "results.parquet", 7, lines, COMMENT_COLUMNS)  # the first part is not there yet
    page = " ".join(re.sub("<[^>]+>", " ", parts.get("/").text).split())
    assert "going running – comments 5" in page
    assert "way finished" in page


def test_parts_that_lead_elsewhere_are_not_followed(clients):
    _, parts, root = clients
    (root / "elsewhere").mkdir()
    write_part(root / "elsewhere", 0, [b"{}"], COMMENT_COLUMNS)
    unfinished(root / "parts" / "sly", 0)
    (root / "parts" / "sly" / "results.jsonl").unlink()
    (root / "parts" / "sly" / "results.parquet").symlink_to(root / "elsewhere")
    page = " ".join(re.sub("<[^>]+>", " ", parts.get("/").text).split())
    assert "sly broken" in page
    assert " results.parquet: leads elsewhere" in page
