"""Names, paths and notes that turn text around, end a line unseen or drive a terminal are shown, and not obeyed."""

import json
import re

import pytest
from viewer_samples import client_of

import metareview as mr

ACTING = ["\u202eresu\u202c", "\u2066a\u2069", "a\u200eb\u200fc\u061c", "x\u2028y\u2029z", "\x1b[31mred", "c\x9b1\x85m"]
OBEYED = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069]")


@pytest.fixture(scope="module")
def client(tmp_path_factory):
    folder = tmp_path_factory.mktemp("acting")
    rows = {"bots": [], "references": []}
    for number, text in enumerate(ACTING, 1):
        pr = f"https://github.com/o/r/pull/{number}"
        said = {"path": text, "from_line": 1, "note": f"{text} said"}
        rows["bots"].append({"pr": pr, "reviewer": text, "comments": [said]})
        rows["references"].append({"pr": pr, "comments": [said | {"note": f"{text} meant"}]})
    for name, records in rows.items():
        (folder / f"{name}.jsonl").write_text("".join(json.dumps(record) + "\n" for record in records), "utf-8")
    references = folder / "references.jsonl"
    mr.evaluate_comments(folder / "bots.jsonl", reference=references, judge="exact", out=folder / "runs" / "run")
    return client_of(folder / "runs")


@pytest.mark.parametrize("page", ["", "/pairs", "/prs", "/settings", "/pr/0", "/pr/3"])
def test_no_page_obeys_what_a_run_holds(client, page):
    answer = client.get(f"/run/run{page}")
    assert answer.status_code == 200
    assert OBEYED.findall(answer.text) == []
    assert "[U+" in answer.text or "\ufffd" in answer.text or page == "/settings"
