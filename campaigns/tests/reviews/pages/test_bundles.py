"""Bundles from the pages and by REST."""

import json

import pytest

from campaigns.findings import compute
from campaigns.models import AuditEvent, Campaign, Conclusion, Evidence, Team
from campaigns.results.importing.demonstration import published_campaign
from campaigns.reviews import sending
from campaigns.reviews.bundles import verify
from campaigns.reviews.checklist import checklist
from campaigns.reviews.deciding import decide
from campaigns.reviews.freezing import data_hash_of
from campaigns.tests.browsing import reviewer
from campaigns.tests.people import somebody
from campaigns.tests.remembered import remembered
from campaigns.tests.reviews.bundles.conftest import contents, packed, repaired

pytestmark = pytest.mark.django_db


@pytest.fixture
def person(db):
    """With the same key in each test, as what somebody imported has."""
    return remembered(reviewer)


@pytest.fixture
def published(person):
    return remembered(_published, person)


def _published(person):
    campaign, _ = published_campaign(person)
    compute.analyse(campaign)
    return campaign


@pytest.fixture
def conclusion(published, person):
    made = Conclusion.objects.create(
        team=published.team, author=person, claim="5 is enough", recommendation="Ship 5."
    )
    Evidence.objects.create(conclusion=made, position=1, campaign=published, finding="levels")
    return made


def saved(response, tmp_path):
    path = tmp_path / "taken.zip"
    path.write_bytes(b"".join(response.streaming_content))
    for close in response._resource_closers:  # closing the response would end the connection
        close()
    return path


@pytest.mark.parametrize("address", ["/campaigns/{}/bundle.zip", "/api/v1/campaigns/{}/bundle"])
def test_the_bundle_of_a_campaign_holds_and_is_written_down(browser, published, tmp_path, address):
    response = browser.get(address.format(published.pk))

    assert response["Content-Type"] == "application/zip"
    assert response["Content-Disposition"].endswith('pulp-3-sync-download_concurrency.zip"')
    found = verify(saved(response, tmp_path), seal=response["Perfdash-Seal"])
    assert found.holds
    event = AuditEvent.objects.get(action="bundle_taken")
    assert event.details == {"seal": response["Perfdash-Seal"]}
    assert event.campaign_key == published.pk


@pytest.mark.parametrize("address", ["/conclusions/{}/bundle.zip", "/api/v1/conclusions/{}/bundle"])
def test_that_of_a_conclusion_has_its_campaigns_and_its_report(
    browser, conclusion, tmp_path, address
):
    path = saved(browser.get(address.format(conclusion.pk)), tmp_path)

    files = contents(path)
    assert verify(path).holds
    assert b'"claim": "5 is enough"' in files["more/conclusion.json"]
    assert b"5 is enough" in files["more/report.html"]
    assert b"5 is enough" in files["more/report.md"]


@pytest.fixture
def signed(conclusion, person, team, browser, tmp_path):
    """The files of the bundle of an accepted conclusion."""
    reviewer = somebody("rob", "reviewer", team=team)
    sending.send(conclusion.pk, person, [reviewer])
    row = Conclusion.objects.get(pk=conclusion.pk)
    for check in checklist(row):
        row.words.create(check_name=check.key, about=check.about, text="Known.", user=person)
    decide(
        row.pk,
        reviewer,
        "approve",
        revision=row.revision,
        data_hash=data_hash_of(row),
        with_failed=True,
    )
    answer = browser.get(f"/conclusions/{row.pk}/bundle.zip")
    return contents(saved(answer, tmp_path))


def concluded(files, change):
    """As whoever tampers would: one place of what was concluded is another, and the digests fit."""
    told = json.loads(files["more/conclusion.json"])
    change(told)
    return repaired({**files, "more/conclusion.json": json.dumps(told).encode()})


@pytest.mark.parametrize(
    ("change", "place"),
    [
        (lambda told: told["evidence"][0].update(data_hash="v1:0"), "evidence 1, data_hash"),
        (
            lambda told: told["decisions"][0].update(data_hash="v1:0"),
            "decision 1 by rob, data_hash",
        ),
        (lambda told: told["evidence"][0].update(campaign=1 << 40), "no such campaign"),
    ],
)
def test_a_hash_that_was_signed_has_to_be_that_of_the_data(signed, tmp_path, change, place):
    assert verify(packed(tmp_path / "signed.zip", signed)).holds

    found = verify(packed(tmp_path / "tampered.zip", concluded(signed, change)))

    assert any(place in str(each) for each in found.differences)
    assert {each.file for each in found.differences} == {"more/conclusion.json"}


def test_of_one_that_is_re_opened_the_data_may_have_moved(signed, tmp_path):
    def change(told):
        told["state"] = "reopened"
        told["evidence"][0]["data_hash"] = told["decisions"][0]["data_hash"] = "v1:0"

    found = verify(packed(tmp_path / "reopened.zip", concluded(signed, change)))

    assert found.holds
    assert any("as the conclusion is reopened" in each for each in found.unverified)


@pytest.mark.parametrize("text", ["[]", "{}", '{"evidence": [1], "decisions": []}'])
def test_what_is_no_conclusion_is_said(signed, tmp_path, text):
    files = repaired({**signed, "more/conclusion.json": text.encode()})

    assert "is no conclusion" in verify(packed(tmp_path / "none.zip", files)).damaged


def test_what_nothing_tells_once_more_is_named(signed, tmp_path):
    told = " ".join(verify(packed(tmp_path / "signed.zip", signed)).unverified)

    assert "more/report.html, more/report.md" in told
    assert "the words of more/conclusion.json" in told
    assert "CPU" in told


def test_while_a_campaign_goes_on_there_is_none(browser, published):
    Campaign.objects.filter(pk=published.pk).update(state=Campaign.State.PAUSED)

    page = browser.get(f"/campaigns/{published.pk}/bundle.zip", follow=True)
    refused = browser.get(f"/api/v1/campaigns/{published.pk}/bundle")

    assert "There is no bundle yet." in page.content.decode()
    assert refused.status_code == 409
    assert refused["Content-Type"] == "application/problem+json"
    assert "when a campaign has ended" in refused.json()["detail"]
    assert not AuditEvent.objects.filter(action="bundle_taken").exists()


def test_a_stranger_is_not_told_that_there_is_one(client, conclusion, published):
    client.force_login(somebody("stranger", team=Team.objects.create(name="Others")))

    for address in (
        f"/campaigns/{published.pk}/bundle.zip",
        f"/conclusions/{conclusion.pk}/bundle.zip",
        f"/api/v1/campaigns/{published.pk}/bundle",
        f"/api/v1/conclusions/{conclusion.pk}/bundle",
    ):
        assert client.get(address).status_code == 404, address


def test_the_page_offers_it_once_the_campaign_has_ended(browser, published):
    address = f"/campaigns/{published.pk}/"
    assert "bundle.zip" in browser.get(address).content.decode()

    Campaign.objects.filter(pk=published.pk).update(state=Campaign.State.PAUSED)
    assert "bundle.zip" not in browser.get(f"{address}?metric=duration").content.decode()
