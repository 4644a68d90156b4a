"""The page in a real browser: quiet, self-contained, readable at any width and by anybody, hostile text as text."""

import base64
from dataclasses import replace
from pathlib import Path

import pytest
from axe_playwright_python.sync_playwright import Axe
from report_samples import HOSTILE, comment, hostile, pull, routing_run, two_reviewers, write_jsonl

from metareview.api import evaluate_comments, evaluate_outcomes
from metareview.report import write_report
from metareview.report.names import clean
from metareview.report.page.notes import LONGEST as LONGEST_NOTE

DATA = Path(__file__).resolve().parents[3] / "shared" / "data"
DEMO = Path(__file__).resolve().parents[2] / "src" / "metareview" / "data" / "demo"
REASON = "the published sets are not beside this checkout"
with_data = pytest.mark.skipif(not (DATA / "aacr").exists(), reason=REASON)


def demo(folder):
    return evaluate_comments(DEMO / "reviews", reference=DEMO / "references.jsonl", negatives=DEMO / "negatives.jsonl")


def routing(folder):
    return routing_run()


def outcomes(folder):
    """Every outcome is known, so that the table has all of its columns."""
    at = {"commit": "a" * 40, "at": "2026-03-02T10:00:00Z", "path": "a.py", "resolved": True, "reactions": {"+1": 1}}
    note = "Misspelt.\n```suggestion\nTWO\n```"
    made = {"sha": "a" * 40, "at": "2026-03-02T09:00:00Z", "author": "ann", "parents": ["f" * 40]}
    later = {"sha": "b" * 40, "at": "2026-03-02T11:00:00Z", "author": "ann", "parents": ["a" * 40]}
    commits = [
        {**made, "files": [{"path": "a.py", "status": "added", "patch": "@@ -0,0 +1,2 @@\n+one\n+two"}]},
        {**later, "files": [{"path": "a.py", "status": "modified", "patch": "@@ -1,2 +1,2 @@\n one\n-two\n+TWO"}]},
    ]
    records = []
    for number in range(1, 13):
        about = {"pr": pull(number), "author": "ann", "merged_at": "2026-03-03T00:00:00Z"}
        for name in ("sharpeye[bot]", "areviewerwithalongnamewithoutasinglebreakinit[bot]"):
            said = {**at, "from_line": 2, "to_line": 2, "note": note, "id": f"{name}{number}"}
            records.append({**about, "reviewer": name, "commits": commits, "comments": [said]})
        reply = {**at, "note": "Done.", "id": f"r{number}", "in_reply_to": f"sharpeye[bot]{number}"}
        records.append({**about, "reviewer": "ann", "comments": [reply]})
    return evaluate_outcomes(records)


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """The path of each sample's page, written once."""
    written = {}

    def page_of(make):
        if make not in written:
            folder = tmp_path_factory.mktemp(make.__name__)
            run = make(folder)
            path = folder / "report.html"
            written[make] = write_report(run, path)
        return written[make]

    return page_of


def open_everything(page):
    page.evaluate("document.querySelectorAll('details').forEach(d => d.open = true)")


def close_all_but_two_pull_requests(page):
    """The others are made of the same parts, and axe takes its time over each."""
    page.evaluate("[...document.querySelectorAll('details.pr')].slice(2).forEach(d => d.open = false)")


@pytest.mark.parametrize("make", [demo, two_reviewers, hostile, routing])
@pytest.mark.parametrize("width", [375, 1200])
def test_is_quiet_asks_for_nothing_and_never_scrolls_sideways(make, width, pages, open_page):
    path = pages(make)
    page = open_page(path, width=width)
    open_everything(page)
    assert page.complaints == []
    assert page.requests == [path.resolve().as_uri()]
    assert page.evaluate("document.documentElement.scrollWidth") == width
    # It is the content security policy that would stop a script, not luck.
    assert page.evaluate("document.scripts.length") == 0
    policy = page.locator("meta[http-equiv='Content-Security-Policy']").get_attribute("content")
    assert policy.startswith("default-src 'none'; style-src 'sha256-")
    assert page.evaluate("getComputedStyle(document.querySelector('table')).borderCollapse") == "collapse"


@pytest.mark.parametrize("make", [demo, two_reviewers, hostile, routing])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_wrong(make, scheme, pages, open_page):
    page = open_page(pages(make), scheme=scheme)
    open_everything(page)
    close_all_but_two_pull_requests(page)
    found = Axe().run(page).response["violations"]
    assert [(v["id"], v["impact"], v["nodes"][0]["html"][:200]) for v in found] == []


A4 = 717
"""Pixels across a sheet between the margins that browsers leave."""


@pytest.mark.parametrize("make", [demo, two_reviewers, hostile, routing, outcomes])
def test_on_a4_nothing_is_cut_off(make, pages, open_page):
    page = open_page(pages(make), width=A4)
    page.emulate_media(media="print")
    open_everything(page)
    assert page.evaluate("document.documentElement.scrollWidth") == A4
    cut_off = page.evaluate(
        "[...document.querySelectorAll('th, td, svg, pre, p')]"
        ".filter(each => each.getBoundingClientRect().right > innerWidth + 1).map(each => each.innerText)"
    )
    assert cut_off == []


def test_dark_is_dark_and_print_is_light(pages, open_page):
    background = "getComputedStyle(document.body).backgroundColor"
    page = open_page(pages(demo), scheme="dark")
    dark = page.evaluate(background)
    page.emulate_media(media="print", color_scheme="dark")
    assert dark != page.evaluate(background) == "rgb(255, 255, 255)"
    assert not page.locator("nav").is_visible()


def test_what_tries_to_be_markup_is_shown_as_text(pages, open_page):
    page = open_page(pages(hostile))
    open_everything(page)
    assert page.locator("main img, main script, main style, main b:has-text('rude'), main i, main u").count() == 0
    shown = page.locator("main").inner_text()
    assert HOSTILE[0] in shown
    assert clean(HOSTILE[2]) in shown
    assert "[U+202E]evil" in shown
    assert "🚀 ship it 👩‍👩‍👧‍👦 \ufffd\ufffd[31m" in shown
    assert '<b>rude</b>" onload="x' in shown
    assert "<path>:1000" in shown
    assert shown.count("x" * LONGEST_NOTE) == 0
    assert f"Shortened: {100_000 - LONGEST_NOTE:,} more characters; the run has them all." in shown
    assert page.locator("a[href^='javascript']").count() == 0


def test_right_to_left_notes_run_right_to_left(pages, open_page):
    page = open_page(pages(hostile))
    open_everything(page)
    note = page.locator(".note", has_text="הערה").first
    assert note.evaluate("e => getComputedStyle(e).direction") == "rtl"


def test_a_keyboard_reaches_the_answer_and_every_wide_table(pages, open_page):
    page = open_page(pages(demo), width=375)
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.className") == "skip"
    page.keyboard.press("Enter")
    assert page.url.endswith("#answer")
    wide = page.locator("main .scroll")
    assert wide.count() > 3
    assert {region.get_attribute("tabindex") for region in wide.all()} == {"0"}


def test_the_answer_comes_first_and_the_pull_requests_last(pages, open_page):
    page = open_page(pages(demo))
    titles = page.locator("h2").all_inner_texts()
    assert titles[0] == "The answer"
    assert titles[-1] == "Every pull request"
    assert page.locator("#answer tbody tr th").all_inner_texts() == [
        "1.\u00a0repetitive",
        "2.\u00a0terse",
        "3.\u00a0noisy",
    ]


def missed(folder):
    """The routing run with a pull request whose right person nobody has on the list."""
    run = routing_run()
    records = list(run.read_records())
    nobody = {name: replace(answer, rank=0) for name, answer in records[1].answers.items()}
    return replace(run, kept_records=[records[0], replace(records[1], answers=nobody), records[2]])


@pytest.mark.parametrize("make", [two_reviewers, missed])
def test_a_keyboard_hides_what_was_found_and_shows_it_again(make, pages, open_page):
    page = open_page(pages(make))
    open_everything(page)
    found = page.locator("#pull-requests .found")
    assert found.count() > 0
    before = [each.is_visible() for each in found.all()]
    assert all(before)
    page.locator("#only-misses").focus()
    page.keyboard.press("Space")
    assert not any(each.is_visible() for each in found.all())
    rest = page.locator("#pull-requests tbody tr:not(.found), #pull-requests li:not(.found)")
    assert any(each.is_visible() for each in rest.all())
    page.keyboard.press("Space")
    assert [each.is_visible() for each in found.all()] == before


def test_a_table_that_is_too_wide_has_a_shadow_where_there_is_more(pages, open_page):
    """The shadow is drawn behind the table, and covered by what scrolls with it as long as there is no more."""
    page = open_page(pages(demo), width=375)
    box = page.locator("#answer .scroll")
    assert box.evaluate("e => e.scrollWidth > e.clientWidth")
    attached = box.evaluate("e => getComputedStyle(e).backgroundAttachment")
    assert attached == "local, local, scroll, scroll"

    def edge():
        """How bright the rightmost pixels are, in the middle of all."""
        blank = page.context.new_page()
        return blank.evaluate(_EDGE, base64.b64encode(box.screenshot()).decode())

    assert edge() < 230
    box.evaluate("e => e.scrollLeft = e.scrollWidth")
    assert edge() == 255


_EDGE = """async (png) => {
  const image = new Image();
  image.src = "data:image/png;base64," + png;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), {width: image.width, height: image.height});
  const drawing = canvas.getContext("2d");
  drawing.drawImage(image, 0, 0);
  const column = drawing.getImageData(image.width - 2, 0, 1, image.height).data;
  const greens = [...column].filter((_, at) => at % 4 == 1).sort((a, b) => a - b);
  return greens[greens.length >> 1];
}"""


def test_notes_are_rendered_as_markdown(tmp_path, open_page):
    note = (
        "**Leak**: see `close()`\n\n```suggestion\nwith open(p) as f:\n```\n\n- one\n- two\n\n[x](javascript:alert(1))"
    )
    reference = write_jsonl(tmp_path / "references.jsonl", [{"pr": pull(1), "comments": [comment(note)]}])
    said = write_jsonl(tmp_path / "said.jsonl", [{"pr": pull(1), "comments": [comment("other")]}])
    page = open_page(evaluate_comments(said, reference=reference, judge="exact").report(tmp_path / "r.html"))
    open_everything(page)
    shown = page.locator("ol.refs .note")
    assert shown.locator("strong").inner_text() == "Leak"
    assert shown.locator("pre").inner_text() == "with open(p) as f:"
    assert shown.locator("figcaption").inner_text() == "Suggested change"
    assert shown.locator("li").all_inner_texts() == ["one", "two"]
    assert "[x](javascript:alert(1))" in shown.inner_text()
    assert shown.locator("a").count() == 0


@with_data
def test_the_published_set_stays_under_three_megabytes(tmp_path, open_page):
    """Also where everything matches, so that every reference is shown twice."""
    positive, negative = DATA / "aacr" / "positive_samples.json", DATA / "aacr" / "negative_samples.json"
    for generated in (negative, positive):
        run = evaluate_comments(generated, reference=positive, negatives=negative, force=True)
        path = run.report(tmp_path / f"{generated.stem}.html")
        assert path.stat().st_size < 3_000_000
        page = open_page(path, width=375)
        assert page.evaluate("document.documentElement.scrollWidth") == 375
        assert page.complaints == []
        assert page.locator("details.pr").count() == run.summary["reviewers"][generated.stem]["prs"]
