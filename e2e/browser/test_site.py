"""The static site of the documentation, as script/docs builds it."""

import subprocess
import sys
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from threading import Thread

import pytest
from playwright.sync_api import expect

from e2e.conftest import ROOT, wait_for

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]


class Quiet(SimpleHTTPRequestHandler):
    """Serves files, and logs nothing."""

    def log_message(self, *arguments):
        pass


@pytest.fixture
def site(tmp_path):
    """Build the site, and serve it."""
    subprocess.run([sys.executable, ROOT / "script/docs.py", tmp_path / "site"], check=True)
    handler = partial(Quiet, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        Thread(target=server.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()


def test_the_site_has_search_and_loads_nothing_from_elsewhere(chromium, site):
    page = chromium.new_page()
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))

    page.goto(site)
    expect(page.get_by_role("heading", name="What do you want to do?")).to_be_visible()
    page.get_by_role("button", name="Search").first.click()
    field = page.get_by_placeholder("Search")
    field.fill("Grafana")

    def led_there():
        """Take the first result; the list is drawn out of reach, in a closed part of the page."""
        if "grafana" not in page.url:
            field.press("Enter")
        return "how-to/grafana" in page.url

    wait_for(led_there, "the first result")
    expect(page.get_by_role("heading", name="Show results in Grafana", level=1)).to_be_visible()
    assert [url for url in asked if not url.startswith((site, "data:", "blob:"))] == []
    page.close()
