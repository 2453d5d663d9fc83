"""An analysis that fails is told where somebody waits for it, until one comes through."""

import io

import pytest

from campaigns.findings import compute
from campaigns.findings.compute import findings as storing
from campaigns.models import Campaign
from campaigns.planning import lifecycle
from campaigns.planning.analyses import failure_of, request_analysis, request_outdated
from campaigns.reviews.bundles import NotReady, write_bundle
from campaigns.reviews.errors import AnalysisFailed
from campaigns.reviews.sending import send

pytestmark = pytest.mark.django_db


@pytest.fixture
def broken(monkeypatch, campaign, author):
    """Exclude a run, without which the analysis fails; give what mends it."""

    def fail(*arguments):
        raise ZeroDivisionError("a <b>bug</b>")

    with monkeypatch.context() as patched:
        patched.setattr(storing, "leave_out", fail)
        lifecycle.exclude(campaign.runs.get(position=3), author, "The disk was full.")
        request_analysis(campaign)
        with pytest.raises(ZeroDivisionError):
            compute.analyse(campaign)
        yield patched.undo


def seen(client, author, campaign):
    client.force_login(author)
    return client.get(f"/campaigns/{campaign.pk}/").content.decode()


def test_the_page_says_it_and_that_findings_are_of_before(draft, broken, campaign, author, client):
    assert campaign.findings.filter(name="answer").exists()

    page = seen(client, author, campaign)

    assert "The analysis failed, findings are older than the runs: ZeroDivisionError" in page
    assert "a &lt;b&gt;bug" in page.replace("<wbr>", "")
    assert "Out of date:" in page
    assert "Analysing…" not in page


def test_whoever_sends_a_conclusion_is_told_and_it_is_tried_once_more(
    draft, broken, campaign, author, reviewer
):
    with pytest.raises(AnalysisFailed, match=r"a <b>bug</b>\. Findings are kept"):
        send(draft.pk, author, [reviewer])

    campaign.refresh_from_db()
    assert campaign.analysis_requested_at is not None
    with pytest.raises(ZeroDivisionError):
        compute.analyse(campaign)
    with pytest.raises(AnalysisFailed):
        send(draft.pk, author, [reviewer])


def test_nobody_waits_for_a_bundle_that_cannot_come(draft, broken, campaign):
    with pytest.raises(NotReady, match="The analysis failed"):
        write_bundle(io.BytesIO(), [campaign])


def test_once_it_comes_through_nothing_is_said_of_it(
    draft, broken, campaign, author, reviewer, client
):
    broken()
    assert request_outdated() == 1
    compute.analyse(campaign)

    assert failure_of(Campaign.objects.get(pk=campaign.pk)) == ""
    assert "The analysis failed" not in seen(client, author, campaign)
    assert send(draft.pk, author, [reviewer]).state == "in_review"


def test_the_run_may_count_again_instead(draft, broken, campaign, author):
    broken()
    lifecycle.include(campaign.runs.get(position=3), author)
    request_analysis(campaign)
    compute.analyse(campaign)

    assert failure_of(Campaign.objects.get(pk=campaign.pk)) == ""
