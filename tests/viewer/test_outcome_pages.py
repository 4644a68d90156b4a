"""The viewer's pages of a run of outcomes: lists, pull requests, labels, comparison, and text that means harm."""

import json
import re
from collections import Counter

import pytest
from outcome_samples import HOSTILE, many, pull, small, small_run
from page_samples import opened, read
from viewer_samples import HOST, client_of
from viewer_samples import small_run as comment_run

import metareview as mr
from metareview.comparison.outcome_corrected import outcome_correction_of
from metareview.comparison.outcome_evidence import LISTS
from metareview.comparison.outcome_frame import open_outcome_frame
from metareview.runs.labels import LabelFile
from metareview.viewer.diffs import MOST_LINES, commit, diff
from metareview.viewer.outcome_index import numbers_of
from metareview.viewer.outcome_labelling import OutcomeLabelling
from metareview.viewer.outcomes_page import PER_PAGE, comments_page, outcome_pull_request_page
from metareview.viewer.page import Page
from metareview.viewer.settings import Settings
from sealed_runs import seal_again

ORIGIN = {"origin": f"http://{HOST}"}


@pytest.fixture(scope="module")
def view(tmp_path_factory):
    folder = tmp_path_factory.mktemp("outcomes")
    small_run(folder / "runs" / "small")
    return opened(folder, "small")


def shown(page):
    """The beginnings of the notes of a page, in its order."""
    return [next(each.all(css="note")).text[:12] for each in read(page).all("article", "outcome")]


@pytest.mark.parametrize(
    ("query", "notes"),
    [
        ({}, ["Say it in Ge", "Name the thi", "<script>aler", "This file ha", "Why two?"]),
        ({"sort": "order"}, ["Say it in Ge", "<script>aler", "This file ha", "Why two?", "Name the thi"]),
        ({"list": "heeded"}, ["Say it in Ge", "Why two?"]),
        ({"list": "unheeded"}, ["Name the thi", "<script>aler"]),
        ({"list": "rejected"}, ["<script>aler"]),
        ({"list": "cannot-tell"}, ["This file ha"]),
        ({"list": "undecided"}, []),
        ({"list": "no list"}, ["Say it in Ge", "Name the thi", "<script>aler", "This file ha", "Why two?"]),
        ({"reviewer": "dora"}, ["Why two?"]),
        ({"reviewer": "nobody"}, []),
        ({"severity": "high"}, ["Say it in Ge", "Name the thi"]),
        ({"pr": "#2"}, ["Name the thi"]),
        ({"pr": pull(2)}, ["Name the thi"]),
        ({"pr": "SHOP", "severity": "low"}, ["<script>aler"]),
        ({"pr": "#3"}, []),
        ({"text": "GERMAN"}, ["Say it in Ge"]),
        ({"text": "cart.py", "list": "heeded", "reviewer": "dora"}, ["Why two?"]),
        ({"text": "%"}, []),
        ({"page": "99"}, ["Say it in Ge", "Name the thi", "<script>aler", "This file ha", "Why two?"]),
    ],
)
def test_lists_hold_what_the_address_asks_for(view, query, notes):
    assert shown(comments_page(view, query)) == notes


def test_the_numbers_of_lists_are_those_of_show(view):
    page = read(comments_page(view, {}))
    chips = {
        item.text.rsplit(" ", 1)[0]: int(item.text.rsplit(" ", 1)[1]) for item in page.one("ul", "chips").all("li")
    }
    every = [outcome for record in view.run.read_records() for outcome in record.comments]
    expected = Counter(name for outcome in every for name, holds in LISTS.items() if holds(outcome))
    assert chips == {"all": 5, "heeded": expected["heeded"], "not heeded": expected["unheeded"], "turned down": 1,
                     "cannot tell": 1}  # fmt: skip
    assert (expected["heeded"], expected["unheeded"], expected["rejected"], expected["cannot-tell"]) == (2, 2, 1, 1)


def test_a_pull_request_has_everybodys_comments_in_order_of_time_with_links_to_commits(view):
    page = outcome_pull_request_page(view, pull(1), query={})
    assert shown(page) == ["Say it in Ge", "Why two?", "<script>aler", "This file ha"]
    first = next(read(page).all("article", "outcome"))
    [link] = [each["href"] for each in first.all("a") if "commit" in (each["href"] or "")]
    assert link == "https://github.com/o/shop/commit/c200000"
    diff_of = first.one("pre", "diff")
    assert [each.text for each in diff_of.all("span", "added")] == ["+zwei <b>bold</b>"]
    assert [each.text for each in diff_of.all("span", "removed")] == ["-two"]
    assert [each.text for each in diff_of.all("span", "same")] == ["one", "three"]
    assert not list(diff_of.all("b"))


def test_what_notes_names_and_patches_say_stays_text(tmp_path):
    bot = '"><svg onload=alert(3)>[bot]'
    records = small(bot)
    for commit_ in records[0]["commits"]:
        commit_["author"] = "</pre><script>alert(4)</script>"
    records[0]["comments"][0]["severity"] = '<b onclick="x()">'
    mr.evaluate_outcomes(records, out=tmp_path / "runs" / "hostile")
    view = opened(tmp_path, "hostile")
    for page in (
        comments_page(view, {"open": "1"}),
        comments_page(view, {"reviewer": bot, "text": HOSTILE, "pr": HOSTILE}),
        outcome_pull_request_page(view, pull(1), query={"at": HOSTILE, "open": "1"}),
    ):
        assert not list(read(page).all("svg"))
    assert "\u202e" not in comments_page(view, {}).body
    assert shown(comments_page(view, {"reviewer": bot, "severity": '<b onclick="x()">'})) == ["Say it in Ge"]


@pytest.mark.parametrize(
    ("pr", "sha", "linked"),
    [
        (pull(1), "c200000", "https://github.com/o/shop/commit/c200000"),
        (pull(1) + "/files?w=1", "C200000", "https://github.com/o/shop/commit/C200000"),
        ("http://github.com/o/shop/pull/1", "c200000", None),
        ("https://github.com.evil.org/o/shop/pull/1", "c200000", None),
        ("https://evil@github.com/o/shop/pull/1", "c200000", None),
        ("javascript://github.com/o/shop/pull/1", "c200000", None),
        ("o/shop#1", "c200000", None),
        (pull(1), '"><script>', None),
        (pull(1), "c2000", None),
    ],
)
def test_commits_are_linked_on_github_alone(pr, sha, linked):
    page = read(Page("", commit(pr, sha)))
    assert [each["href"] for each in page.all("a")] == ([linked] if linked else [])
    assert page.text == sha[:10]


def test_a_change_of_any_length_is_cut_to_what_can_be_read():
    page = read(Page("", diff("\n".join(f"+{number}" for number in range(MOST_LINES + 7)))))
    assert len(list(page.all("span", "added"))) == MOST_LINES
    assert "7 more lines" in page.text
    one_line = read(Page("", diff("-" + "x" * 10**6)))
    assert len(one_line.text) < 2000
    assert "Cut here" in one_line.text


def test_a_part_of_a_name_is_asked_for_only_where_nothing_has_that_name():
    prs = [pull(7), pull(70), "https://github.com/o/other/pull/8"]
    assert numbers_of(prs, "7") == [0]
    assert numbers_of(prs, "o/shop#70") == [1]
    assert numbers_of(prs, "other") == [2]
    assert numbers_of(prs, "SHOP") == [0, 1]


@pytest.fixture
def asked(tmp_path):
    """A run with 80 comments of which 40 are drawn, and a client with the token of its forms."""
    mr.evaluate_outcomes(many(20), out=tmp_path / "many")
    open_outcome_frame(mr.load_run(tmp_path / "many"), budget=40)
    settings = Settings()
    return tmp_path / "many", client_of(tmp_path, settings), settings.token


def fields_of(text, form="answers"):
    inside = text.split(f'class="{form}"')[1].split("</form>")[0]
    return dict(re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', inside))


def answer(client, page, verdict):
    sent = client.post("/run/many/labels", data={**fields_of(page.text), "verdict": verdict}, headers=ORIGIN)
    assert sent.status_code == 303
    return client.get(sent.headers["location"])


def judged(folder, verdict):
    """Every comment with the same verdict of a model."""
    file = folder / "results.jsonl"
    records = [json.loads(line) for line in file.read_text().splitlines()]
    for record in records:
        for each in record["comments"]:
            each["addressed"] = {"verdict": verdict, "by": "model", "reason": "SECRET"}
    file.write_text("".join(json.dumps(record) + "\n" for record in records))
    seal_again(folder)


def test_answers_are_kept_one_by_one_and_the_judges_verdict_comes_after(asked):
    folder, client, _ = asked
    judged(folder, "partly")
    page = client.get("/run/many/label?name=eva")
    assert "Comment 1 of 40" in page.text
    assert "SECRET" not in page.text
    assert "partly addressed" not in page.text
    assert re.findall(r'data-key="(\w)"', page.text) == ["f", "p", "n", "k", "j", "u"]
    first = fields_of(page.text)
    page = answer(client, page, "fully")
    assert "Your latest answer: fully addressed. The judge says partly addressed." in page.text
    assert "Comment 2 of 40" in page.text
    page = answer(client, page, "unknown")
    labels = LabelFile(folder).read().outcomes
    assert [(label.verdict, label.name) for label in labels] == [("fully", "eva"), ("unknown", "eva")]
    assert (labels[0].pr, str(labels[0].position)) == (first["pr"], first["position"])
    undone = client.post("/run/many/undo", data=fields_of(page.text, "inline"), headers=ORIGIN)
    assert undone.status_code == 303
    assert list(LabelFile(folder).read().outcome_verdicts().values()) == ["fully"]
    assert "Comment 2 of 40" in client.get(undone.headers["location"]).text
    assert "labelled: fully addressed" in client.get("/run/many/comments?list=heeded").text + "".join(
        client.get(f"/run/many/comments?page={number}").text for number in range(1, 80 // PER_PAGE + 2)
    )


def test_forms_without_the_token_or_with_what_is_not_there_write_nothing(asked):
    folder, client, token = asked
    fields = {**fields_of(client.get("/run/many/label").text), "verdict": "fully"}
    assert client.post("/run/many/labels", data={**fields, "token": "other"}, headers=ORIGIN).status_code == 403
    assert client.post("/run/many/labels", data=fields, headers={"origin": "http://evil.org"}).status_code == 403
    for wrong in ({"verdict": "same"}, {"position": "99"}, {"position": "-1"}, {"pr": "x"}, {"reviewer": "<b>"}):
        assert client.post("/run/many/labels", data={**fields, **wrong}, headers=ORIGIN).status_code == 422
    assert client.post("/run/many/draw", data={"token": token, "budget": "x"}, headers=ORIGIN).status_code == 422
    assert not (folder / "labels.jsonl").exists()


def test_the_figures_beside_the_questions_are_those_of_the_estimator(asked):
    folder, client, _ = asked
    page = client.get("/run/many/label")
    for verdict in ["fully", "not", "partly", "not"] * 10:
        page = answer(client, page, verdict)
    assert "All 40 comments in the sample are labelled" in page.text
    expected = outcome_correction_of(mr.load_run(folder))
    found = OutcomeLabelling(opened_at(folder), None).correction
    assert found.figures == expected.figures
    assert f"{expected.figures['bot[bot]'].metrics['addressed']:.3f}" in page.text
    assert "By people’s labels" in client.get("/run/many").text


def opened_at(folder):
    (folder.parent / "runs").symlink_to(folder.parent)
    return opened(folder.parent, folder.name)


def test_a_sample_is_drawn_from_the_page_and_more_of_it(asked, tmp_path):
    folder, client, token = asked
    (folder / "frame.json").unlink()
    assert "Draw the sample" in client.get("/run/many/label").text
    assert client.post("/run/many/draw", data={"token": token, "budget": "30"}, headers=ORIGIN).status_code == 303
    assert "Comment 1 of 30" in client.get("/run/many/label").text


def test_two_runs_are_compared_as_two_samples_or_paired(tmp_path):
    mr.evaluate_outcomes(many(30, heeded=1), out=tmp_path / "old")
    mr.evaluate_outcomes(many(25, heeded=3), out=tmp_path / "new")
    comment_run(tmp_path / "comments")
    client = client_of(tmp_path)
    page = client.get("/compare?a=old&b=new").text
    assert "Two samples of pull requests, 30 of " in page
    assert "Reviewer A" in page
    assert 'href="/run/old/pr/0"' in page
    assert 'href="/run/new/pr/0"' in page
    paired = client.get("/compare?a=old&b=new&common=1").text
    assert "Two samples of pull requests" not in paired
    assert "that each has, not paired" in paired
    mixed = client.get("/compare?a=old&b=comments")
    assert mixed.status_code == 400
    assert "One is of outcomes and one of comments" in mixed.text


def test_the_list_of_runs_has_the_main_figure_of_who_says_most(tmp_path):
    small_run(tmp_path / "small")
    page = client_of(tmp_path).get("/?kind=outcomes").text
    # The bot has 4 comments, of which 3 point at lines, and one of these changed; dora has one, heeded.
    assert re.search(r'<b>0\.333</b> <span class="muted">lines changed</span>', page)
    assert page.index("bot[bot]") < page.index("dora")


@pytest.mark.parametrize("path", ["pairs", "prs", "settings", "unlisted"])
def test_pages_of_other_kinds_are_not_there(tmp_path, path):
    small_run(tmp_path / "small")
    client = client_of(tmp_path)
    assert client.get(f"/run/small/{path}").status_code == 404
    comment_run(tmp_path / "other")
    assert client.get("/run/other/comments").status_code == 404


@pytest.mark.parametrize(
    "harm",
    [
        lambda each: each.update(position="1"),
        lambda each: each.update(outcomes={}),
        lambda each: each.update(outcomes=[]),
        lambda each: each.update(replies=[{"author": None, "at": None, "note": 7}]),
        lambda each: each.update(replies=7),
        lambda each: each.update(addressed=True),
        lambda each: each.update(addressed={"verdict": [], "by": "model"}),
        lambda each: each.update(comment=7),
        lambda each: each["comment"].update(severity=[]),
        lambda each: each["comment"].update(at=7),
        lambda each: each["comment"].update(note=7),
        lambda each: each.update(later_change=7),
        lambda each: each.update(changed_by=[7]),
    ],
)
def test_a_broken_record_is_the_users_to_mend(tmp_path, harm):
    small_run(tmp_path / "small")
    file = tmp_path / "small" / "results.jsonl"
    first, *rest = file.read_text().splitlines()
    record = json.loads(first)
    harm(record["comments"][0])
    file.write_text("\n".join([json.dumps(record), *rest]) + "\n")
    seal_again(file.parent)
    client = client_of(tmp_path)
    for path in ("/run/small/comments", "/run/small/pr/0"):
        answered = client.get(path)
        assert answered.status_code == 422
        assert "--overwrite" in answered.text


def test_a_comment_far_down_is_on_the_page_that_its_address_names(tmp_path):
    mr.evaluate_outcomes(many(1, each=60), out=tmp_path / "runs" / "long")
    view = opened(tmp_path, "long")
    page = read(outcome_pull_request_page(view, pull(1), query={"at": "0-55"}))
    assert page.one(id="c0-55")
    assert len(list(page.all("article", "outcome"))) == 60 - 2 * PER_PAGE
