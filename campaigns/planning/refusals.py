"""What a target refused of a campaign's parameters."""

from typing import Any

from campaigns.kinds.base import REFUSED
from campaigns.models import Campaign, EffectiveSetting


def refused_levels(campaign: Campaign) -> list[tuple[str, Any, str]]:
    """Return parameter, level and the target's sentence of each refusal, once each."""
    seen = (
        EffectiveSetting.objects.filter(attempt__run__campaign=campaign, ok=False)
        .order_by()
        .values_list("name", "asked", "in_force")
        .distinct()
    )
    return [
        (name, text, value.removeprefix(REFUSED))
        for name, text, value in seen
        if isinstance(value, str) and value.startswith(REFUSED)
    ]
