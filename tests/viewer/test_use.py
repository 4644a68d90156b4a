"""The viewer as a person uses it, in a real browser against a real server."""

import re
import subprocess
import sys

import pytest
from axe_playwright_python.sync_playwright import Axe
from labelling_runs import labelled_demo
from playwright.sync_api import expect

SEVERE = ("serious", "critical")


@pytest.fixture(scope="module")
def root(tmp_path_factory):
    """The sample benchmark, most of its sample of pairs labelled, a run of routers, and runs of outcomes."""
    return labelled_demo(tmp_path_factory.mktemp("work") / "runs")


@pytest.fixture(scope="module")
def address(root):
    """Of a viewer that was started as a person starts it."""
    command = [sys.executable, "-m", "metareview", "view", str(root), "--no-open", "--quiet"]
    server = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        yield server.stdout.readline().strip().rstrip("/")
    finally:
        server.terminate()
        _, complaints = server.communicate(timeout=20)
        assert complaints == ""


@pytest.fixture
def visit(browser, address):
    """Opens an address of the viewer, and notes everything that the page asks for or complains of."""
    contexts, pages = [], []

    def go(path, *, scheme="light", width=1280):
        context = browser.new_context(viewport={"width": width, "height": 900}, color_scheme=scheme)
        contexts.append(context)
        page = context.new_page()
        pages.append(page)
        page.complaints, page.requests = [], []
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.on("request", lambda request: page.requests.append(request.url))
        page.goto(address + path)
        return page

    yield go
    for page in pages:
        assert page.complaints == []
        assert [url for url in page.requests if not url.startswith(address)] == []
    for context in contexts:
        context.close()


def corrected(page):
    """The figures of the panel: a list of cells for each reviewer."""
    rows = page.locator(".effect tbody tr")
    return [rows.nth(at).inner_text().split() for at in range(rows.count())]


def press(page, key):
    with page.expect_navigation():
        page.keyboard.press(key)


def test_find_a_run_filter_open_a_pull_request(visit):
    page = visit("/")
    page.locator("[name=q]").fill("sample")
    page.get_by_role("button", name="Show").click()
    assert "q=sample" in page.url
    assert page.locator("tbody tr").count() == 1
    page.get_by_role("link", name="sample").click()
    assert page.locator("h2", has_text="The answer").is_visible()
    page.get_by_role("link", name="Pairs", exact=True).click()
    everything = page.locator(".tally").first.inner_text()
    with page.expect_navigation():
        page.locator("select[name=reviewer]").select_option("noisy")
    assert "reviewer=noisy" in page.url
    assert page.locator(".tally").first.inner_text() != everything
    shown = page.locator(".pairs-list tbody tr")
    assert shown.count() > 5
    assert all("noisy" in text for text in shown.all_inner_texts())
    page.reload()
    assert page.locator("select[name=reviewer]").input_value() == "noisy"
    page.locator(".pairs-list tbody tr a").first.click()
    assert "/pr/" in page.url
    assert page.locator("article.card").count() > 2
    ends = page.locator("[data-thread]").count()
    assert ends > 0
    expect(page.locator("path.thread")).to_have_count(ends)  # They are drawn when the page has its size.


def test_label_three_pairs_by_keyboard_undo_one_reload_and_see_the_corrected_figures_change(visit):
    page = visit("/run/sample/label?name=eva")
    before = corrected(page)
    assert re.search(r"\b0\.\d{3}–0\.\d{3}", " ".join(before[0])), "there is a corrected figure with its interval"
    states = [before]
    for key in ("d", "s", "d"):
        press(page, key)
        states.append(corrected(page))
    assert "Your latest answer: different." in page.locator(".told").inner_text()
    assert states[3] != before
    press(page, "u")
    undone = corrected(page)
    assert undone == states[2]
    page.reload()
    assert corrected(page) == undone
    # k goes back, j onwards, and neither writes anything.
    place = page.url
    press(page, "j")
    press(page, "k")
    assert corrected(page) == undone
    assert page.url != place


def test_with_the_mouse_it_is_the_same(visit):
    page = visit("/run/sample/label?name=ida")
    first = page.locator(".queue .card").all_inner_texts()
    with page.expect_navigation():
        page.get_by_role("button", name="Different").click()
    assert page.locator(".queue .card").all_inner_texts() != first
    with page.expect_navigation():
        page.get_by_role("button", name="Undo").click()
    assert page.locator(".queue .card").all_inner_texts() == first
    assert page.get_by_role("button", name="Undo").is_disabled()


def test_keys_are_letters_while_somebody_types(visit):
    page = visit("/run/sample/label")
    field = page.get_by_label("Labelling as")
    field.press_sequentially("sduj")
    assert field.input_value() == "sduj"
    assert "Your latest answer" not in page.content()


def test_label_an_unlisted_issue_valid_and_see_p_plus_move(visit):
    page = visit("/run/sample/unlisted?name=eva")
    before = corrected(page)
    press(page, "v")
    after = corrected(page)
    assert after != before
    press(page, "u")
    assert corrected(page) == before


def test_label_outcomes_by_keyboard_and_mouse_and_see_the_figures_move(visit):
    page = visit("/run/outcomes/label?name=eva")
    assert "Comment 31 of 40" in page.locator(".question").inner_text()
    before = corrected(page)
    states = [before]
    for key in ("f", "p", "n", "k"):
        press(page, key)
        states.append(corrected(page))
    assert "Your latest answer: cannot tell." in page.locator(".told").inner_text()
    assert len({str(state) for state in states}) == 5
    press(page, "u")
    assert corrected(page) == states[3]
    with page.expect_navigation():
        page.get_by_role("button", name="Cannot tell").click()
    assert corrected(page) == states[4]
    with page.expect_navigation():
        page.get_by_role("button", name="Undo").click()
    press(page, "j")
    assert "Comment 35 of 40" in page.locator(".question").inner_text()
    press(page, "b")
    assert "Comment 34 of 40" in page.locator(".question").inner_text()
    assert corrected(page) == states[3]


def test_find_comments_that_were_turned_down_and_read_them_on_their_pull_request(visit):
    page = visit("/run/answered")
    page.get_by_role("link", name="Comments", exact=True).click()
    with page.expect_navigation():
        page.locator("select[name=list]").select_option("rejected")
    assert page.url.endswith("/comments?list=rejected")
    assert page.locator("article.outcome").count() == 1
    assert page.locator("article.outcome .reply").inner_text().startswith("ann answered")
    page.get_by_role("link", name="cart.py:1").click()
    assert "/pr/0?at=0-1#c0-1" in page.url
    assert page.locator("#c0-1").is_visible()
    page.locator("#c0-1 summary", has_text="The later change").click()
    assert page.locator("#c0-1 .diff .added").inner_text().strip() == "+zwei <b>bold</b>"


def test_labels_on_a_pull_request_show_there(visit):
    page = visit("/run/sample/pr/0")
    with page.expect_navigation():
        page.locator("form.label").first.get_by_role("button", name="Different").click()
    assert page.get_by_text("Labelled different").first.is_visible()
    with page.expect_navigation():
        page.locator("form.label").first.get_by_role("button", name="Clear").click()
    assert page.get_by_text("Labelled different").count() == 0


PAGES = {
    "run": "/run/sample",
    "pull request": "/run/sample/pr/1",
    "label": "/run/sample/label",
    "unlisted": "/run/sample/unlisted",
    "compare": "/compare?a=sample",
    "routing": "/run/routers",
    "routing pull request": "/run/routers/pr/0",
    "outcomes": "/run/outcomes",
    "outcomes, comments": "/run/answered/comments?open=1",
    "outcomes, pull request": "/run/answered/pr/0",
    "outcomes, label": "/run/outcomes/label?name=eva",
    "outcomes, draw": "/run/newer/label",
    "outcomes, compare": "/compare?a=outcomes&b=newer",
}
"""The lists and the small pages are looked at in test_browser."""


@pytest.mark.parametrize("look", [("light", 1280), ("dark", 375)], ids=["light", "dark and narrow"])
@pytest.mark.parametrize("path", PAGES.values(), ids=PAGES)
def test_these_pages_are_sound_at_any_width_and_in_both_schemes(visit, path, look):
    page = visit(path, scheme=look[0], width=look[1])
    found = [
        (violation["id"], [node["html"] for node in violation["nodes"]][:2])
        for violation in Axe().run(page).response["violations"]
        if violation["impact"] in SEVERE
    ]
    assert found == []
    assert page.evaluate("document.documentElement.scrollWidth") <= look[1]
    assert page.evaluate("document.title").endswith("metareview")
