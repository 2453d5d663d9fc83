"""Bind a conclusion to the data that it rests on."""

from typing import Any

from campaigns.findings.compute.findings import hash_now
from campaigns.findings.compute.snapshot import snapshot
from campaigns.kit.mappings import JsonObject
from campaigns.models import Campaign, Conclusion, Finding
from campaigns.planning.analyses import failure_of
from campaigns.results.data_stamp import stamp_of
from campaigns.reviews.checklist import check_as_json, checks_of
from campaigns.reviews.errors import AnalysisFailed, NotReady, Outdated
from campaigns.reviews.reports.sizing import measured_on
from campaigns.stats.hashing import hash_together


def data_hash_of(conclusion: Conclusion) -> str:
    """Return the data hash that decisions are bound to; empty before the conclusion is sent to review."""
    return hash_together((each.campaign_id, each.data_hash) for each in conclusion.evidence.all())


def freeze(conclusion: Conclusion) -> None:
    """Store findings, checklist, hash, stamp and targets of each campaign as they are now.

    Its campaigns must be locked. Raise NotReady where one is still measured or not analysed.
    """
    evidence = conclusion.evidence.select_related("campaign__target", "campaign__team")
    campaigns = list(dict.fromkeys(each.campaign for each in evidence))
    for campaign in campaigns:
        require_ready(campaign)
    checks = checks_of(campaigns)
    frozen: dict[int, JsonObject] = {
        each.pk: {
            **snapshot(each),
            "measured_on": measured_on(each),
            "checks": [check_as_json(check) for check in checks[each.pk]],
        }
        for each in campaigns
    }
    for each in evidence:
        stored = frozen[each.campaign_id]
        each.snapshot, each.data_hash = stored, stored["data_hash"]
        each.stamp = stamp_of(each.campaign)
        each.findings_at = findings_at(each.campaign)
        each.save(update_fields=["snapshot", "data_hash", "stamp", "findings_at"])


def require_ready(campaign: Campaign) -> None:
    """Raise NotReady unless the campaign has ended and its findings are up to date."""
    if campaign.state not in Campaign.CLOSED:
        raise NotReady(
            f"“{campaign.name}” is {campaign.state}: its data are not complete. Send the conclusion "
            "when it has finished, or cancel the campaign."
        )
    if campaign.analysis_requested_at is not None:
        raise NotReady(
            f"“{campaign.name}” is being analysed anew. Send the conclusion when that is done."
        )
    if failure := failure_of(campaign):
        raise AnalysisFailed(campaign, failure)
    finding = Finding.objects.filter(campaign=campaign, name="answer").first()
    if finding is None:
        raise NotReady(
            f"“{campaign.name}” has no findings: nothing of it was analysed. A conclusion rests on "
            "findings."
        )
    if finding.data_hash != hash_now(campaign):
        raise Outdated(campaign)


def findings_at(campaign: Campaign) -> Any:
    """Return when the present findings were computed."""
    rows = Finding.objects.filter(campaign=campaign, name="answer")
    return rows.values_list("computed_at", flat=True).first()
