"""One check of the checklist. Pure."""

from dataclasses import dataclass

from campaigns.findings.wording.checklist import Line, State, title_of

PLACES = {
    "n": "#h-cells",
    "order": "#h-design",
    "confounding": "#h-checks",
    "drift": "#h-checks",
    "place": "#h-checks",
    "clean_state": "#h-checks",
    "same_work": "#h-checks",
    "starved": "#h-checks",
    "saturation": "#h-checks",
    "censored": "#h-cells",
    "environment": "#h-environment",
    "between": "#h-environment",
    "amendments": "#h-amendments",
    "exclusions": "#h-runs",
    "fidelity": "#h-checks",
    "capacity": "#h-capacity",
    "criterion": "#h-thresholds",
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
    def of(cls, campaign: int, line: Line, address: str) -> "Check":
        """Return the check of a campaign, with a link to its place on the campaign's page."""
        link = f"{address}{PLACES.get(line.name, '')}"
        return cls(line.name, campaign, line.state, line.number, line.text, link, line.cause)

    @property
    def key(self) -> str:
        """Return the name of the check within a conclusion."""
        return f"{self.name}-{self.campaign}"

    @property
    def about(self) -> str:
        """Return what a justification refers to: a change of number or meaning makes the justification void."""
        return f"{self.number}: {self.words}"

    @property
    def title(self) -> str:
        """Return the label of the check."""
        return title_of(self.name)
