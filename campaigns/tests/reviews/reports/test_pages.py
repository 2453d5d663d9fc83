import re
from dataclasses import replace
from html.parser import HTMLParser

import pytest
from django.test import Client
from django.urls import reverse

from campaigns.models import Team
from campaigns.planning import lifecycle
from campaigns.reviews.checklist import checklist
from campaigns.tests.browsing import Page
from campaigns.tests.measured import finish
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db
WAYS = ("report", "report-html", "report-markdown")
HOSTILE = "<script>alert(1)</script> | `x` **b** [l](http://evil.example) @boss #1 <b>"


def get(browser, conclusion, way="report"):
    return browser.get(reverse(way, args=[conclusion.pk]))


@pytest.mark.parametrize("way", WAYS)
def test_a_report_says_claim_answer_hash_recommendation_and_who_signed(browser, accepted, way):
    text = get(browser, accepted, way).content.decode()

    for said in ("The new engine halves the duration.", "Ship it.", "Only small files.", "Sound."):
        assert said in text
    assert "+99.4 %" in text
    assert "reviewer" in text
    assert accepted.evidence.get().data_hash in text
    assert "no single pair changes a verdict" in text


@pytest.mark.parametrize(
    ("state", "said"),
    [
        ("draft", "Draft: not reviewed"),
        ("in_review", "In review: not accepted yet"),
        ("rejected", "Rejected"),
        ("reopened", "Re-opened: its evidence has changed"),
    ],
)
def test_what_is_not_accepted_says_so_in_large_letters(browser, accepted, state, said):
    accepted.state, accepted.reason = state, "Run 3 was excluded."
    accepted.save()

    page = Page(get(browser, accepted))
    written = get(browser, accepted, "report-markdown").content.decode()

    assert said in page.text
    assert "Run 3 was excluded." in page.text
    assert any("loud" in (attributes.get("class") or "") for _, attributes in page.elements)
    assert said.upper() in written


def test_an_accepted_report_has_no_large_letters(browser, accepted):
    assert 'class="loud"' not in get(browser, accepted).content.decode()


def test_a_reopened_report_has_both_values_of_what_changed(browser, accepted):
    accepted.state = "reopened"
    change = {"name": "Engines", "words": "word of the pairs", "before": "faster", "after": None}
    accepted.reopened_by = [change]
    accepted.save()

    text = Page(get(browser, accepted)).text

    assert "Engines: word of the pairs faster —" in text


def test_an_excluded_run_is_crossed_out_with_its_reason(browser, accepted, person):
    campaign = accepted.evidence.get().campaign
    lifecycle.exclude(campaign.runs.get(position=3), person, "The cache was cold.")
    finish(campaign)

    page = get(browser, accepted).content.decode()
    written = get(browser, accepted, "report-markdown").content.decode()

    assert re.search(r"<s>run 3, [^<]+</s> by reviewer, .*The cache was cold", page)
    assert "~~run 3, " in written


class Outside(HTMLParser):
    """What a page asks of others, or could run."""

    def __init__(self, text):
        super().__init__()
        self.asked = []
        self.feed(text)

    def handle_starttag(self, tag, attrs):
        names = {"src", "href", "action", "data", "poster", "srcset", "formaction"}
        self.asked += [(tag, name) for name, _ in attrs if name in names or name.startswith("on")]
        if tag in ("script", "iframe", "object", "link", "form", "base"):
            self.asked.append((tag, ""))


def test_the_file_stands_alone(browser, accepted):
    response = get(browser, accepted, "report-html")
    text = response.content.decode()

    assert Outside(text).asked == []
    assert "@import" not in text
    assert "url(" not in text
    assert "://" not in text
    assert text.count("<svg") >= 2
    assert "var(--series-1)" in text
    assert response["Content-Disposition"].startswith('attachment; filename="conclusion-')
    assert "default-src 'none'" in response["Content-Security-Policy"]


def test_words_of_people_are_never_markup(browser, accepted):
    accepted.claim = accepted.recommendation = accepted.limits = HOSTILE
    accepted.save()

    for way in ("report", "report-html"):
        text = get(browser, accepted, way).content.decode()
        assert "<script>alert" not in text
        assert "&lt;script&gt;alert(1)" in text


@pytest.mark.parametrize("way", WAYS)
def test_a_stranger_finds_no_report(accepted, way):
    stranger = Client()
    stranger.force_login(somebody("eve", team=Team.objects.create(name="Others")))

    assert get(stranger, accepted, way).status_code == 404


def test_a_viewer_reads_it(accepted):
    client = Client()
    client.force_login(somebody("vic", "viewer"))

    assert get(client, accepted).status_code == 200


def test_a_campaign_alone_has_a_report_that_says_it_is_none(browser, measured):
    page = Page(browser.get(reverse("campaign-report", args=[measured.pk])))

    assert "No conclusion: the findings only, not signed" in page.text
    assert "+99.4 %" in page.text


def test_a_conclusion_without_evidence_has_a_report(browser, accepted):
    accepted.evidence.all().delete()

    assert get(browser, accepted).status_code == 200


def test_the_checklist_stands_there_with_the_words_of_the_author(browser, accepted):
    (check,) = [each for each in checklist(accepted) if each.name == "sessions"]
    word = {"check_name": check.key, "user": accepted.author, "text": "One day is enough here."}
    accepted.words.create(about=check.about, **word)

    page = Page(get(browser, accepted)).text
    written = get(browser, accepted, "report-markdown").content.decode()

    assert "Sessions warn" in page
    assert "The author: One day is enough here." in page
    assert "One day is enough here." in written


def test_a_word_on_another_number_is_not_shown(browser, accepted):
    (check,) = [each for each in checklist(accepted) if each.name == "sessions"]
    before = replace(check, number="3")
    word = {"check_name": check.key, "user": accepted.author, "text": "Of yesterday."}
    accepted.words.create(about=before.about, **word)

    assert "Of yesterday." not in get(browser, accepted).content.decode()


def test_a_report_says_that_its_data_have_moved_before_it_re_opens(browser, accepted, person):
    campaign = accepted.evidence.get().campaign
    lifecycle.exclude(campaign.runs.get(position=3), person, "The cache was cold.")

    assert "Its data have changed" in Page(get(browser, accepted)).text


@pytest.mark.parametrize("way", [*WAYS, "public-links", "conclusion-bundle"])
def test_who_may_not_see_all_of_the_evidence_sees_no_report(accepted, way):
    others = Team.objects.create(name="Others")
    accepted.team = others
    accepted.save()
    client = Client()
    client.force_login(somebody("rita", "reviewer", team=others))

    assert get(client, accepted, way).status_code == 404
