"""The baseline of a campaign: the accepted conclusion on an earlier, related campaign; and how it compares.

Campaigns are related if they began with the same template or, without one, are clones of each other.
"""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser, User
from django.db.models import Exists, F, OuterRef, Q

from campaigns.findings.compared import sides_of, why_unusable
from campaigns.findings.compute.compared import Compared, compare_campaigns
from campaigns.findings.wording.answer_text import AnswerText
from campaigns.findings.wording.compare import answer_of
from campaigns.kit.activity import Action
from campaigns.models import AuditEvent, Campaign, Conclusion, Evidence
from campaigns.reviews.queries import conclusions_seen_by

MOST_KIN = 1000
FORMER = (Conclusion.State.REOPENED, Conclusion.State.SUPERSEDED)


@dataclass(frozen=True, slots=True)
class Baseline:
    """The conclusion that is, or was, the baseline of a campaign, and the campaign to compare with.

    stands: it is still accepted; otherwise nothing is compared with it. kinship: why it is the baseline.
    """

    conclusion: Conclusion
    campaign: Campaign
    kinship: str
    stands: bool


def baseline_of(campaign: Campaign, user: User | AnonymousUser) -> Baseline | None:
    """Return the latest accepted conclusion on an earlier, related campaign of the same team.

    Without one, return the latest that was re-opened or superseded after its acceptance, so that the
    page can report it. The activity log shows whether a conclusion was ever accepted.
    """
    if campaign.launched_at is None:
        return None
    acceptance = AuditEvent.objects.filter(
        action=Action.CONCLUSION_ACCEPTED,
        subject_kind="conclusion",
        subject_key=OuterRef("conclusion"),
    )
    earlier = Evidence.objects.filter(
        Q(conclusion__state=Conclusion.State.ACCEPTED)
        | Q(Exists(acceptance), conclusion__state__in=FORMER),
        campaign__launched_at__lt=campaign.launched_at,
        conclusion__team=campaign.team_id,
    )
    if not earlier.exists():
        return None
    keys, kinship = _kin(campaign)
    rows = (
        earlier.filter(
            campaign__in=keys - {campaign.pk},
            conclusion__in=conclusions_seen_by(user).order_by().values("pk"),
        )
        .select_related("conclusion__author", "campaign")
        .order_by(F("conclusion__decided_at").desc(nulls_last=True), "-conclusion", "position")
    )
    for stands, states in ((True, (Conclusion.State.ACCEPTED,)), (False, FORMER)):
        row = rows.filter(conclusion__state__in=states).first()
        if row is not None:
            return Baseline(row.conclusion, row.campaign, kinship, stands)
    return None


def compare_with(baseline: Baseline, campaign: Campaign) -> "Compared | str":
    """Compare a campaign with the baseline, cell by cell; return the reason where that is impossible."""
    both = [baseline.campaign, campaign]  # the caller has checked that the user may see both
    sides = sides_of([each.pk for each in both], {each.team_id for each in both if each.team_id})
    if unusable := [why for side in sides if (why := why_unusable(side))]:
        return " ".join(unusable)
    return compare_campaigns(sides)


def _kin(campaign: Campaign) -> tuple[set[int], str]:
    if campaign.template_id is not None:
        rows = Campaign.objects.filter(template=campaign.template_id).order_by("-pk")
        return set(rows.values_list("pk", flat=True)[:MOST_KIN]), "the same template"
    result = {_root(campaign)}
    latest = result
    while latest and len(result) < MOST_KIN:
        clones = Campaign.objects.filter(clone_of__in=latest).values_list("pk", flat=True)
        latest = set(clones) - result
        result |= latest
    return result, "the same line of clones"


def _root(campaign: Campaign) -> int:
    """Return the first campaign of a line of clones; a cycle ends the line."""
    seen = {campaign.pk}
    key, parent = campaign.pk, campaign.clone_of_id
    while parent is not None and parent not in seen:
        seen.add(parent)
        key = parent
        parent = Campaign.objects.filter(pk=key).values_list("clone_of", flat=True).first()
    return key


@dataclass(frozen=True, slots=True)
class BaselinePanel:
    """The content of the panel. refused: why nothing is compared; query: of the compare page."""

    baseline: Baseline
    query: str
    refused: str = ""
    answer: AnswerText | None = None


def baseline_panel(campaign: Campaign, user: User | AnonymousUser) -> BaselinePanel | None:
    """Compare with the baseline; None where the campaign goes on, or has no baseline."""
    if campaign.state in Campaign.ACTIVE:
        return None
    result = baseline_of(campaign, user)
    if result is None:
        return None
    query = urlencode([("c", result.campaign.pk), ("c", campaign.pk)])
    if not result.stands:
        return BaselinePanel(result, query, refused=_fallen(result))
    compared = compare_with(result, campaign)
    if isinstance(compared, str):
        return BaselinePanel(result, query, refused=compared)
    return BaselinePanel(result, query, answer=answer_of(compared))


def _fallen(baseline: Baseline) -> str:
    state = baseline.conclusion.get_state_display()
    return f"The conclusion that was the baseline is {state}, so nothing is compared with it."
