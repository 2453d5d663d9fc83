"""Why a step on a conclusion is refused. ReviewRefused > Moved, OwnWork, NotReady > Outdated > AnalysisFailed."""

from campaigns.kit.errors import NotPossible
from campaigns.models import Campaign


class ReviewRefused(NotPossible):
    """The step is not possible in the present state; the message names the state and what to do."""


class Moved(ReviewRefused):
    """The conclusion changed since the user read it: it was revised, or its data changed."""


class OwnWork(ReviewRefused):
    """The user wrote the conclusion, and so may not decide on it."""


class NotReady(ReviewRefused):
    """Something is missing: the justification of a warning, or findings that are up to date."""


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
    """The findings are older than the data, since computing them failed; they are computed once more."""

    def __init__(self, campaign: Campaign, failure: str) -> None:
        super().__init__(campaign, f"No conclusion rests on “{campaign.name}” now. {failure}")
