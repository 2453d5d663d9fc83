"""The panel that compares a campaign with its accepted baseline."""

from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib.auth.models import AnonymousUser, User

from campaigns.findings.wording.answer_text import AnswerText
from campaigns.findings.wording.compare import answer_of
from campaigns.models import Campaign
from campaigns.reviews.baselines import Baseline, baseline_of, compare_with


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
