"""In which surroundings a campaign was measured: counted over all its runs, or as the analysis stored it."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from campaigns.models import Campaign
from campaigns.results.environment import Change, Fact, changes_of, environment_of, unread_after
from campaigns.results.pages_data import SettingSeen, settings_of

NAME = "surroundings"
"""Of the finding."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """Facts and where they changed; unread: runs that do not know them as they were afterwards."""

    facts: tuple[Fact, ...]
    changes: tuple[Change, ...]
    unread: int
    settings: tuple[SettingSeen, ...]


def count_surroundings(campaign: Campaign) -> Surroundings:
    """Count them now: a tenth of a second with ten thousand runs."""
    facts = environment_of(campaign)
    return Surroundings(
        facts=tuple(facts),
        changes=tuple(changes_of(campaign, facts)),
        unread=unread_after(campaign),
        settings=tuple(settings_of(campaign)),
    )


def surroundings_of(campaign: Campaign, stored: Mapping[str, Any] | None) -> Surroundings:
    """Take what is stored where nothing can have come since, else count."""
    if stored is None or campaign.state in Campaign.ACTIVE or campaign.analysis_requested_at:
        return count_surroundings(campaign)
    return Surroundings(
        facts=tuple(Fact(**each) for each in stored["facts"]),
        changes=tuple(Change(**each) for each in stored["changes"]),
        unread=stored["unread"],
        settings=tuple(SettingSeen(**each) for each in stored["settings"]),
    )
