"""A browser that looks at the viewer."""

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
    """Headless Chromium; without one these tests fail, because nothing else shows that pages work."""
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
    """Opens an address as a user would, and notes everything that the page asks for or complains of."""
    contexts = []

    def open_address(address, *, scheme="light", width=1200, scripts=True):
        context = browser.new_context(
            viewport={"width": width, "height": 900}, color_scheme=scheme, java_script_enabled=scripts
        )
        contexts.append(context)
        page = context.new_page()
        page.requests, page.complaints = [], []
        page.on("request", lambda request: page.requests.append(request.url))
        page.on("console", lambda message: page.complaints.append(message.text))
        page.on("pageerror", lambda error: page.complaints.append(str(error)))
        page.goto(address)
        return page

    yield open_address
    for context in contexts:
        context.close()
