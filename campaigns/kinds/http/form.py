"""The parameters of the kind `http`."""

from typing import Any

from django import forms

from campaigns.kinds.base import load_fields
from campaigns.kinds.base.parameters import (
    CredentialParameter,
    IntegerParameter,
    NumberParameter,
    TextParameter,
)
from campaigns.kinds.http.program.reading import (
    MOST_BYTES,
    MOST_TABLE_BYTES,
    BadScenario,
    read_scenario,
)
from campaigns.kinds.http.schedules import schedule_of
from campaigns.kinds.load.schedule import CLOSED, OPEN, BadSchedule
from campaigns.kit.forms import Structured
from campaigns.kit.yaml_text import as_yaml

EXAMPLE = """\
name: start page
steps:
  - name: start
    get: /
"""


class TextArea(TextParameter):
    """A text of several lines, with line ends as one character."""

    def __init__(self, *, rows: int, **options: Any) -> None:
        attributes = {"rows": rows, "class": "input code", "spellcheck": "false"}
        super().__init__(strip=False, widget=forms.Textarea(attributes), **options)

    def to_python(self, value: Any) -> str:
        """Return the text."""
        return str(super().to_python(value)).replace("\r\n", "\n").strip("\n")


class ScenarioText(Structured, TextArea):
    """A scenario as YAML, or the object that it is."""

    structures = (dict,)

    def written(self, value: Any) -> str:
        """Return the YAML."""
        return as_yaml(value, width=100_000)


class HttpForm(forms.Form):
    """The parameters of one run. What is done and the shape of the load are work: cells that differ in it did not do the same."""

    scenario = ScenarioText(
        label="Scenario",
        role="work",
        essential=True,
        rows=14,
        initial=EXAMPLE,
        max_length=MOST_BYTES,
        help_text="The requests of one host, as YAML: steps in order, what their answers have to be, and what is taken "
        "from them. Help: The scenario of an HTTP load.",
    )
    data = TextArea(  # type: ignore[assignment]
        label="Data table",
        role="work",
        rows=3,
        initial="",
        max_length=MOST_TABLE_BYTES,
        required=False,
        help_text="Values for the scenario as CSV, with the names of the columns in the first line; at most 10,000 rows.",
    )
    fixed = TextParameter(
        label="Fixed columns",
        role="work",
        initial="",
        max_length=1000,
        required=False,
        help_text="Columns that have one value for all hosts: size=10, kind=file. Vary it to compare such values.",
    )
    credential = CredentialParameter(
        help_text="Name of a credential of the team: its client certificate, and its user or token as Authorization with each "
        "request, in place of the target's own. It must name this target's address. Empty: the target's own.",
    )
    hosts = load_fields.hosts(
        "Virtual hosts, each with a connection and one request at a time. In an open loop: the most at a time."
    )
    loop = load_fields.loop(
        role="work",
        closed="each host begins its next round when the last one is done",
        opened="rounds begin at a rate, whatever the target does",
        help_text="An open loop shows what users see who do not wait for one another: a target that stands still counts in full.",
    )
    rate = load_fields.rate(
        "Open loop: rounds that begin in a second, over all hosts and generators."
    )
    arrivals = load_fields.arrivals("users", help_text="Open loop: when rounds begin.")
    iterations = IntegerParameter(
        label="Iterations",
        role="work",
        initial=None,
        min_value=1,
        max_value=10_000_000,
        required=False,
        help_text="Rounds of each host; in an open loop rounds in all. Empty: as many as the duration allows.",
    )
    duration_seconds = NumberParameter(
        label="Duration in seconds",
        role="work",
        essential=True,
        initial=20.0,
        min_value=0.1,
        max_value=86_400,
        required=False,
        help_text="Seconds in which rounds begin, the warm-up included. Empty: until all iterations are done.",
    )
    warm_up_seconds = NumberParameter(
        label="Warm-up in seconds",
        role="work",
        initial=2.0,
        min_value=0,
        max_value=3600,
        help_text="Seconds at the begin that are not counted.",
    )
    ramp_seconds = load_fields.ramp_seconds(
        "Closed loop: seconds over which the hosts begin, evenly.", initial=0.0
    )
    timeout_seconds = load_fields.timeout_seconds("Longest wait for one answer.", initial=30.0)
    success_limit_ms = NumberParameter(
        label="Success limit in ms",
        role="work",
        initial=None,
        min_value=0.001,
        max_value=3_600_000,
        required=False,
        help_text="Answers within so many milliseconds count as useful (goodput). With it, an open loop may be more than the "
        "target can answer.",
    )
    connections = load_fields.connections(
        kept="a host uses one connection as long as the target lets it",
        each="a new connection for every request",
        help_text="How hosts connect.",
    )
    processes = IntegerParameter(
        label="Processes",
        role="instrument",
        initial=None,
        min_value=1,
        max_value=256,
        required=False,
        help_text="Processes of a generator that share the hosts. Empty: one for 50 hosts, at most one a core.",
    )

    def clean(self) -> dict[str, Any]:
        """Check what several fields say together."""
        values: dict[str, Any] = super().clean() or {}
        if not {"scenario", "data", "fixed"} & self.errors.keys():
            try:
                read_scenario(values["scenario"], values["data"], values["fixed"])
            except BadScenario as error:
                for message in error.messages:
                    self.add_error(error.where, message)
        load_fields.check_rate(
            self,
            needed=values.get("loop") != CLOSED,
            needless="A closed loop has no rate: leave it empty, or choose the open loop.",
        )
        if not self.errors.keys() - {"scenario", "data", "fixed"}:
            try:
                schedule_of(values)
            except BadSchedule as error:
                self.add_error(_blamed(values), str(error))
        return values


def _blamed(values: dict[str, Any]) -> str:
    """Return the field that a bad schedule is mended in."""
    if values["loop"] == OPEN and values["rate"] is None:
        return "rate"
    if values["iterations"] is None and values["duration_seconds"] is None:
        return "duration_seconds"
    return "warm_up_seconds"
