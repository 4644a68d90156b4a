"""The viewer in a real browser: quiet, readable at any width and by anybody, live, and deaf to what runs say."""

from pathlib import Path

import outcome_samples
import pytest
from axe_playwright_python.sync_playwright import Axe
from viewer_samples import served, small_run, unfinished

from metareview.api import evaluate_comments

DEMO = Path(__file__).resolve().parents[2] / "src" / "metareview" / "data" / "demo"
PAGES = ("/", "/run/demo", "/run/demo/pairs", "/run/demo/prs", "/run/demo/settings", "/run/going", "/run/nothing",
         "/run/outcomes", "/run/outcomes/comments", "/run/outcomes/pr/0?open=1")  # fmt: skip


@pytest.fixture(scope="module")
def address(tmp_path_factory):
    root = tmp_path_factory.mktemp("runs")
    evaluate_comments(
        DEMO / "reviews", reference=DEMO / "references.jsonl", negatives=DEMO / "negatives.jsonl", out=root / "demo"
    )
    unfinished(root / "going")
    outcome_samples.small_run(root / "outcomes")
    with served(root) as found:
        yield found


@pytest.mark.parametrize("width", [375, 1200])
@pytest.mark.parametrize("path", PAGES)
def test_is_quiet_asks_nobody_else_and_never_scrolls_sideways(address, open_page, path, width):
    page = open_page(address + path, width=width)
    missing = [f"{address}{path}"] if path == "/run/nothing" else []
    assert [text for text in page.complaints if "404" not in text or not missing] == []
    assert all(request.startswith(f"{address}/") for request in page.requests)
    assert page.evaluate("document.documentElement.scrollWidth") == width


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("path", PAGES)
def test_axe_finds_nothing_wrong(address, open_page, path, scheme):
    page = open_page(address + path, scheme=scheme)
    found = Axe().run(page).response["violations"]
    assert [(each["id"], each["impact"], each["nodes"][0]["html"][:200]) for each in found] == []


def test_from_the_list_of_runs_to_a_pair_on_its_pull_request(address, open_page):
    page = open_page(f"{address}/")
    page.locator("[name=q]").fill("terse")
    page.keyboard.press("Enter")
    page.wait_for_url("**/?q=terse")
    page.get_by_role("link", name="demo").click()
    page.get_by_role("link", name="Pairs", exact=True).click()
    page.locator("select[name=verdict]").select_option(
        "aligned"
    )  # applies at once, and empty fields stay out of the address
    page.wait_for_url("**/run/demo/pairs?verdict=aligned")
    page.locator("select[name=reviewer]").select_option("terse")
    page.wait_for_url("**/run/demo/pairs?verdict=aligned&reviewer=terse")
    assert page.locator("tbody tr").count() == 19  # terse's precision of 0.76 over 25 comments
    page.locator("tbody .pr-cell a").first.click()
    page.wait_for_url("**/run/demo/pr/*")
    anchor = page.evaluate("location.hash.slice(1)")
    assert page.locator(f"[id='{anchor}']").is_visible()
    assert page.complaints == []


def test_without_scripts_filters_have_a_button(address, open_page):
    page = open_page(f"{address}/run/demo/pairs", scripts=False)
    page.locator("select[name=verdict]").select_option("different")
    page.get_by_role("button", name="Show").click()
    assert "verdict=different" in page.url
    assert page.locator("tbody tr").count() == 50


def test_without_scripts_comments_can_be_filtered_and_their_changes_read(address, open_page):
    page = open_page(f"{address}/run/outcomes/comments", scripts=False)
    page.locator("select[name=list]").select_option("heeded")
    page.get_by_role("button", name="Show").click()
    assert "list=heeded" in page.url
    assert page.locator("article.outcome").count() == 2
    page.get_by_role("link", name="Show code and changes of all").click()
    assert page.locator(".diff .added").first.is_visible()


def test_the_keyboard_reaches_the_content_first(address, open_page):
    page = open_page(f"{address}/run/demo")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.evaluate("document.activeElement.id") == "main"


def test_a_running_run_is_followed_until_it_is_finished(tmp_path, open_page):
    folder = unfinished(tmp_path / "going", records=2)
    with served(tmp_path) as address:
        page, runs = open_page(f"{address}/run/going"), open_page(f"{address}/")
        with (folder / "results.jsonl").open("a") as file:
            file.write("{}\n" * 5)
        page.locator("dd", has_text="7").wait_for(timeout=10_000)
        runs.locator("td", has_text="7").first.wait_for(timeout=10_000)
        small_run(folder, overwrite=True)
        page.get_by_text("The answer").first.wait_for(timeout=10_000)
        runs.locator("tbody .tag.good").wait_for(timeout=10_000)
        assert page.complaints == runs.complaints == []
