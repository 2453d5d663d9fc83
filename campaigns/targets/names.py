"""The names of targets in sentences: what another team's target is called is told to nobody."""

from campaigns.models import Target

UNNAMED = "a target of another team"


def target_name(row: Target, team: int | None) -> str:
    """Return the name of a target for a team: other teams' targets are not named."""
    return row.name if row.team_id == team else UNNAMED


def quoted_target(row: Target, team: int | None) -> str:
    """Return `target_name` for a sentence, in quotation marks."""
    return f"“{row.name}”" if row.team_id == team else UNNAMED
