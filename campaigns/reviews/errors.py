"""Why a step on a conclusion is refused. ReviewRefused > Moved, OwnWork, NotReady > Outdated > AnalysisFailed."""

from campaigns.kit.errors import NotPossible
from campaigns.models import Campaign


class ReviewRefused(NotPossible):
    """The conclusion is not in a state for it; the message says in which it is, and what to do."""


class Moved(ReviewRefused):
    """What was looked at is not what is there any more: revised, or its data changed."""


class OwnWork(ReviewRefused):
    """Nobody decides on what he wrote himself."""


class NotReady(ReviewRefused):
    """Something is missing before it: a word on a warning, findings that are up to date."""


class Outdated(NotReady):
    """The findings of a campaign are older than its data."""

    def __init__(self, campaign: Campaign, text: str = "") -> None:
        self.campaign = campaign
        super().__init__(
            text
            or f"The findings of “{campaign.name}” are older than its data; they are computed anew now. "
            "Send the conclusion when that is done."
        )


class AnalysisFailed(Outdated):
    """The findings stay older than the data: computing them anew failed, and is tried once more."""

    def __init__(self, campaign: Campaign, failure: str) -> None:
        super().__init__(campaign, f"No conclusion rests on “{campaign.name}” now. {failure}")
