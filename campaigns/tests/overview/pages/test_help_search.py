"""The search of the help."""

import re

import pytest
from django.urls import reverse

from campaigns.overview.help_search import find
from campaigns.tests.browsing import Page

pytestmark = pytest.mark.django_db

QUESTIONS = {
    "nightly and told if worse": "how-to/every-night",
    "why not enough data": "explanation/statistics",
    "own Katello with a certificate": "reference/kinds/registration",
    "delete after launch": "how-to/after-launch",
    "k6 results": "how-to/import",
    "agent on the target": "how-to/watch-a-target",
    "Slack": "how-to/notifications",
    "cell and block": "reference/glossary",
    "Grafana": "how-to/grafana",
    "upgrade": "how-to/upgrade",
    # The same in other words, and what people type besides.
    "updating perfdash": "how-to/upgrade",
    "graphana": "how-to/grafana",
    "notif": "how-to/notifications",
    "HAR": "tutorials/your-api",
    "record my API": "tutorials/your-api",
    "try a Pulp": "tutorials/your-pulp",
    "docker": "how-to/compose",
    "what does drift mean": "reference/glossary",
    "how many users can my API take": "how-to/http-api",
    "cancel a campaign": "how-to/after-launch",
    "jenkins": "how-to/command-line",
    "single sign-on": "how-to/sign-in",
}
"""What somebody asks, and the page that answers it: among the first three."""


@pytest.mark.parametrize("asked", QUESTIONS)
def test_a_question_finds_its_page_among_the_first_three(asked):
    found = [hit.address.partition("#")[0] for hit in find(asked)]

    assert reverse("help-page", args=[QUESTIONS[asked]]) in found[:3]


@pytest.mark.parametrize(
    ("asked", "anchor"),
    [("cell", "#cell"), ("strata", "#stratum-strata"), ("Slack", "#chat-services")],
)
def test_the_first_hit_leads_to_the_heading(asked, anchor):
    hit = find(asked)[0]

    assert hit.address.endswith(anchor)
    assert hit.excerpt


def test_every_hit_leads_to_a_section_that_is_there(browser):
    for asked in ("campaign runs", "statistics of levels", "kind of test"):
        for hit in find(asked):
            for address in (hit.address, *(address for _, address in hit.more)):
                path, _, anchor = address.partition("#")
                ids = {given.get("id") for _, given in Page(browser.get(path)).elements}
                assert not anchor or anchor in ids


@pytest.mark.parametrize("asked", ["", " ", "the of", "zzzqqq", "\0", "'; --", "%", "é" * 300])
def test_what_finds_nothing_says_so(browser, asked):
    answer = browser.get(reverse("help"), {"q": asked})

    assert answer.status_code == 200
    assert "No pages" in Page(answer).text


def test_the_search_stands_first_on_the_help_page_and_on_each_page_of_it(browser):
    for address in (reverse("help"), reverse("help-page", args=["how-to/upgrade"])):
        names = [
            given.get("name")
            for tag, given in Page(browser.get(address)).elements
            if tag == "input"
        ]
        assert "q" in names
    answer = browser.get(reverse("help"), {"q": "<b>upgrade"})

    assert "<h3>" in answer.text
    assert "<b>upgrade" not in answer.text
    assert re.search(r"<mark>[Uu]pgrade", answer.text)
