"""Coming from the routing harness: its saved routes as predictions, its routers as routers."""

import json
from datetime import UTC, datetime

import pytest

import metareview as mr
from metareview.compat.harness import Evidence, RouteCandidate, RouteResult, Target, TargetType
from metareview.errors import InputError, UsageError
from metareview.formats.predictions import read_predictions

HISTORY = [
    {"repo": "o/r", "pr": 7, "at": "2025-06-01T12:00:00Z", "kind": "opened", "actor": "ann", "id": "1"},
    {"repo": "o/r", "pr": 7, "at": "2025-06-01T12:10:00Z", "kind": "review_submitted", "actor": "bob", "id": "2"},
    {"repo": "o/r", "pr": 7, "at": "2025-06-09T12:10:00Z", "kind": "closed", "actor": "bob", "id": "3"},
]
RESULT = {
    "repo": "o/r",
    "pr_number": 7,
    "as_of": "2025-06-01T12:00:00Z",
    "candidates": [
        {"target": {"type": "team", "name": "core"}, "score": 2.0, "evidence": []},
        {"target": {"type": "user", "name": "bob"}, "score": 1.0, "evidence": [{"kind": "owner", "data": {"n": 3}}]},
    ],
    "risk": "low",
    "notes": ["quiet"],
}


def save(folder, result, name="stewards", wrapped=True):
    path = folder / "routes" / f"{name}.json"
    path.parent.mkdir(parents=True)
    document = {"kind": "route_result", "baseline": name, "result": result} if wrapped else result
    path.write_text(json.dumps(document, indent=2))
    return path


def test_saved_routes_are_predictions(tmp_path, write_lines):
    path = save(tmp_path / "data" / "github" / "o" / "r" / "eval" / "run1" / "prs" / "7", RESULT)
    (saved,) = read_predictions(path)
    answer = saved.answers["o/r", 7]
    assert (saved.router, answer.candidates, answer.risk, answer.notes) == (
        "stewards", ("o/core", "bob"), "low", ("quiet",)
    )  # fmt: skip
    assert answer.evidence == {"bob": [{"kind": "owner", "data": {"n": 3}}]}
    assert read_predictions(tmp_path / "data") == [saved]
    run = mr.evaluate_routing(write_lines(*HISTORY), routers=[], predictions=tmp_path / "data")
    assert run.metrics["stewards"]["mrr"] == 0.5


@pytest.mark.parametrize("inside", [True, False])
def test_the_repository_is_in_the_path_or_is_the_only_one(tmp_path, write_lines, inside):
    bare = {key: value for key, value in RESULT.items() if key != "repo"}
    folder = tmp_path / ("github/o/r/eval/run1/prs/7" if inside else "mine")
    path = save(folder, bare, wrapped=False)
    run = mr.evaluate_routing(write_lines(*HISTORY), routers=[], predictions=path)
    assert run.metrics["stewards"]["hit@3"] == 1
    several = write_lines(*HISTORY, HISTORY[0] | {"repo": "o/s", "id": "9"}, name="several.jsonl")
    if inside:
        assert mr.evaluate_routing(several, routers=[], predictions=path).metrics["stewards"]["mrr"] == 0.25
    else:
        with pytest.raises(UsageError, match="they name no repository, and the history has 2"):
            mr.evaluate_routing(several, routers=[], predictions=path)


@pytest.mark.parametrize(
    ("change", "problem"),
    [
        ({"candidates": None}, "candidates must be a list, found null"),
        ({"candidates": [{"target": {"type": "user"}}]}, "name is missing"),
        ({"candidates": [3]}, "a candidate must be an object"),
        ({"pr_number": "x"}, "pr_number must be a whole number"),
        ({"risk": "dire"}, "risk 'dire' is not known"),
        ({"candidates": [{"target": {"name": "a"}}, {"target": {"name": "A"}}]}, "candidate A is listed twice"),
    ],
)
def test_a_route_that_cannot_be_read_is_named(tmp_path, change, problem):
    path = save(tmp_path, RESULT | change)
    with pytest.raises(InputError, match=problem):
        read_predictions(path)


class Lookup:
    """Written for the harness: says whom it was asked about."""

    asked: list[dict] = []  # noqa: RUF012

    def __init__(self, weight=1.0):
        self.weight = weight

    def route(self, *, repo, pr_number, as_of, data_dir="data", top_k=5):
        self.asked.append({"repo": repo, "as_of": as_of, "data_dir": data_dir, "top_k": top_k, "weight": self.weight})
        team, person = Target(TargetType.team, "core"), Target(TargetType.user, "@bob")
        evidence = [Evidence("owner", {"n": 1})]
        candidates = [RouteCandidate(team, 1.0), RouteCandidate(person, 3.0, evidence)]
        return RouteResult(repo, pr_number, as_of, candidates=candidates, risk="High", notes=["looked"])


@pytest.fixture
def asked():
    Lookup.asked = []
    return Lookup.asked


@pytest.mark.parametrize("router", [Lookup, Lookup()])
def test_a_router_of_the_harness_is_asked_at_each_cutoff(asked, write_lines, router):
    run = mr.evaluate_routing(write_lines(*HISTORY), routers=[router], k=[1, 8])
    assert asked == [
        {"repo": "o/r", "as_of": datetime(2025, 6, 1, 12, tzinfo=UTC), "data_dir": "data", "top_k": 8, "weight": 1.0}
    ]
    answer = run.records[0]["routers"]["Lookup"]
    assert (answer["candidates"], answer["rank"], answer["risk"]) == (["o/core", "bob"], 2, "high")
    assert answer["evidence"] == {"bob": [{"kind": "owner", "data": {"n": 1}}]}
    assert any("Lookup has the routing harness's route()" in line for line in run.summary["warnings"])


def test_where_it_looks_things_up(asked, write_lines, tmp_path):
    history = write_lines(*HISTORY)
    home = tmp_path / "store" / "github" / "o" / "r"
    home.mkdir(parents=True)
    mr.evaluate_routing(history.rename(home / "events.jsonl"), routers=[Lookup])
    assert asked.pop()["data_dir"] == str(tmp_path / "store")
    config = {"Lookup": {"data_dir": "elsewhere", "top_k": 3, "weight": 2.0}}
    mr.evaluate_routing(home / "events.jsonl", routers=[Lookup], router_config=config)
    told = asked.pop()
    assert (told["data_dir"], told["top_k"], told["weight"]) == ("elsewhere", 3, 2.0)
    with pytest.raises(UsageError, match="top_k a whole number from 1"):
        mr.evaluate_routing(home / "events.jsonl", routers=[Lookup], router_config={"Lookup": {"top_k": 0}})


def test_what_goes_wrong_in_it_names_it(write_lines):
    class Broken:
        def route(self, *, repo, pr_number, as_of):
            return {"candidates": "bob"}

    with pytest.raises(UsageError, match="router Broken raised TypeError: route returned dict without a list"):
        mr.evaluate_routing(write_lines(*HISTORY), routers=[Broken()])
