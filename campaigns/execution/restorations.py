"""List the settings to be set back on targets because the campaign that changed them is over."""

from django.db.models import Exists, OuterRef, Q, QuerySet

from campaigns.models import Campaign, FoundSetting, Run

MOST_TRIES = 3


def due() -> QuerySet[FoundSetting]:
    """Settings of campaigns that are over, or of drafts whose try-out has ended."""
    open_runs = Run.objects.filter(campaign=OuterRef("campaign"), state__in=Run.OPEN)
    over = Q(campaign=None) | Q(campaign__state__in=list(Campaign.CLOSED))
    tried = Q(campaign__state=Campaign.State.DRAFT) & ~Exists(open_runs)
    return FoundSetting.objects.filter(over | tried, restore=True, restored_at=None, given_up="")


def addresses_held() -> set[str]:
    """Servers on which nothing begins before that is done."""
    return set(due().values_list("setting__target__address", flat=True))
