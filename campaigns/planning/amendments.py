"""Describe the amendments of a campaign. Reads only."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from campaigns.kinds.base import Metric
from campaigns.kit.charts.labels import contrast_label
from campaigns.models import Amendment, Campaign
from campaigns.planning.criterion import text_of as criterion_text
from campaigns.planning.design import FIELDS, label_of
from campaigns.planning.metrics import metrics_of

BY_COLUMN = {field.column: name for name, field in FIELDS.items()}


@dataclass(frozen=True, slots=True)
class AmendmentLine:
    """One amendment: the field, its old and new value, the user, the time, the reason."""

    label: str
    before: str
    after: str
    by: str
    at: datetime
    reason: str

    @property
    def remark(self) -> str:
        """Return the remark for results that the amendment may have changed."""
        return (
            f"Amended after launch: {self.label} {self.before} → {self.after}, by {self.by}: "
            f"{self.reason}"
        )


def amendments_of(campaign: Campaign) -> Sequence[AmendmentLine]:
    """Return the changes of locked fields after launch, the oldest first."""
    rows = list(campaign.amendments.select_related("user").order_by("at", "pk"))
    metrics = metrics_of(campaign) if any(row.field == "criterion" for row in rows) else ()
    return [
        AmendmentLine(
            label=_label(row.field),
            before=_text(row.field, row.before, metrics),
            after=_text(row.field, row.after, metrics),
            by=row.user.get_username() if row.user else "perfdash",
            at=row.at,
            reason=row.reason,
        )
        for row in rows
    ]


def was_adaptive(campaign: Campaign) -> bool:
    """Return whether a campaign stops by precision, or did until an amendment."""
    return campaign.pk in adaptive_among([campaign])


def adaptive_among(campaigns: Iterable[Campaign]) -> set[int]:
    """Return the keys of the campaigns that stop by precision, or did until an amendment."""
    rules = {each.pk: each.stop_rule for each in campaigns}
    amended = Amendment.objects.filter(
        campaign__in=rules, field="stop_rule", before=Campaign.StopRule.PRECISION
    )
    by_now = {key for key, rule in rules.items() if rule == Campaign.StopRule.PRECISION}
    return by_now | set(amended.values_list("campaign_id", flat=True))


def _label(column: str) -> str:
    """Return the name of a column in a sentence."""
    if column == "question" or column not in BY_COLUMN:
        return column.replace("_", " ")
    return label_of(BY_COLUMN[column]).lower()


def _text(column: str, value: Any, metrics: Sequence[Metric]) -> str:
    if value in (None, "") or value == {}:
        return "none"
    if column == "criterion":
        return criterion_text(value, metrics)
    if column == "roles":
        return ", ".join(f"{name} {role}" for name, role in value.items())
    if column == "primary_contrast":
        return contrast_label(value)
    if column in BY_COLUMN:
        return FIELDS[BY_COLUMN[column]].as_text(value)
    return str(value).replace("_", " ")
