"""How a team is told of what another team has on the same server: not by its name."""

from campaigns.models import Campaign, Target

TARGET = "a target of another team"
CAMPAIGN = "a campaign of another team"


def target_name(row: Target, team: int | None) -> str:
    """The name of a target, for a team."""
    return row.name if row.team_id == team else TARGET


def quoted_target(row: Target, team: int | None) -> str:
    """The same within a sentence."""
    return f"“{row.name}”" if row.team_id == team else TARGET


def quoted_campaign(row: Campaign, team: int | None) -> str:
    """The name of a campaign within a sentence, for a team."""
    return f"“{row.name}”" if row.team_id == team else CAMPAIGN
