"""The tutorials, done as they say: what stands in bold is pressed, and what a table names is filled in."""

import re
from contextlib import nullcontext

import pytest
from playwright.sync_api import expect

from e2e.browser.pages import renewed
from e2e.conftest import ROOT
from sandbox.process import running

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

STEP = re.compile(
    r"^\| (?P<label>[^|]+) \| `(?P<value>[^`]+)`[^|]* \|$|\*\*(?P<press>[^*]+)\*\*", re.MULTILINE
)
CARRIED = re.compile(r"carries (at least|fewer than) \d+", re.IGNORECASE)
LONG = 180_000
"""Milliseconds within which a few short runs end, on a busy machine."""


def sections(name):
    """The numbered sections of a tutorial, without their headings."""
    text = (ROOT / "docs/tutorials" / f"{name}.md").read_text(encoding="utf-8")
    _, *numbered = re.split(r"^## \d+[.] .*$", text.partition("\n## Next")[0], flags=re.MULTILINE)
    return numbered


def follow(page, text, said):
    """Do the steps of a section in their order; said: values that are other ones here."""
    for step in STEP.finditer(text):
        if step["press"]:
            press(page, step["press"])
        else:
            fill(
                page, step["label"], said.get(step["value"], said.get(step["label"], step["value"]))
            )


def first_of(text):
    """The first thing that a section has pressed."""
    return next(step["press"] for step in STEP.finditer(text) if step["press"])


def press(page, name):
    """Press the button or link of this name, or open the part of the page that has it as its heading."""
    button = page.get_by_role("button", name=name).or_(
        page.get_by_role("link", name=name, exact=True)
    )
    button.or_(page.locator("summary", has_text=name)).first.click()


def fill(page, label, value):
    """Fill in a field as its kind is filled in."""
    if label == "Kind":
        with renewed(page):
            page.get_by_role("radio", name=re.compile(f"^{value}")).check()
    elif label.startswith("vary "):
        page.get_by_role("switch", name=re.compile(f"^{label}$", re.IGNORECASE)).check()
        name = label.removeprefix("vary ").lower()
        box = page.get_by_role("textbox", name=f"Add a level of {name}")
        expect(box).to_be_visible()
        for present in page.get_by_role(
            "button", name=re.compile(f"^Remove level .* of {name}$")
        ).all():
            present.click()
        for level in value.split(", "):
            box.fill(level)
            box.press("Enter")
    elif value == "yes":
        page.get_by_label(label).check()
    elif label == "File":
        page.get_by_label(label, exact=True).set_input_files(value)
    else:
        field = page.get_by_label(label, exact=True)
        if field.evaluate("field => field.tagName") == "SELECT":
            option = field.locator("option").filter(has_text=re.compile(f"^\\s*{re.escape(value)}"))
            chosen = option.first.get_attribute("value")
            with renewed(page) if label == "Target" else nullcontext():
                field.select_option(chosen)
        else:
            field.fill(value)


def test_your_api_from_a_recording(chromium, page, tmp_path):
    record, *steps, launch = sections("your-api")
    with running() as api:
        har = tmp_path / "recording.har"
        context = chromium.new_context(record_har_path=har, record_har_content="embed")
        browsed = context.new_page()
        (path,) = re.findall(r"http://127.0.0.1:8099(/\S+MANIFEST)`", record)
        browsed.goto(f"{api.base_url}{path}")
        browsed.evaluate("fetch(location.href.replace('PULP_MANIFEST', 'file-000001.bin'))")
        context.close()
        said = {
            "http://127.0.0.1:8099": api.base_url,
            "recording.har": har,
            # Shorter than what the tutorial takes.
            "vary Hosts": "4, 8",
            "Duration in seconds": "4",
        }
        page.goto("/")
        for text in steps:
            follow(page, text, said)
        tried = page.locator("#scenario-editor")
        expect(tried).to_contain_text("200")
        expect(page.locator("#plan")).to_contain_text("6")
        press(page, first_of(launch))

        expect(page.locator(".answer")).to_contain_text(CARRIED, timeout=LONG)


def sync(page, pulp, password, feed):
    """Do the tutorial of a Pulp, up to the answer."""
    _, *steps, launch = sections("your-pulp")
    said = {
        "http://127.0.0.1:24817": pulp,
        "the password": password,
        "http://127.0.0.1:8099/repo/files=100,size=20kB/latency=50/PULP_MANIFEST": (
            f"{feed}/repo/files=40,size=2kB/latency=50/PULP_MANIFEST"
        ),
    }
    page.goto("/")
    for text in steps:
        follow(page, text, said)
    expect(page.locator("#plan .facts")).to_contain_text("2 × 3")
    press(page, first_of(launch))
    expect(page.locator(".answer")).to_contain_text(
        re.compile(r"10 is \S+\s% faster than 2"), timeout=LONG
    )


def test_your_pulp(page, perfdash):
    with running(pulp={}) as server:
        sync(page, server.pulp.base_url, "password", perfdash.state["sandbox_url"])
