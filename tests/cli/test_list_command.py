"""`metareview list`: what there is to choose from, where it comes from, and what help texts take from it."""

import json
from importlib.metadata import EntryPoint

import pytest

from metareview import __version__, plugins
from metareview.cli.options import comment_formats, judge_names, metric_names
from metareview.comments.measures import MEASURES
from metareview.judges.registry import JUDGES, JudgePlugin
from metareview.routing.registry import ROUTERS

OURS = f"metareview {__version__}"
OUTCOMES = [
    *("lines_changed", "suggestion_taken", "resolved", "answered", "liked", "disliked", "repeated"),
    *("addressed", "addressed_fully"),
]
NAMES = {
    "judges": ["none", "exact", "rouge", "offline", "embedding", "llm", "cascade"],
    "routers": ["mentions", "popularity", "recency", "codeowners", "revfinder", "chrev"],
    "formats": [
        *(
            "aacr-text",
            "aacr",
            "jsonl",
            "github",
            "martian",
            "aacr-standard",
            "bc-bench",
            "claude-code",
            "codex",
            "gitlab",
        ),
        *("gitlab-code-quality", "open-code-review", "pr-agent", "rdjson", "rdjsonl", "sarif"),
        *("events", "gerrit", "sqlite", "gharchive"),
    ],
    "metrics": [
        *("precision", "recall", "f1", "line_precision", "line_recall", "line_f1", "noise", "false_positives"),
        *("hit@1", "hit@3", "hit@5", "mrr"),
        *("map", "ndcg@1", "ndcg@3", "ndcg@5", "recall@1", "recall@3", "recall@5"),
        *("expertise@1", "expertise@3", "expertise@5"),
        *OUTCOMES,
    ],
}


@pytest.mark.parametrize("kind", NAMES)
def test_json_has_every_name_with_its_origin_and_a_line_on_it(run, kind):
    code, out, err = run("list", kind, "--json")
    assert (code, err) == (0, "")
    found = json.loads(out)
    assert (found["schema"], found["kind"]) == ("metareview.list/1", kind)
    ours = [item for item in found["items"] if item["origin"] == OURS]
    assert [item["name"] for item in ours] == NAMES[kind]
    assert [item["name"] for item in ours if len(item["summary"]) < 10 or "\n" in item["summary"]] == []


@pytest.mark.parametrize("kind", NAMES)
def test_the_table_begins_each_row_with_the_name(run, kind):
    code, out, _ = run("list", kind)
    head, *rows = out.splitlines()
    assert code == 0
    assert head.split()[:2] == ["name", "from"]
    assert [row.split()[0] for row in rows if row[0] != " " and OURS in row] == NAMES[kind]


def test_a_long_line_goes_on_below_the_name_that_it_is_about(run, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    rows = run("list", "formats")[1].splitlines()[1:]
    first = next(at for at, row in enumerate(rows) if row.startswith("claude-code "))
    assert "Claude Code's review: [{file, line," in rows[first]
    assert rows[first + 1].strip().endswith("category}]")


def test_a_metric_is_listed_with_its_direction_and_its_key_in_json(run):
    items = {item["name"]: item["summary"] for item in json.loads(run("list", "metrics", "--json")[1])["items"]}
    assert items["noise"] == (
        "Of the comments, the share that match no reference. Lower is better. In JSON: unmatched_rate."
    )
    assert items["mrr"].endswith("misses counted as 0.")


@pytest.mark.parametrize(
    ("target", "summary"), [("installed:JUDGE", "Tosses a coin."), ("installed:none", "cannot be")]
)
def test_a_plug_in_of_another_package_is_listed_and_a_broken_one_says_why(run, here, monkeypatch, target, summary):
    (here / "installed.py").write_text(
        "from metareview.judges.registry import JudgePlugin\n"
        "JUDGE = JudgePlugin('Tosses a coin.', False, lambda options: None)\n"
    )
    monkeypatch.syspath_prepend(str(here))
    point = EntryPoint("coin", target, "metareview.judges")
    monkeypatch.setattr(plugins, "entry_points", lambda group: [point] if group == "metareview.judges" else [])
    monkeypatch.delitem(JUDGES.__dict__, "installed", raising=False)
    items = json.loads(run("list", "judges", "--json")[1])["items"]
    monkeypatch.undo()
    del JUDGES.__dict__["installed"]
    assert [item["name"] for item in items] == [*NAMES["judges"], "coin"]
    assert summary in items[-1]["summary"]


def test_an_unknown_kind_is_exit_2_with_the_kinds(run):
    code, out, err = run("list", "people")
    assert (code, out) == (2, "")
    assert "Give one of judges, routers, formats, metrics." in err


def test_help_texts_take_their_names_from_the_registries(run):
    assert ", ".join(JUDGES.names()) in " ".join(run("comments", "--help")[1].split())
    assert ", ".join(ROUTERS.names()) in " ".join(run("routing", "--help")[1].split())
    # Help texts break lines at hyphens too.
    assert ", ".join(comment_formats()) in " ".join(run("check", "--help")[1].split()).replace("- ", "-")
    assert judge_names() == JUDGES.names()
    assert metric_names() == [
        *(measure.short for measure in MEASURES),
        "hit@K",
        "ndcg@K",
        "recall@K",
        "mrr",
        "map",
        *OUTCOMES,
    ]
    assert ", ".join(metric_names()) in " ".join(run("report", "--help")[1].split())
    assert all(isinstance(JUDGES.load(name), JudgePlugin) for name in NAMES["judges"])
