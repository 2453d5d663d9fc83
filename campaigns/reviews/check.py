"""One check of the checklist."""

from dataclasses import dataclass

from campaigns.findings.pages.levels import ANSWER, address_of, address_of_part, current_link
from campaigns.findings.wording.checklist import Line, State, title_of

PARTS = {
    "n": "h-cells",
    "order": "h-environment",
    "confounding": "h-checks",
    "drift": "h-checks",
    "place": "h-checks",
    "clean_state": "h-checks",
    "same_work": "h-checks",
    "starved": "h-checks",
    "saturation": "h-checks",
    "censored": "h-cells",
    "environment": "h-environment",
    "between": "h-environment",
    "amendments": "h-amendments",
    "sensitivity": "h-sensitivity",
    "exclusions": "h-runs",
    "fidelity": "h-checks",
    "capacity": "h-capacity",
    "criterion": "h-thresholds",
}


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check of one campaign, as it is frozen in a snapshot.

    number: the deciding figure, as text; words: its meaning. cause: one of `CAUSES` of the wording, where other warnings may share it.
    """

    name: str
    campaign: int
    state: State
    number: str
    words: str
    link: str = ""
    cause: str = ""

    @classmethod
    def of(cls, campaign: int, line: Line) -> "Check":
        """Return the check of a campaign, with a link to its place in the campaign's result."""
        part = PARTS.get(line.name)
        link = address_of_part(campaign, part) if part else address_of(campaign, ANSWER)
        return cls(line.name, campaign, line.state, line.number, line.text, link, line.cause)

    @property
    def key(self) -> str:
        """Return the name of the check within a conclusion."""
        return f"{self.name}-{self.campaign}"

    @property
    def address(self) -> str:
        """Return the link as it is today: snapshots keep links to pages that had other parts."""
        return current_link(self.link)

    @property
    def about(self) -> str:
        """Return what a justification refers to: a change of number or meaning makes the justification void."""
        return f"{self.number}: {self.words}"

    @property
    def title(self) -> str:
        """Return the label of the check."""
        return title_of(self.name)
