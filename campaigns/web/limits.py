"""The limits of a campaign, and of a target, in words. Pure."""

from collections.abc import Mapping
from typing import Any

from django.core.exceptions import ValidationError

from campaigns.definition.durations import written
from campaigns.definition.forms import DesignForm
from campaigns.models import Campaign
from campaigns.templatetags.formats import about, number

NAMES = (
    "run_limit_seconds",
    "time_budget_seconds",
    "max_failed_percent",
    "max_consecutive_failures",
)


def limits_of(campaign: Campaign) -> str:
    """When the campaign stops a run, and itself, in one line."""
    return _sentence(
        {
            "run_limit_seconds": campaign.run_limit_seconds,
            "time_budget_seconds": campaign.time_budget_seconds,
            "max_failed_percent": round(campaign.max_failed_share * 100, 6),
            "max_consecutive_failures": campaign.max_consecutive_failures,
        }
    )


def limits_entered(values: Mapping[str, str]) -> str:
    """The same for what stands in the form; what cannot be read is left out."""
    read = {}
    for name in NAMES:
        field = DesignForm.base_fields[name]
        try:
            value = field.clean(values.get(name, ""))
        except ValidationError:
            continue
        read[name] = field.initial if value is None else value
    return _sentence(read)


def _sentence(limits: Mapping[str, Any]) -> str:
    parts = []
    if row := limits.get("max_consecutive_failures"):
        parts.append(f"after {row} failure{'' if row == 1 else 's'} in a row")
    if share := limits.get("max_failed_percent"):
        parts.append(f"when more than {number(float(share))} % failed")
    if budget := limits.get("time_budget_seconds"):
        parts.append(f"after {written(budget)}")
    text = f"pauses by itself {_joined(parts)}" if parts else ""
    if "time_budget_seconds" in limits and not budget:
        text += "; no time budget"
    if limit := limits.get("run_limit_seconds"):
        text += f"; longest run {about(limit)}"
    return text.removeprefix("; ")


def _joined(parts: list[str]) -> str:
    return " or ".join([", ".join(parts[:-1]), parts[-1]] if parts[1:] else parts)
