"""A file that another tool wrote: looked at before it is stored, then a campaign with its chart."""

import random
import re
from pathlib import Path

import pytest
from playwright.sync_api import expect

from campaigns.tests.results import readers

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(180)]

DATA = Path(readers.__file__).with_name("data")


def test_what_is_in_a_file_is_seen_before_it_is_stored(page):
    page.goto("/campaigns/")
    page.get_by_role("link", name="Import a file").click()
    page.get_by_label("File", exact=True).set_input_files(DATA / "hyperfine-1.20.json")

    look = page.locator("#look")
    expect(look).to_contain_text("size (3 levels)")
    expect(look).to_contain_text("User and system time are left out")
    page.get_by_label("Name", exact=True).fill("sizes of files")
    page.get_by_role("button", name="Import").click()

    expect(page).to_have_url(re.compile(r"/campaigns/\d+/$"))
    expect(page.locator("main")).to_contain_text("import: raw values")
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
    page.goto("/import/")
    expect(page.get_by_role("link", name="sizes of files")).to_be_visible()


def test_a_file_that_is_none_is_refused_and_what_was_typed_stays(page, tmp_path):
    odd = tmp_path / "numbers.csv"
    odd.write_text("speed\n7\n")
    page.goto("/import/")
    page.get_by_label("Name", exact=True).fill("typed before")
    page.get_by_label("File", exact=True).set_input_files(odd)

    expect(page.locator("#look")).to_contain_text("none of the known formats")
    page.get_by_role("button", name="Import").click()

    expect(page.get_by_role("alert")).to_contain_text("none of the known formats")
    expect(page.get_by_label("Name", exact=True)).to_have_value("typed before")


def test_a_large_file_is_read_by_a_worker_and_the_page_leads_to_its_campaign(page, tmp_path):
    """Larger than what is read at once: 40,000 requests of two kinds."""
    draw = random.Random(7)
    large = tmp_path / "large.jtl"
    lines = ["timeStamp,elapsed,label,responseCode,responseMessage,threadName,success,bytes"]
    lines += [
        f"{1_790_000_000_000 + 10 * number},{draw.randint(5, 90)},{label},200,OK,Thread 1-{number % 8},true,1024"
        for number in range(40_000)
        for label in [("small file", "large file")[number % 2]]
    ]
    large.write_text("\n".join(lines) + "\n")
    assert large.stat().st_size > 2_000_000
    page.goto("/import/")
    page.get_by_label("File", exact=True).set_input_files(large)
    expect(page.locator("#look")).to_contain_text("a worker reads it")
    page.get_by_role("button", name="Import").click()

    expect(page).to_have_url(re.compile(r"/campaigns/\d+/$"), timeout=90_000)
    expect(page.locator(".answer .sentence")).to_be_visible(timeout=60_000)
    page.get_by_role("link", name="Trust").click()
    expect(page.locator("main")).to_contain_text("What the numbers are")


def test_a_program_submits_and_its_link_shows_a_chart(page, perfdash):
    document = {
        "campaign": {"question": "Which parser is the fastest?"},
        "metrics": {"duration": {"unit": "s", "lower_is_better": True}},
        "runs": [
            {
                "tags": {"parser": name},
                "values": {"duration": [seconds, seconds * 1.02, seconds * 0.98]},
            }
            for name, seconds in (("old", 1.5), ("new", 1.2))
        ],
    }

    answer = perfdash.api("POST", "submissions", document)

    page.goto(answer["submission"]["campaign"]["page"])
    expect(page.locator("main")).to_contain_text("faster", timeout=60_000)
    expect(page.locator(".js-plotly-plot").first).to_be_visible()
