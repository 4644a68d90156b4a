"""Labels through the viewer: what is kept, what is refused, and what the pages then say."""

import re
import sys
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import parse_qs, urlsplit

import outcome_samples
import pytest
from viewer_samples import HOST, REFERENCES, REVIEWS, client_of, pull, small_run

from metareview.api import evaluate_comments, load_run
from metareview.comments.filters import FilterConfig
from metareview.comparison.frame import open_frame
from metareview.report.page.markup import Html
from metareview.runs.labels import LABELS, LabelFile
from metareview.viewer import outcome_figures, run_page
from metareview.viewer.catalogue import Catalogue

ORIGIN = {"origin": f"http://{HOST}", "sec-fetch-site": "same-origin"}
LEAK = {"pr": pull(1), "reviewer": "loud", "generated": "0", "reference": "0"}


@pytest.fixture
def folder(tmp_path):
    small_run(tmp_path / "runs" / "small")
    return tmp_path / "runs" / "small"


@pytest.fixture
def site(folder):
    client = client_of(folder.parent)
    page = client.get("/run/small/label").text
    client.token = re.search(r'name="token" value="([^"]+)"', page)[1]
    return client


def send(site, path, fields, **headers):
    return site.post(f"/run/small/{path}", data={"token": site.token, **fields}, headers={**ORIGIN, **headers})


def said(folder):
    return [(label.generated, label.reference, label.match, label.name) for label in LabelFile(folder).read().pairs]


def test_a_verdict_is_kept_replaced_and_taken_back(site, folder):
    for verdict in ("same", "different", "clear"):
        answer = send(site, "labels", {**LEAK, "verdict": verdict, "name": " anna  b "})
        assert (answer.status_code, answer.headers["location"]) == (303, "/run/small/label")
    assert said(folder) == [(0, 0, True, "anna b"), (0, 0, False, "anna b"), (0, 0, None, "anna b")]
    label = LabelFile(folder).read().pairs[0]
    assert (label.comment_note, label.reference_note) == ("leaks the handle", "leaks the handle")


def test_without_the_token_or_from_elsewhere_nothing_is_kept(site, folder):
    fields = {**LEAK, "verdict": "same"}
    assert send(site, "labels", {**fields, "token": "guessed"}).status_code == 403
    assert send(site, "labels", fields, origin="http://evil.example").status_code == 403
    assert send(site, "labels", fields, **{"sec-fetch-site": "cross-site"}).status_code == 403
    assert site.get("/run/small/labels?" + "&".join(f"{k}={v}" for k, v in fields.items())).status_code == 405
    assert not (folder / LABELS).exists()


@pytest.mark.parametrize(
    "wrong",
    [
        {"pr": pull(9)},
        {"reviewer": "nobody"},
        {"generated": "7"},
        {"reference": "-1"},
        {"generated": "0x0"},
        {"reference": "9" * 30},
        {"verdict": "maybe"},
        {"verdict": ""},
        {"kind": "issues", "issue": "none"},
    ],
)
def test_what_the_run_has_not_is_refused(site, folder, wrong):
    answer = send(site, "labels", {**LEAK, "verdict": "same", **wrong})
    assert answer.status_code == 422
    assert not (folder / LABELS).exists()


@pytest.mark.parametrize(
    "elsewhere",
    [
        "https://evil.example/",
        "//evil.example",
        "/\\evil.example",
        "/run/small/../../x\r\nset-cookie: a=b",
        "/run/other",
        "javascript:alert(1)",
        "/run/small/\\..\\evil",
        "/run/smallest/label",
        "",
    ],
)
def test_a_form_leads_nowhere_else(site, elsewhere):
    answer = send(site, "labels", {**LEAK, "verdict": "same", "next": elsewhere})
    assert answer.headers["location"] == "/run/small/label"
    assert "set-cookie" not in answer.headers


def test_a_form_leads_back_to_its_page(site):
    back = "/run/small/pr/0?reviewer=loud#c0-r0"
    assert send(site, "labels", {**LEAK, "verdict": "same", "next": back}).headers["location"] == back


def test_a_labels_file_that_leads_elsewhere_is_not_written(site, folder, tmp_path):
    victim = tmp_path / "victim"
    victim.write_text("precious\n")
    (folder / LABELS).symlink_to(victim)
    assert send(site, "labels", {**LEAK, "verdict": "same"}).status_code == 422
    assert victim.read_text() == "precious\n"


def test_nothing_is_drawn_by_looking(site, folder):
    page = site.get("/run/small/label").text
    assert "Draw the sample" in page
    assert site.get("/run/small/unlisted").status_code == 200
    assert sorted(path.name for path in folder.iterdir()) == [
        "manifest.json",
        "pairs.jsonl",
        "results.jsonl",
        "summary.json",
    ]


def question(page):
    """The hidden fields of the question that a page asks."""
    form = re.search(r'<form class="answers".*?</form>', page, re.DOTALL)[0]
    return dict(re.findall(r'<input type="hidden" name="([^"]+)" value="([^"]*)">', form))


def test_the_queue_asks_until_all_is_known(site, folder):
    assert send(site, "draw", {"kind": "pairs", "budget": "120"}).status_code == 303
    frame = open_frame(load_run(folder))
    assert len(frame.drawn) == 4  # without locations each pull request of each reviewer is one block
    asked = 0
    while "answers" in (page := site.get("/run/small/label?name=eva").text):
        fields = question(page)
        assert fields["name"] == "eva"
        match = "same" if fields["generated"] == fields["reference"] and fields["reviewer"] == "sharp" else "different"
        answer = send(site, "labels", {**fields, "verdict": match})
        back = urlsplit(answer.headers["location"])
        assert (back.path, parse_qs(back.query)) == ("/run/small/label", {"name": ["eva"]})
        asked += 1
    assert "All 4 blocks in the sample are labelled." in page
    # Two of sharp's pairs make its first block two; of the others every pair is asked, or none is left to change it.
    assert len(said(folder)) == asked
    assert ">1.000<" in page  # sharp, corrected
    assert "the run has 4" in page
    assert "Your latest answer" in page


def test_undo_takes_back_ones_own_last_answer_only(site, folder):
    send(site, "labels", {**LEAK, "verdict": "same", "name": "a"})
    send(site, "labels", {**LEAK, "reference": "1", "verdict": "same", "name": "b"})
    send(site, "undo", {"kind": "pairs", "name": "a"})
    send(site, "undo", {"kind": "pairs", "name": "nobody"})
    assert said(folder) == [(0, 0, True, "a"), (0, 1, True, "b"), (0, 0, None, "a")]


def test_unlisted_issues_are_grouped_on_request_and_labelled(site, folder):
    assert send(site, "draw", {"kind": "issues", "budget": "10"}).headers["location"] == "/run/small/unlisted"
    page = site.get("/run/small/unlisted").text
    before = re.search(r'<section class="effect".*?</section>', page, re.DOTALL)[0]
    fields = question(page)
    send(site, "labels", {**fields, "verdict": "valid"})
    [label] = LabelFile(folder).read().issues
    assert (label.issue, label.verdict, label.note) == (fields["issue"], "valid", label.note)
    after = re.search(r'<section class="effect".*?</section>', site.get("/run/small/unlisted").text, re.DOTALL)[0]
    assert before != after
    assert "1 valid" in after
    send(site, "undo", {"kind": "issues"})
    again = re.search(r'<section class="effect".*?</section>', site.get("/run/small/unlisted").text, re.DOTALL)[0]
    assert again == before


@pytest.mark.parametrize("budget", ["", "0", "-3", "many", "9" * 20])
def test_a_budget_that_is_none_is_refused(site, folder, budget):
    assert send(site, "draw", {"kind": "pairs", "budget": budget}).status_code == 422
    assert not (folder / "frame.json").exists()


def test_a_budget_that_is_too_small_says_so(site):
    answer = send(site, "draw", {"kind": "pairs", "budget": "3"})
    assert answer.status_code == 422
    assert "must be 8 or more" in answer.text


def test_the_page_of_a_pull_request_shows_labels(site, folder):
    send(site, "labels", {**LEAK, "verdict": "different"})
    page = site.get("/run/small/pr/0?reviewer=loud").text
    assert "Labelled different" in page
    assert "Labelled same" not in page


def test_who_else_has_labelled_is_named(site):
    assert "Also labelled by" not in site.get("/run/small/label?name=anna").text
    send(site, "draw", {"kind": "pairs", "budget": "120"})
    send(site, "labels", {**LEAK, "verdict": "same", "name": "anna"})
    send(site, "labels", {**LEAK, "verdict": "same"})
    page = site.get("/run/small/label?name=eva").text
    line = re.search(r"Also labelled by (.*?)</p>", page)[1]
    assert re.sub("<.*?>", "", line) == "anna, somebody without a name."
    assert 'href="/run/small/label?name=anna"' in line
    assert "Also labelled by somebody without a name." in site.get("/run/small/label?name=anna").text


def test_hostile_names_stay_text(site):
    evil = '"><script>alert(1)</script>'
    send(site, "labels", {**LEAK, "verdict": "same", "name": evil})
    page = site.get("/run/small/label", params={"name": evil}).text
    assert "<script>alert" not in page


def test_a_reviewer_of_whom_a_filter_leaves_nothing_has_a_row_without_figures(tmp_path):
    """`late` has reviewed one pull request, and not one in Go."""
    late = {"pr": pull(2), "reviewer": "late", "comments": [{"note": "why so", "path": "src/a.py", "from_line": 5}]}
    options = {"judge": "exact", "ignore_location": True, "filters": FilterConfig(project_languages=["Go"])}
    evaluate_comments([*REVIEWS, late], reference=REFERENCES, out=tmp_path / "small", **options)
    site = client_of(tmp_path)
    site.token = re.search(r'name="token" value="([^"]+)"', site.get("/run/small/label").text)[1]
    assert send(site, "draw", {"budget": "8", "kind": "pairs"}).status_code == 303
    labelled = 0  # at first without labels, in the end with all of them
    while True:
        page = site.get("/run/small/label")
        assert page.status_code == 200
        assert "late" in page.text
        asked = {name: re.search(f'name="{name}" value="([^"]*)"', page.text) for name in LEAK}
        if None in asked.values():
            break
        send(site, "labels", {**{name: found[1] for name, found in asked.items()}, "verdict": "same"})
        labelled += 1
    assert labelled > 1
    assert site.get("/run/small/unlisted").status_code == 200


@pytest.mark.parametrize("kind", ["comments", "outcomes"])
def test_pages_asked_for_at_once_while_somebody_labels_are_all_shown(tmp_path, monkeypatch, kind):
    if kind == "comments":
        small_run(tmp_path / "run")
        monkeypatch.setattr(run_page, "_sections", lambda run: Html("drawn"))
        shown = run_page.run_page
    else:
        outcome_samples.small_run(tmp_path / "run")
        monkeypatch.setattr(outcome_figures, "_sections", lambda labelling: Html("drawn"))
        shown = outcome_figures.overview_page
    catalogue = Catalogue(tmp_path, "token")
    [entry] = catalogue.entries().values()
    view = catalogue.open(entry)
    interval = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)

    def ask(number):
        for _ in range(300):
            with view.folder.joinpath(LABELS).open("a") as labels:
                labels.write("\n")
            shown(view)
        return number

    try:
        with ThreadPoolExecutor(8) as threads:
            assert list(threads.map(ask, range(8))) == list(range(8))
    finally:
        sys.setswitchinterval(interval)
        catalogue.close()


def test_who_labelled_pairs_has_not_labelled_unlisted_issues(site):
    send(site, "labels", {**LEAK, "verdict": "same", "name": "anna"})
    send(site, "draw", {"budget": "8", "kind": "pairs"})
    send(site, "draw", {"budget": "8", "kind": "issues"})
    assert "Also labelled by" in site.get("/run/small/label").text
    page = site.get("/run/small/unlisted").text
    assert "None is labelled yet." in page
    assert "Also labelled by" not in page
    send(site, "labels", {**LEAK, "verdict": "clear", "name": "anna"})
    assert "Also labelled by" not in site.get("/run/small/label").text, "what was taken back is no label"
