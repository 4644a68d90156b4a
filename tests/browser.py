"""A browser, for the tests of what people look at."""

import shutil
import tempfile

import pytest

FLAGS = (
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
)


@pytest.fixture(scope="module")
def browser():
    """Headless Chromium; without one these tests fail, because nothing else shows that the page works.

    Closed with the module: while it is open its event loop runs, and no other test could start one of its own.
    """
    from playwright.sync_api import sync_playwright

    found = shutil.which("chromium") or shutil.which("google-chrome")
    if found is None:
        pytest.fail("no chromium: `make browser` installs it")
    with sync_playwright() as playwright, tempfile.TemporaryDirectory() as profile:
        started = playwright.chromium.launch(executable_path=found, args=[*FLAGS, f"--crash-dumps-dir={profile}"])
        yield started
        started.close()


@pytest.fixture
def open_page(browser):
    """Opens a file or an address as a user would, and notes everything that the page asks for or complains of."""
    contexts = []

    def open_one(place, *, scheme="light", width=1200, scripts=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts
        )
        contexts.append(context)
        page = context.new_page()
        page.requests, page.complaints = [], []
        page.on("request", lambda request: page.requests.append(request.url))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(place if isinstance(place, str) else place.resolve().as_uri())
        return page

    yield open_one
    for context in contexts:
        context.close()
