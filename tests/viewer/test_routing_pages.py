import json

import pytest
from page_samples import opened, read

import metareview as mr
from metareview.viewer.changes import changes_page
from metareview.viewer.routing import routing_page
from metareview.viewer.routing_pull_request import routing_pull_request_page

DAY = "2026-01-0{}T{:02d}:00:00Z"


def event(number, kind, actor, at, **more):
    return {"id": f"{number}-{kind}-{at}", "repo": "o/r", "pr": number, "kind": kind, "actor": actor, "at": at, **more}


@pytest.fixture
def run(tmp_path):
    """bob answers the first two, within an hour; nobody the third in time."""
    events = [
        event(1, "opened", "ann", DAY.format(1, 8)),
        event(1, "review_submitted", "bob", "2026-01-01T08:30:00Z", state="APPROVED"),
        event(2, "opened", "ann", DAY.format(2, 8)),
        event(2, "review_submitted", "bob", "2026-01-02T08:15:00Z", state="APPROVED"),
        event(3, "opened", "bob", DAY.format(3, 8)),
        event(3, "review_submitted", "<b>cy</b>", DAY.format(3, 12), state="APPROVED"),
    ]
    history = tmp_path / "history.jsonl"
    history.write_text("".join(json.dumps(each) + "\n" for each in events))
    mr.evaluate_routing(history, routers=["popularity", "recency"], truth_window="60m", out=tmp_path / "runs" / "way")
    return opened(tmp_path, "way")


def listed(run, **query):
    section = read(routing_page(run, query=query)).one("section", id="pull-requests")
    return [row.one("th").text for body in section.all("tbody") for row in body.all("tr")]


def test_the_figures_come_before_the_list_until_something_is_filtered(run):
    sections = [each["id"] for each in read(routing_page(run, query={})).all("section")]
    assert sections[0] == "answer"
    assert sections[-1] == "pull-requests"
    assert "ranks" in sections
    filtered = read(routing_page(run, query={"truth": "observed"}))
    assert [each["id"] for each in filtered.all("section")] == ["pull-requests"]


@pytest.mark.parametrize("within", [None, "7d"])
def test_how_many_were_merged_is_shown_only_within_a_time_that_was_given(tmp_path, within):
    events = [
        event(1, "opened", "ann", DAY.format(1, 8), body="Fixes #9"),
        event(1, "merged", "bob", DAY.format(2, 8)),
        event(2, "opened", "ann", DAY.format(3, 8), body="none"),
    ]
    (tmp_path / "history.jsonl").write_text("".join(json.dumps(each) + "\n" for each in events))
    out = tmp_path / "runs" / "way"
    mr.evaluate_routing(tmp_path / "history.jsonl", routers=["popularity"], merged_within=within, out=out)
    section = read(routing_page(opened(tmp_path, "way"), query={})).one("section", id="declarations")
    heads = [each.text for each in section.all("th") if "Merged" in each.text]
    assert heads == ([f"Merged within 7d, {which}" for which in ("declared", "missing")] if within else [])


def test_the_list_is_filtered_by_truth_result_router_and_text(run):
    assert listed(run) == ["o/r#1", "o/r#2", "o/r#3"]
    assert listed(run, truth="no_response") == ["o/r#3"]
    assert listed(run, result="hit") == ["o/r#2"]  # on the first nobody was known yet
    assert listed(run, result="missed", router="popularity") == ["o/r#1"]
    assert listed(run, text="R#3") == ["o/r#3"]
    assert listed(run, text="nobody-like-that") == []
    assert listed(run, truth="<evil>", k="x", page="-1") == ["o/r#1", "o/r#2", "o/r#3"]


def test_the_timeline_is_in_order_and_names_the_truth(run):
    root = read(routing_pull_request_page(run, "o/r#2", query={}))
    items = [item.text for item in root.one("ol", "timeline").all("li")]
    assert [item.split(" UTC ")[0] for item in items] == [
        "2026-01-02 08:00:00",
        "2026-01-02 08:00:00",
        "2026-01-02 08:15:00",
        "2026-01-02 09:00:00",
    ]
    assert "Opened by ann" in items[0]
    assert "Cutoff" in items[1]
    assert "End of the window" in items[3]
    assert "(15.0 min later) Truth : review submitted by bob" in items[2]
    assert [mark.text for mark in root.one("svg", "axis-of-time").all("g")] == ["1", "2", "3", "4"]
    assert len(list(root.one("svg", "axis-of-time").all("g", "truth"))) == 1


def test_a_late_review_is_on_the_timeline_after_the_window(run):
    items = [
        item.text for item in read(routing_pull_request_page(run, "o/r#3", query={})).one("ol", "timeline").all("li")
    ]
    assert "End of the window" in items[2]
    assert "First review" in items[3]
    assert "(4.0 h later)" in items[3]


def test_each_router_has_its_list_with_the_right_person_marked(run):
    root = read(routing_pull_request_page(run, "o/r#2", query={}))
    cards = {card.one("h3").text: card for card in root.all("article")}
    assert set(cards) == {"popularity", "recency"}
    for card in cards.values():
        assert "rank 1" in card.text
        assert card.one("li", "right").text.startswith("bob right person")


def test_neighbours_and_pull_requests_that_are_not_there(run):
    links = read(routing_pull_request_page(run, "o/r#2", query={})).one("nav", "steps").all("a")
    assert [link["href"] for link in links] == ["/run/way/pr/0", "/run/way/pr/2"]
    assert "nothing on this pull request" in read(routing_pull_request_page(run, "o/r#9", query={})).text


def test_two_routers_side_by_side(run):
    page = changes_page(run, run, query={"reviewer_a": "popularity", "reviewer_b": "recency"})
    assert "Nothing changed" in read(page).text  # with one person both say the same
