"""Declare a submission: what REST accepts, the OpenAPI document describes, and files are converted to.

The structs whose names end in `Input` are JSON as it is sent. `document` turns them into `Submitted`, which
`receiving` stores.
"""

from collections.abc import Iterable, Mapping, Sequence
from typing import Annotated, Any, Literal, get_args

from msgspec import UNSET, Meta, Struct, UnsetType, field

from campaigns.kit.mappings import Json, JsonObject, Levels
from campaigns.models import Campaign
from campaigns.results.readers.base import Fidelity, ReadMetric, ReadRun, Scalar

MOST_RUNS = 20_000
"""Runs of a campaign: more cannot be analysed or shown within seconds."""
MOST_VALUES = 100_000
"""Runs of a request, or of a file."""
MOST_METRICS = 1000
"""Metrics of a campaign."""
MOST_UNITS = 2**31 - 1
ORDERS = (Campaign.Order.BLOCKED, Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED)


def wrong_type(message: str, **limits: Any) -> Meta:
    """Return limits of a field, and the message for a value of another type."""
    return Meta(extra={"message": message}, **limits)


def documented(**schema: Any) -> Meta:
    """Return the description of a field for the OpenAPI document; the campaign's form checks its value."""
    return Meta(extra_json_schema=schema)


def one_of(choices: Any) -> Meta:
    """Return the message and the schema of a literal, whose values msgspec would sort."""
    values = get_args(choices)
    schema = {"type": "string", "enum": list(values)}
    return wrong_type(
        f"There are {', '.join(values[:-1])} and {values[-1]}.", extra_json_schema=schema
    )


State = Literal["ok", "failed"]
Role = Literal["load", "setting", "work", "instrument", "target", "build"]
"""Of a factor: `Factor.Role`."""
Text = Annotated[str, Meta(extra_json_schema={"minLength": 1})]
Name = Annotated[Text, Meta(max_length=100)]
Instant = Annotated[
    str | None,
    wrong_type(
        "Send an instant such as 2026-11-22T09:30:00Z.", extra_json_schema={"format": "date-time"}
    ),
]
Count = Annotated[int, Meta(ge=0, le=MOST_UNITS)]
Block = Annotated[
    int,
    wrong_type(
        "Send a whole number, 1 to 1,000,000: blocks are counted from 1.", ge=1, le=1_000_000
    ),
]
Level = Annotated[str | int | float | bool, wrong_type("Send a text.")]
Fact = Annotated[str | int | float | bool, wrong_type("Send a text, a number, true or false.")]
Context = dict[str, Fact]
Percent = Annotated[Any, documented(type="number", format="double")]


class LimitInput(Struct, forbid_unknown_fields=True):
    """A value that may be a lower limit."""

    value: Annotated[
        float | None,
        Meta(extra={"missing": "It has no `value`; send a number, or null: not observed."}),
    ]
    censored: Annotated[
        bool,
        wrong_type("Send true or false.", description="The value is a lower limit."),
    ] = False


Value = Annotated[float | LimitInput | None, wrong_type("Send a number, or null: not observed.")]


class MetricInput(Struct, forbid_unknown_fields=True, kw_only=True):
    """A metric as it is submitted."""

    label: Annotated[Text, Meta(max_length=100)] = ""
    unit: Annotated[Text, Meta(max_length=20)]
    lower_is_better: Annotated[
        bool | None, wrong_type("Send true, false, or null where neither way is better.")
    ]
    fidelity: Annotated[Fidelity, one_of(Fidelity)] = "raw"


class ClosedLoopInput(Struct, forbid_unknown_fields=True, kw_only=True):
    """A fixed number of requests at a time: what the Universal Scalability Law is fitted to.

    parameter: the tag that is the number at a time; by default the only one that is load. throughput: the metric of completions
    per second. response: the metric of the mean response time of a run.
    """

    parameter: Text = ""
    throughput: Annotated[
        Text, Meta(extra={"message": "Name the metric of completions per second."})
    ]
    response: Text = ""


class AboutInput(Struct, forbid_unknown_fields=True, kw_only=True):
    """The definition of a campaign that is submitted."""

    question: Annotated[Any, documented(type="string", minLength=1, maxLength=500)]
    name: Annotated[Any, documented(type="string", minLength=1, maxLength=120)] = None
    tags: Annotated[
        Any, documented(anyOf=[{"type": "string"}, {"type": "array", "items": {"type": "string"}}])
    ] = None
    source: Annotated[Any, documented(type="string", minLength=1, maxLength=300)] = None
    order: Annotated[Any, documented(type="string", enum=list(ORDERS))] = None
    paired_factor: Annotated[Any, documented(type="string", minLength=1)] = None
    baseline: Annotated[Any, documented(type=["string", "number", "boolean", "null"])] = None
    primary_metric: Annotated[Any, documented(type="string", minLength=1)] = None
    primary_contrast: Annotated[Any, documented(type="object", additionalProperties={})] = None
    smallest_effect_percent: Percent = None
    margin_percent: Percent = None
    failed_limit_percent: Percent = None
    criterion: Annotated[
        Any,
        documented(
            type="object",
            properties={
                "conditions": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["metric"],
                        "properties": {
                            "metric": {"type": "string"},
                            "at_most": {"type": ["number", "string"]},
                            "at_least": {"type": ["number", "string"]},
                        },
                    },
                },
                "failed_percent": {"type": "number"},
                "resolution": {"type": "number"},
            },
        ),
    ] = None
    roles: Annotated[
        dict[str, Annotated[Role, one_of(Role)]],
        wrong_type("Send the role of each tag, such as {“clients”: “load”}."),
    ] = field(default_factory=dict)
    factors: dict[
        str,
        Annotated[list[Level], wrong_type("Send its levels as a list, in the order to show them.")],
    ] = field(default_factory=dict)
    work: Annotated[
        list[Annotated[Text, wrong_type("Send the names of tags as a list.")]],
        wrong_type("Send the names of tags as a list."),
    ] = field(default_factory=list)
    closed_loop: Annotated[
        ClosedLoopInput | None, wrong_type("Send an object with `throughput` and `response`.")
    ] = None


class RunInput(Struct, forbid_unknown_fields=True, kw_only=True):
    """One run; or several repetitions of one case, where its values are lists."""

    id: Name = ""
    tags: dict[str, Level] = field(default_factory=dict)
    values: dict[
        str,
        Annotated[
            float | LimitInput | list[Value] | None,
            wrong_type("Send a number, or null: not observed."),
        ],
    ] = field(default_factory=dict)
    state: Annotated[State, one_of(State)] | UnsetType = UNSET
    reason: Annotated[Text, Meta(max_length=2000)] = ""
    started_at: Instant = None
    finished_at: Instant = None
    block: Block | UnsetType = UNSET
    context: Context = field(default_factory=dict)
    info: JsonObject = field(default_factory=dict)
    units_done: Count = 0
    units_failed: Count = 0


Runs = Annotated[
    list[Annotated[RunInput, wrong_type("Send an object with `tags` and `values`.")]],
    wrong_type("Send a list of runs."),
]
Metrics = dict[
    str, Annotated[MetricInput, wrong_type("Send an object with `unit` and `lower_is_better`.")]
]


class RunsInput(Struct, forbid_unknown_fields=True, kw_only=True):
    """Runs for a campaign that is there; `metrics` that are new to it."""

    metrics: Metrics = field(default_factory=dict)
    context: Context = field(default_factory=dict)
    info: JsonObject = field(default_factory=dict)
    runs: Runs


class SubmissionInput(RunsInput, kw_only=True):
    """A campaign with runs that were measured elsewhere."""

    id: Name = ""
    campaign: AboutInput


class SubmittedRun(ReadRun, frozen=True, kw_only=True):
    """A run with the fields that only REST sends.

    block: runs of a block were made close together; None: the n-th run of a cell is in block n. context: facts
    of its environment. external_id: the sender's id of it.
    """

    block: int | None = None
    external_id: str = ""
    context: Mapping[str, str] = {}
    info: Json = {}


def distinct_levels(runs: Iterable[ReadRun]) -> list[Levels]:
    """Return the levels of runs in their order; an object that several share is there once."""
    return list({id(run.levels): run.levels for run in runs}.values())


class Submitted(Struct, frozen=True, kw_only=True):
    """A submission. definition: the fields of a campaign that the sender may set.

    factors: levels in the order of display; further ones are added in the order of the runs.
    work: factors whose levels are different work, which is not compared. roles: of factors; also that one.
    guesses: why a factor is one, where the file does not say so.
    digest: of the whole; `format` and `filename`: of a file.
    """

    runs: Sequence[SubmittedRun]
    metrics: Sequence[ReadMetric] = ()
    definition: Json = {}
    factors: Mapping[str, Sequence[Scalar]] = {}
    work: Sequence[str] = ()
    roles: Mapping[str, str] = {}
    guesses: Mapping[str, str] = {}
    info: Json = {}
    external_id: str = ""
    digest: str = ""
    format: str = ""
    filename: str = ""
    dropped: Sequence[str] = ()

    @property
    def stated_roles(self) -> Mapping[str, str]:
        """The roles of factors: `roles`, and those of `work`."""
        return {**dict.fromkeys(self.work, "work"), **self.roles}
