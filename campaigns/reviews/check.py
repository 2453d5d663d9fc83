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
"""Why several checks may warn; what the author writes on one of a cause is on all of it."""


@dataclass(frozen=True, slots=True)
class Check:
    """One check of one campaign, by its key. number: what decides, as text; words: what it means.

    cause: one of CAUSES, of a warning that has it in common with others.
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
        """Names it within a conclusion."""
        return f"{self.name}-{self.campaign}"

    @property
    def about(self) -> str:
        """What a word on it is about: another number, or another meaning, makes the word void."""
        return f"{self.number}: {self.words}"

    @property
    def title(self) -> str:
        """What people call it."""
        return title_of(self.name)

    def linked(self, address: str) -> "Check":
        """Lead to where it is shown on the campaign's page."""
        return replace(self, link=f"{address}{PLACES.get(self.name, '')}")


def title_of(name: str) -> str:
    """What people call a check of this name, also where there is none any more."""
    return TITLES.get(name, name.replace("_", " ").capitalize())
