"""Takes the pictures of the README anew: `python -m e2e.screenshots`, with Debian's chromium.

It starts a perfdash of its own in a temporary directory, and stops it again.
"""

import tempfile
from pathlib import Path

from playwright.sync_api import Page, expect, sync_playwright

from e2e.browser.conftest import ARGUMENTS, CHROMIUM, sign_in_link
from e2e.conftest import ROOT, served

PICTURES = ROOT / "docs" / "images"
WIDTH = 1440


def result(page: Page) -> None:
    """The finished campaign: answer and chart."""
    page.goto("/campaigns/1/")
    expect(page.locator("#curve .main-svg").first).to_be_visible()
    chart = page.locator("section[aria-labelledby=h-curve]").bounding_box()
    assert chart is not None
    height = chart["y"] + chart["height"] + 12
    page.screenshot(
        path=PICTURES / "result.png",
        full_page=True,
        clip={"x": 0, "y": 0, "width": WIDTH, "height": height},
    )


def main() -> None:
    """Sign in once, and take each picture in the light theme."""
    PICTURES.mkdir(parents=True, exist_ok=True)
    with (
        tempfile.TemporaryDirectory() as directory,
        served(Path(directory) / "data") as perfdash,
        sync_playwright() as playwright,
        playwright.chromium.launch(executable_path=CHROMIUM, args=ARGUMENTS) as browser,
    ):
        page = browser.new_page(
            base_url=perfdash.state["base_url"],
            viewport={"width": WIDTH, "height": 900},
            color_scheme="light",
            reduced_motion="reduce",
        )
        page.goto(sign_in_link(perfdash))
        result(page)


if __name__ == "__main__":
    main()
