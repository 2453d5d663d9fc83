"""One check of the checklist. Pure."""

from dataclasses import dataclass, replace
from typing import Literal

State = Literal["pass", "warn", "fail"]
PASS: State = "pass"  # noqa: S105 - no password
WARN: State = "warn"
FAIL: State = "fail"
TITLES = {
    "n": "Runs and blocks",
    "order": "Order of runs",
    "confounding": "Level and time apart",
    "drift": "Drift",
    "place": "Position within block",
    "clean_state": "Clean state before",
    "same_work": "Same work after",
    "saturation": "Generator saturation",
    "censored": "Timed out or failed",
    "environment": "Environment",
    "between": "Beside the first campaign",
    "amendments": "Amendments",
    "exclusions": "Exclusions",
    "sessions": "Sessions",
    "fidelity": "What the numbers are",
    "sensitivity": "Sensitivity",
    "analysis": "Failed parts of the analysis",
    "stand_in": "Simulator",
}
PLACES = {
    "n": "#h-cells",
    "order": "#h-design",
    "confounding": "#h-checks",
    "drift": "#h-checks",
    "place": "#h-checks",
    "clean_state": "#h-checks",
    "same_work": "#h-checks",
    "saturation": "#h-checks",
    "censored": "#h-cells",
    "environment": "#h-environment",
    "between": "#h-environment",
    "amendments": "#h-amendments",
    "exclusions": "#h-runs",
    "fidelity": "#h-checks",
}


ORDER, ELSEWHERE, FEW, SESSIONS, STAND_IN = "order", "elsewhere", "few", "sessions", "stand_in"
CAUSES = {
    ORDER: "Levels were measured one after the other",
    ELSEWHERE: "Measured elsewhere, and not recorded there",
    FEW: "Few runs",
    SESSIONS: "Few sessions",
    STAND_IN: "Measured on a simulator",
}
"""Causes that several warnings may share; one justification answers all warnings of a cause."""


@dataclass(frozen=True, slots=True)
class Check:
    """The result of one check of one campaign. number: the deciding figure, as text; words: its meaning.

    cause: one of CAUSES, where other warnings may share it.
    """

    name: str
    campaign: int
    state: State
    number: str
    words: str
    link: str = ""
    cause: str = ""

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

    def linked(self, address: str) -> "Check":
        """Return the check with a link to its place on the campaign's page."""
        return replace(self, link=f"{address}{PLACES.get(self.name, '')}")


def title_of(name: str) -> str:
    """Return the label of a check by name, also of one that no longer exists."""
    return TITLES.get(name, name.replace("_", " ").capitalize())
