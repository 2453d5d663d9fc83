"""In what the campaigns of one conclusion differ: each is set beside the first one."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from campaigns.findings.compared import sides_of
from campaigns.kit.charts.formats import counted
from campaigns.models import Campaign
from campaigns.reviews.check import PASS, WARN, Check

if TYPE_CHECKING:
    from campaigns.findings.compute.differences import Difference

NAME = "between"
MOST_TOLD = 8
LONGEST_VALUE = 60
UNTOLD = "address"
"""Its values are nobody's business outside the team: a report may be public."""


def between(campaigns: Sequence[Campaign]) -> dict[int, Check]:
    """Compare settings, target and environment of each campaign with the first one's.

    By the campaign's key; empty for one campaign.
    """
    if len(campaigns) < 2:
        return {}
    from campaigns.findings.compute.differences import CAUSE, differences_of  # loads scipy

    teams = {each.team_id for each in campaigns if each.team_id}
    sides = sides_of([each.pk for each in campaigns], teams)
    rows = [row for row in differences_of(sides) if row.weight == CAUSE]
    first = campaigns[0].name
    return {
        side.campaign.pk: _check(side.campaign, first, rows, place)
        for place, side in enumerate(sides)
        if place
    }


def _check(campaign: Campaign, first: str, rows: Sequence["Difference"], place: int) -> Check:
    differing = [row for row in rows if row.differs[place]]
    one_sided = [row for row in rows if row.only((0, place)).unknown]
    if not differing and not one_sided:
        words = f"Settings, target and environment are those of “{first}” as far as recorded."
        return Check(NAME, campaign.pk, PASS, "0", words)
    parts = []
    if differing:
        more = f" and {len(differing) - MOST_TOLD} more" if len(differing) > MOST_TOLD else ""
        told = ", ".join(_told(row, place) for row in differing[:MOST_TOLD])
        parts.append(f"Differs from “{first}” in {told}{more}: each may be why results differ.")
    if one_sided:
        facts = counted(len(one_sided), "fact")
        parts.append(f"Of {facts} nothing was recorded in one of the two.")
    return Check(NAME, campaign.pk, WARN, str(len(differing)), " ".join(parts))


def _told(row: "Difference", place: int) -> str:
    if row.label == UNTOLD:
        return row.label
    return f"{row.label} ({_short(row.values[0])} → {_short(row.values[place])})"


def _short(value: str) -> str:
    return value if len(value) <= LONGEST_VALUE else f"{value[: LONGEST_VALUE - 1]}…"
