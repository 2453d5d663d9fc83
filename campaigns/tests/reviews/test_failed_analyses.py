"""An analysis that fails is told where somebody waits for it, until one comes through."""

import io

import pytest
from django.db import OperationalError

from campaigns.findings import compute
from campaigns.findings.compute import findings as storing
from campaigns.findings.wording.failed_parts import label_of
from campaigns.models import Campaign, Finding
from campaigns.planning import lifecycle
from campaigns.planning.analyses import failure_of, request_analysis, request_outdated
from campaigns.reviews.bundles import NotReady, write_bundle
from campaigns.reviews.checklist import checklist
from campaigns.reviews.errors import AnalysisFailed
from campaigns.reviews.sending import send

pytestmark = pytest.mark.django_db
CORE = (
    "answer",
    "brief:total_seconds",
    "calibration",
    "cells",
    "checks",
    "levels",
    "outlook",
    "pairs",
    "sessions",
    "surroundings",
)


@pytest.fixture
def broken(monkeypatch, campaign, author):
    """Exclude a run, without which the analysis fails; give what mends it."""

    def fail(*arguments, **named):
        raise ZeroDivisionError("a <b>bug</b>")

    with monkeypatch.context() as patched:
        patched.setattr(storing, "answer", fail)
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


@pytest.fixture
def partly_broken(monkeypatch, campaign):
    """Analyse with two parts that fail; return what mends them."""

    def fail(*arguments, **named):
        raise ZeroDivisionError("a <b>bug</b>")

    with monkeypatch.context() as patched:
        patched.setattr(storing, "leave_out", fail)
        patched.setattr(storing, "percentiles", fail)
        campaign.findings.all().delete()
        compute.analyse(campaign)
        yield patched.undo


def test_a_part_that_fails_leaves_the_others_and_is_named(partly_broken, campaign, author, client):
    stored = {finding.name: finding.result for finding in campaign.findings.all()}

    assert [part["name"] for part in stored["failed_parts"]["parts"]] == [
        "percentiles", "usl", "sensitivity",
    ]  # fmt: skip
    assert stored["answer"]
    assert "sensitivity" not in stored
    assert any(name.startswith("density:") for name in stored)
    assert failure_of(campaign) == ""
    page = seen(client, author, campaign).replace("<wbr>", "")
    assert "Sensitivity: ZeroDivisionError: a &lt;b&gt;bug" in page
    assert "Scalability: LookupError: it needs the percentiles, which failed" in page
    assert "Out of date:" not in page


def test_who_reviews_is_warned_of_a_part_that_failed(
    draft, partly_broken, campaign, author, reviewer
):
    conclusion = send(draft.pk, author, [reviewer])

    check = next(each for each in checklist(conclusion) if each.name == "analysis")
    assert (check.state, check.number) == ("warn", "3 parts")
    frozen = conclusion.evidence.get().snapshot["findings"]
    assert "failed_parts" not in frozen


def test_a_part_is_computed_again_after_an_update(partly_broken, campaign):
    partly_broken()
    assert request_outdated() == 1
    compute.analyse(campaign)

    names = set(campaign.findings.values_list("name", flat=True))
    assert "sensitivity" in names
    assert "failed_parts" not in names


def test_a_database_that_is_away_is_no_part_that_failed(monkeypatch, campaign):
    def gone(*arguments):
        raise OperationalError("the connection is closed")

    monkeypatch.setattr(storing, "leave_out", gone)
    Finding.objects.filter(campaign=campaign).delete()

    with pytest.raises(OperationalError):
        compute.analyse(campaign)

    assert not campaign.findings.exists()


def test_every_part_that_can_fail_has_a_label(campaign):
    names = campaign.findings.exclude(name__in=CORE).exclude(name__startswith="brief:")
    names = names.values_list("name", flat=True)
    for name in [*names, "cells:bytes", "usl", "percentiles", "matrix", "phases", "within_blocks"]:
        assert label_of(name)
