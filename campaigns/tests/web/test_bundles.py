"""Bundles from the pages and by REST."""

import pytest

from campaigns import analysis
from campaigns.bundles import verify
from campaigns.importers.demonstration import published_campaign
from campaigns.models import AuditEvent, Campaign, Conclusion, Evidence, Team
from campaigns.tests.bundles.conftest import contents
from campaigns.tests.people import somebody

pytestmark = pytest.mark.django_db


@pytest.fixture
def published(person):
    campaign, _ = published_campaign(person)
    analysis.analyse(campaign)
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
