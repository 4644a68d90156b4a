import pytest
from page_samples import comment_run, pull, read, said

from metareview.viewer.pull_request import PAGE, pull_request_page

REFERENCES = {
    pull(1): [said("leak of the handle", 1, category="Code Defect", severity="High"), said("slow loop", 30)],
    pull(2): [said("race between threads", 5)],
}
REVIEWS = {
    "ann": {pull(1): [said("leak here", 2), said("open question", 30), said("nit", 90)], pull(2): []},
    "bob": {pull(1): [said("slow indeed", 30)], pull(2): [said("race", 5)]},
}


@pytest.fixture
def run(tmp_path):
    return comment_run(tmp_path, "first", REVIEWS, REFERENCES)


def page(run, pr=None, labels=None, **query):
    return read(pull_request_page(run, pr or pull(1), query=query, labels=labels))


def test_an_aligned_pair_is_in_one_row_with_a_number_on_both_sides(run):
    root = page(run, reviewer="ann")
    row = next(each for each in root.all("div", "row") if list(each.all(id="c0")))
    assert "leak here" in row.one(id="c0").text
    assert "leak of the handle" in row.one(id="r0").text
    [start], [end] = (list(row.one(id=side).all("a", "partner")) for side in ("c0", "r0"))
    assert (start["data-thread"], end["data-end"]) == ("c0-r0", "c0-r0")
    assert (start["href"], end["href"], start.text, end.text) == ("#r0", "#c0", "1 R1", "1 C1")
    assert "same issue" in row.one(id="c0-r0").text
    assert "score 0.90" in row.one(id="c0-r0").text
    assert "by model" in row.one(id="c0-r0").text
    assert "<i>first</i> words" in row.one(id="c0-r0").text
    assert [mark.text for mark in row.one(id="c0-r0").all("mark")] == ["here", "of the handle"]
    assert "Code Defect · High" in row.one(id="r0").text


def test_what_stayed_open_and_what_was_missed_stand_without_a_partner(run):
    root = page(run, reviewer="ann")
    alone = root.one("div", "alone")
    assert "undecided" in alone.one(id="c1").one("div", "head").text
    assert "undecided" in alone.one(id="c1-r1").text
    assert "No reference is near enough" in alone.one(id="c2").text
    missed = alone.one(id="r1")
    assert "missed" in missed.text
    assert "Raised by 1 of 1 other: bob" in missed.text
    [who] = [link for link in missed.all("a") if link.text == "bob"]
    assert who["href"] == f"{run.address(pull(1))}?reviewer=bob#r1"


def test_near_misses_have_their_score_and_may_be_labelled(tmp_path):
    run = comment_run(tmp_path, "near", {"ann": {pull(1): [said("other", 1)]}}, {pull(1): [said("leak", 1)]})
    card = page(run).one(id="c0")
    assert [head.text for head in card.all("h4")] == ["Near misses"]
    assert "different" in card.one(id="c0-r0").text
    assert "score 0.40" in card.one(id="c0-r0").text


def test_a_label_form_says_everything_that_a_label_needs(run):
    form = page(run, reviewer="ann").one(id="c0-r0").one("form")
    assert (form["method"], form["action"]) == ("post", "/run/first/labels")
    assert {field["name"]: field["value"] for field in form.all("input")} == {
        "token": "secret-token",
        "pr": pull(1),
        "reviewer": "ann",
        "generated": "0",
        "reference": "0",
        "next": "/run/first/pr/0?reviewer=ann#c0-r0",
    }
    buttons = [(button["value"], button["aria-pressed"]) for button in form.all("button")]
    assert buttons == [("same", "false"), ("different", "false")]


@pytest.mark.parametrize(("label", "pressed"), [(True, "same"), (False, "different")])
def test_the_present_label_is_shown_and_can_be_taken_back(run, label, pressed):
    form = page(run, reviewer="ann", labels={(pull(1), "ann", 0, 0): label}).one(id="c0-r0").one("form")
    assert f"Labelled {pressed}" in form.text
    assert [each["value"] for each in form.all("button") if each["aria-pressed"] == "true"] == [pressed]
    assert [each["value"] for each in form.all("button")][-1] == "clear"


def test_each_reviewer_has_a_link_and_the_chosen_one_is_marked(run):
    root = page(run, reviewer="bob")
    tabs = list(root.one("nav", "choices").all("a"))
    assert {tab.text: tab["aria-current"] for tab in tabs} == {"bob 1/1": "page", "ann 1/3": None}
    assert "slow indeed" in root.text
    assert "leak here" not in root.text


def test_an_unknown_reviewer_is_said_to_have_nothing(run):
    assert "zoe has nothing on this pull request" in page(run, reviewer="zoe").text


def test_the_neighbours_keep_the_reviewer(run):
    first, second = page(run, reviewer="ann"), page(run, pull(2), reviewer="ann")
    assert [link["href"] for link in first.one("nav", "steps").all("a")] == ["/run/first/pr/1?reviewer=ann"]
    assert [link["href"] for link in second.one("nav", "steps").all("a")] == ["/run/first/pr/0?reviewer=ann"]
    assert "ann said nothing on this pull request." in second.text


def test_words_are_shown_without_a_click_if_the_address_says_so(run):
    folded, opened = (page(run, reviewer="ann", **query) for query in ({}, {"words": "open"}))
    assert all("open" not in each.attributes for each in folded.all("details", "words"))
    assert all("open" in each.attributes for each in opened.all("details", "words"))


def test_a_comment_that_covers_several_references_has_a_line_to_each(tmp_path):
    references = {pull(1): [said("leak one", 1), said("leak two", 2)]}
    run = comment_run(tmp_path, "covers", {"ann": {pull(1): [said("leak", 1)]}}, references, alignment="coverage")
    root = page(run)
    row = next(each for each in root.all("div", "row") if list(each.all(id="c0")))
    assert [each["data-thread"] for each in row.one(id="c0").all("a", "partner")] == ["c0-r0", "c0-r1"]
    assert [each["id"] for each in row.all("article")] == ["c0", "r0", "r1"]
    assert "Every reference was raised." in root.text


def test_two_comments_on_one_reference_share_its_row(tmp_path):
    reviews = {"ann": {pull(1): [said("leak a", 1), said("leak b", 1)]}}
    run = comment_run(tmp_path, "share", reviews, {pull(1): [said("leak", 1)]}, alignment="coverage")
    row = next(each for each in page(run).all("div", "row") if list(each.all(id="r0")))
    assert [each["id"] for each in row.all("article")] == ["c0", "c1", "r0"]


def test_runs_without_locations_and_without_references(tmp_path):
    reviews = {"ann": {pull(1): [{"note": "leak now"}], pull(2): [{"note": "nit"}]}}
    run = comment_run(
        tmp_path, "bare", reviews, {pull(1): [{"note": "leak"}], pull(2): []}, ignore_location=True, judge="exact"
    )
    assert page(run).one(id="c0").one("p", "where").text == ""
    assert "This pull request has no references." in page(run, pull(2)).text


def test_hostile_notes_names_and_kinds_stay_text(tmp_path):
    evil = '"><script>alert(1)</script><img src=x onerror=alert(1)> [x](javascript:alert(1))'
    reviews = {evil: {pull(1): [said(evil, 1), said("x" * 100_000, 1), said("\u202e\x00\ud800 leak", 1)]}}
    run = comment_run(tmp_path, "evil", reviews, {pull(1): [said(evil, 1, category=evil, severity=evil)]})
    root = page(run, reviewer=evil)
    assert "<script>alert(1)</script>" in root.one(id="c0").text
    assert "[U+202E]" in root.one(id="c2").text


def test_rejected_comments_are_listed_with_who_repeats_them(tmp_path):
    negatives = tmp_path / "negatives.jsonl"
    negatives.write_text(
        f'{{"pr": "{pull(1)}", "comments": [{{"note": "nit", "path": "src/a.py", "from_line": 9}}]}}\n'
    )
    run = comment_run(
        tmp_path,
        "rejected",
        {"ann": {pull(1): [said("nit pick", 9)]}},
        {pull(1): [said("leak", 1)]},
        negatives=negatives,
    )
    root = page(run)
    assert "repeats a rejected comment" in root.one(id="c0").one("div", "head").text
    assert [link["href"] for link in root.one(id="n0").all("a")] == ["#c0"]


def test_many_comments_are_on_several_pages(tmp_path):
    reviews = {"ann": {pull(1): [said(f"nit {k}", 1 + 50 * k) for k in range(PAGE + 5)]}}
    run = comment_run(tmp_path, "many", reviews, {pull(1): [said("leak", 1)]})
    first, second = page(run), page(run, page="2")
    counted = [sum(1 for each in root.all("article") if each["id"].startswith("c")) for root in (first, second)]
    assert counted == [PAGE, 5]
