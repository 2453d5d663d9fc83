"""Describe the limits of a campaign and the quiet hours of its target. No database."""

from collections.abc import Mapping

from django.core.exceptions import ValidationError

from campaigns.kit.mappings import Json
from campaigns.kit.numbers import about, number
from campaigns.kit.units import written
from campaigns.models import Campaign
from campaigns.planning.design import FIELDS, in_group, values_of
from campaigns.planning.pools import MEASURE

NAMES = in_group("limits")


def stopped_of(campaign: Campaign) -> str:
    """Return why a campaign paused or ended automatically; empty where a user did it, or it did not."""
    by_itself = (Campaign.State.PAUSED, Campaign.State.RUNNING, Campaign.State.FINISHED)
    if campaign.state not in by_itself or not campaign.state_reason:
        return ""
    reason = campaign.state_reason.removeprefix("stopped automatically: ").rstrip(".")
    return f"{reason[:1].upper()}{reason[1:]}."


def limits_of(campaign: Campaign) -> str:
    """Return a line on the limits at which a campaign stops a run, and itself."""
    return _sentence(values_of(campaign, every=True))


def limits_entered(values: Mapping[str, str]) -> str:
    """Return the same line for the values in a form, without invalid ones."""
    read = {}
    for name in NAMES:
        field = FIELDS[name]
        try:
            value = field.clean(values.get(name, ""))
        except ValidationError:
            continue
        read[name] = field.initial if value is None else value
    return _sentence(read)


def _sentence(limits: Json) -> str:
    pauses = []
    if row := limits.get("max_consecutive_failures"):
        pauses.append(f"after {row} failure{'' if row == 1 else 's'} in a row")
    if share := limits.get("max_failed_percent"):
        pauses.append(f"when more than {number(float(share))} % failed")
    parts = [f"pauses automatically {' or '.join(pauses)}"] if pauses else []
    if budget := limits.get("time_budget_seconds"):
        parts.append(f"ends after {written(budget)}")
    elif "time_budget_seconds" in limits:
        parts.append("no time budget")
    if limit := limits.get("run_limit_seconds"):
        parts.append(f"longest run {about(limit)}")
    if limits.get("requires_watch"):
        parts.append("runs whose target is not watched are void")
    if (pool := limits.get("pool", MEASURE)) != MEASURE:
        parts.append(f"measured by the pool “{pool}”")
    return "; ".join(parts)
