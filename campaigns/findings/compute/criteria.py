"""The criteria by which a campaign is judged: those locked at its launch."""

from campaigns.models import Campaign
from campaigns.stats.criteria import Criteria
from campaigns.stats.stopping import alpha_for


def criteria_of(campaign: Campaign, cells: int, *, adaptive: bool) -> Criteria:
    """Read them off a campaign of so many cells; adaptive: it could stop by precision."""
    paired = campaign.order == Campaign.Order.PAIRED
    return Criteria(
        # A stop at the first narrow interval is paid for by a wider one, called 95 %.
        alpha=alpha_for(2 if paired else cells) if adaptive else Criteria().alpha,
        delta=campaign.smallest_effect,
        margin=campaign.margin,
        failed_limit=campaign.failed_limit,
        seed=campaign.seed % 2**32,
    )
