import re

import pytest
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.models import AuditEvent, Decision, EnvironmentFact, PublicLink, Setting
from campaigns.planning import lifecycle
from campaigns.tests.browsing import Page
from campaigns.tests.measured import finish
from campaigns.tests.people import somebody
from campaigns.tests.rest import own_rates
from campaigns.tests.reviews.reports.conftest import concluded
from campaigns.tests.reviews.reports.test_pages import Outside

__all__ = ["own_rates"]
pytestmark = pytest.mark.django_db


def make(browser, conclusion):
    """The path of a new link, as the page shows it this once."""
    page = browser.post(reverse("public-links", args=[conclusion.pk]))
    (path,) = re.findall(r"(/public/[\w.-]+/)</code>", page.content.decode())
    return path


@pytest.fixture
def link(browser, accepted):
    return make(browser, accepted)


def signed_anew(conclusion, campaign):
    """As if it had been sent to review and accepted once more."""
    findings_at = campaign.findings.get(name="answer").computed_at
    conclusion.evidence.update(findings_at=findings_at)
    conclusion.sent_at = timezone.now()
    conclusion.save()


def read(path):
    return Client(REMOTE_ADDR="192.0.2.9").get(path)


def test_anybody_reads_an_accepted_report_by_its_link(accepted, link):
    response = read(link)
    text = response.content.decode()

    assert response.status_code == 200
    assert accepted.claim in text
    assert "+99.4 %" in text
    assert "reviewer" in text
    assert Outside(text).asked == []


def test_it_sets_no_cookie_and_is_neither_kept_nor_found_nor_told_on(link):
    response = read(link)

    assert not response.cookies
    assert response["Cache-Control"] == "no-store"
    assert response["Referrer-Policy"] == "no-referrer"
    assert "noindex" in response["X-Robots-Tag"]
    assert "sandbox" in response["Content-Security-Policy"]
    assert "script-src" not in response["Content-Security-Policy"]


def test_only_a_hash_is_stored_and_only_its_first_page_shows_the_link(browser, accepted, link):
    token = link.split("/")[2]
    row = PublicLink.objects.get()

    assert token not in str(vars(row))
    assert token not in browser.get(reverse("public-links", args=[accepted.pk])).content.decode()


def test_it_leaks_no_address_no_target_and_no_other_people(browser, accepted, person, link):
    campaign = accepted.evidence.get().campaign
    somebody("mallory", "viewer")
    target = campaign.target
    run = campaign.runs.get(position=1)
    attempt = run.attempts.get()
    for name, value in (
        ("host", "gen7.lab"),
        ("content origin", "https://inner.lab"),
        ("cores", "4"),
    ):
        EnvironmentFact.objects.create(attempt=attempt, side="target", name=name, value=value)
    signed_anew(accepted, finish(campaign))
    accepted.limits = f"Not {target.name}; see {target.base_url}/x, 10.1.2.3:80 and gen7.lab."
    accepted.recommendation = "Ship http://user:hunter2@inner.lab/y."
    accepted.save()

    text = read(link).content.decode()

    assert "cores" in text
    for secret in (
        target.name, target.address, target.base_url, "gen7", "inner.lab", "10.1.2.3", "hunter2",
        "mallory", campaign.team.name, "/conclusions/", "/campaigns/",
    ):  # fmt: skip
        assert secret not in text, secret
    assert "address left out" in text


def test_no_mail_address_stays_in_anybodys_words(browser, accepted, link):
    accepted.limits = "Ask vera@corp.example, or <mailto:root+x@db.corp.example>."
    accepted.save()
    Decision.objects.create(
        conclusion=accepted, revision=1, user=somebody("vera", "reviewer"), word="approve",
        reason="Seen with vera@corp.example.", data_hash=accepted.decisions.get().data_hash,
    )  # fmt: skip

    text = read(link).content.decode()

    assert "corp.example" not in text
    assert "vera@" not in text
    assert "Seen with (address left out)." in text


def test_words_that_look_like_machines_are_listed_where_links_are_made(browser, accepted, link):
    page = reverse("public-links", args=[accepted.pk])
    assert "look like names of machines" not in Page(browser.get(page)).text

    accepted.limits = "Only with db01.internal.example, e.g. on version 1.2.3; and gen7.lab."
    accepted.save()

    assert "db01.internal.example , gen7.lab . Where they are" in Page(browser.get(page)).text


def test_a_run_that_somebody_excluded_does_not_name_him(browser, accepted, link):
    campaign = accepted.evidence.get().campaign
    lifecycle.exclude(campaign.runs.get(position=3), somebody("olga", "operator"), "Cold cache.")
    signed_anew(accepted, finish(campaign))

    text = read(link).content.decode()

    assert "Cold cache." in text
    assert "olga" not in text


def test_a_revoked_link_is_dead_at_once_and_like_one_that_never_was(browser, accepted, link):
    browser.post(reverse("public-link-revoke", args=[accepted.pk, PublicLink.objects.get().pk]))

    dead, wrong = read(link), read("/public/wrong/")

    assert dead.status_code == wrong.status_code == 404
    assert dead.content == wrong.content
    assert list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))[-2:] == [
        "link_made",
        "link_revoked",
    ]


@pytest.mark.parametrize("state", ["reopened", "superseded", "draft"])
def test_what_is_not_accepted_any_more_says_that_it_was_withdrawn_and_nothing_else(
    accepted, link, state
):
    accepted.state = state
    accepted.save()

    response = read(link)

    assert response.status_code == 410
    assert "withdrawn" in response.content.decode()
    assert accepted.claim not in response.content.decode()
    assert "99.4" not in response.content.decode()


def test_a_run_that_is_excluded_kills_the_link_before_anybody_re_opens(accepted, person, link):
    campaign = accepted.evidence.get().campaign
    lifecycle.exclude(campaign.runs.get(position=3), person, "Cold cache.")

    assert read(link).status_code == 410


def test_there_is_no_bundle_behind_it(link):
    assert read(f"{link}bundle.zip").status_code in (302, 404)


def test_guesses_are_counted_by_address(settings, link):
    settings.API_RATES = {**settings.API_RATES, "failure": (2, 60)}

    codes = [read(f"/public/guess{number}/").status_code for number in range(3)]

    assert codes == [404, 404, 429]
    assert read(link).status_code == 200


@pytest.mark.parametrize("text", ["%00", "a" * 5000, "é", "..%2f"])
def test_strange_links_are_no_reports(text):
    assert read(f"/public/{text}/").status_code in (302, 404)


def test_its_last_use_is_told(browser, accepted, link):
    assert PublicLink.objects.get().last_used_at is None

    read(link)

    assert PublicLink.objects.get().last_used_at is not None


def test_only_accepted_conclusions_have_one(browser, accepted):
    accepted.state = "in_review"
    accepted.save()

    response = browser.post(reverse("public-links", args=[accepted.pk]))

    assert response.status_code == 409
    assert "Only an accepted conclusion" in Page(response).text
    assert not PublicLink.objects.exists()


@pytest.mark.parametrize(
    ("role", "code"), [("viewer", 403), ("author", 403), ("operator", 403), ("reviewer", 200)]
)
def test_reviewers_and_admins_make_links(accepted, role, code):
    client = Client()
    client.force_login(somebody("who", role))

    assert client.post(reverse("public-links", args=[accepted.pk])).status_code == code


def test_a_link_of_another_conclusion_is_not_revoked(browser, accepted, measured, link):
    other = concluded(measured, accepted.author)

    response = browser.post(
        reverse("public-link-revoke", args=[other.pk, PublicLink.objects.get().pk])
    )

    assert response.status_code == 404
    assert read(link).status_code == 200


def test_how_a_target_is_set_stands_in_the_report_and_not_in_the_public_one(
    browser, accepted, link
):
    Setting.objects.create(
        target=accepted.evidence.get().campaign.target,
        name="engine",
        apply={"way": "command", "arguments": ["set-engine", "--to={value}", "it's me"]},
        read_back={"way": "command", "arguments": ["get-engine"]},
    )

    inside = browser.get(reverse("report", args=[accepted.pk])).content.decode()
    outside = read(link).content.decode()

    assert "set-engine --to=new" in inside
    assert "set-engine" not in outside
    assert "Set engine as you do on your target." in outside
