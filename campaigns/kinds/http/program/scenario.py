"""The declaration of a scenario: what a file of the kind `http` may hold. Pure; `reading` reads and checks one.

The JSON Schema in docs/reference/scenario.schema.json is written from these types, docstrings and descriptions.
"""

import json
import sys
from collections.abc import Iterator
from typing import Annotated, Any, Literal

import msgspec
from msgspec import UNSET, Meta, Struct, UnsetType, field

from campaigns.kit.mappings import JsonSchema

METHODS = ("get", "post", "put", "patch", "delete", "options")
MOST_STEPS = 50

Name = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z_][A-Za-z0-9_]{0,39}$",
        description="Letters, digits and _, not beginning with a digit; at most 40.",
    ),
]
StepName = Annotated[
    str,
    Meta(
        pattern=r"^[A-Za-z0-9][A-Za-z0-9 _.-]{0,39}$",
        description="Letters, digits, blanks and “_.-”; at most 40. Distributions and messages have it.",
    ),
]
Path = Annotated[
    str,
    Meta(
        min_length=1,
        max_length=4000,
        description="A path on the target with its query. It begins with /, or with a name that was taken.",
    ),
]
Scalar = str | int | float | bool | None
Status = Annotated[int, Meta(ge=200, le=599)]


class Think(Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """A pause before a step: a number of seconds, or exponential with that mean."""

    seconds: Annotated[float, Meta(ge=0, le=3600)] | None = None
    exponential: Annotated[float, Meta(gt=0, le=3600)] | None = None


class Take(Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """Where in an answer a value is found: exactly one of these."""

    json: Annotated[
        str, Meta(min_length=1, description="Keys and positions with dots: results.0.pulp_href.")
    ] = ""
    header: Annotated[str, Meta(description="The name of a header of the answer.")] = ""
    between: Annotated[
        list[str],
        Meta(max_length=2, description="The texts before and after it in the body."),
    ] = field(default_factory=list)
    cookie: Annotated[str, Meta(description="The name of a cookie that the answer sets.")] = ""


class Check(Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """What a value in a JSON answer has to be."""

    is_: Scalar | UnsetType = field(default=UNSET, name="is")
    at_least: float | UnsetType = UNSET
    at_most: float | UnsetType = UNSET
    present: bool | UnsetType = UNSET


class Expect(Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """What an answer has to be. Without `status`, 200 to 299 and 304 are right."""

    status: Status | list[Status] = field(default_factory=list)
    json: Annotated[
        dict[str, Check | Scalar],
        Meta(description="Checks by keys and positions with dots: count: {at_least: 1}."),
    ] = field(default_factory=dict)
    type: Annotated[str, Meta(description="How the header Content-Type begins.")] = ""
    contains: Annotated[str | list[str], Meta(description="Text that stands in the body.")] = field(
        default_factory=list
    )
    most_milliseconds: (
        Annotated[
            float,
            Meta(gt=0, le=3_600_000, description="The longest from sending to the whole answer."),
        ]
        | None
    ) = None

    @property
    def statuses(self) -> frozenset[int]:
        """The statuses that are right; empty: the usual ones."""
        return frozenset([self.status] if isinstance(self.status, int) else self.status)

    @property
    def texts(self) -> list[str]:
        """The texts that stand in the body."""
        return [self.contains] if isinstance(self.contains, str) else list(self.contains)


class Step(Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """One request: its name, exactly one method with the path, at most one body, and what the answer has to be."""

    name: StepName
    get: Path | None = None
    post: Path | None = None
    put: Path | None = None
    patch: Path | None = None
    delete: Path | None = None
    options: Path | None = None
    headers: Annotated[dict[str, str], Meta(description="Further headers of the request.")] = field(
        default_factory=dict
    )
    json: Annotated[
        Any, Meta(description="The body as JSON. A text that is one name keeps its type.")
    ] = UNSET
    form: Annotated[
        dict[str, str | int | float | bool] | None,
        Meta(description="The body as fields of a form."),
    ] = None
    body: Annotated[str | None, Meta(description="The body as text.")] = None
    think: Think | None = None
    weight: Annotated[
        float, Meta(gt=0, le=1, description="The share of rounds in which the step is done.")
    ] = 1.0
    expect: Expect = field(default_factory=Expect)
    take: Annotated[
        dict[Name, Take], Meta(description="Values for later steps of the round, by name.")
    ] = field(default_factory=dict)
    answer: Annotated[
        Literal["keep", "discard"],
        Meta(description="keep: bodies of at most 4 MiB; discard: they are counted, however long."),
    ] = "keep"

    @property
    def requests(self) -> list[tuple[str, str]]:
        """The methods that the step names, in capitals, with their paths; a valid step has one."""
        pairs = ((method, getattr(self, method)) for method in METHODS)
        return [(method.upper(), path) for method, path in pairs if path is not None]

    @property
    def method(self) -> str:
        """The method, in capitals."""
        return self.requests[0][0]

    @property
    def path(self) -> str:
        """The path with its query."""
        return self.requests[0][1]


class Prove(Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """A counter of the target, read before and after the load: it has to grow by the requests that were made."""

    get: Path
    json: Annotated[str, Meta(min_length=1, description="Where the number is in the answer.")]
    delta: Annotated[
        str, Meta(description="The name of the step that it counts, or `requests` for all.")
    ] = "requests"
    itself: Annotated[bool, Meta(description="It counts the request that reads it, too.")] = False


Column = (
    Annotated[
        list[Scalar], Meta(min_length=1, max_length=10_000, description="The values, a row each.")
    ]
    | Annotated[str, Meta(description="The name of the CSV file whose column of this name it is.")]
)


class Scenario(Struct, forbid_unknown_fields=True, frozen=True, omit_defaults=True):
    """The steps of one virtual host, in order; each round does them once."""

    steps: Annotated[list[Step], Meta(min_length=1, max_length=MOST_STEPS)]
    name: Annotated[str, Meta(max_length=100)] = ""
    data: Annotated[
        dict[Name, Column], Meta(description="Values by name: lists, or columns of the CSV file.")
    ] = field(default_factory=dict)
    rows: Annotated[
        Literal["host", "round", "random"],
        Meta(description="Which row is used: one for each host, the next in each round, or any."),
    ] = "host"
    headers: Annotated[dict[str, str], Meta(description="Headers of all requests.")] = field(
        default_factory=dict
    )
    login: Annotated[
        Literal["none", "target"],
        Meta(description="target: user and password of the target are sent with each request."),
    ] = "none"
    cookies: Annotated[
        Literal["drop", "keep", "round"],
        Meta(
            description="keep: each host sends the cookies it was given. round: those of the same round."
        ),
    ] = "drop"
    seed: Annotated[
        int, Meta(ge=0, le=2**31, description="Of weights, rows, and random values.")
    ] = 1
    before: Annotated[
        list[Step],
        Meta(
            max_length=MOST_STEPS,
            description="Done once before the load; each has to pass. What they take, all hosts know.",
        ),
    ] = field(default_factory=list)
    after: Annotated[
        list[Step],
        Meta(max_length=MOST_STEPS, description="Done once after the load, and after cancelling."),
    ] = field(default_factory=list)
    prove: Prove | list[Prove] = field(default_factory=list)

    @property
    def counters(self) -> list[Prove]:
        """The counters of the target that prove the work."""
        return [self.prove] if isinstance(self.prove, Prove) else list(self.prove)

    def parts(self) -> Iterator[tuple[str, int, Step]]:
        """Yield all steps with the list that they are in, and their place in it."""
        for part in ("before", "steps", "after"):
            for place, step in enumerate(getattr(self, part)):
                yield part, place, step


def json_schema() -> JsonSchema:
    """Return the JSON Schema of a scenario."""
    schema = msgspec.json.schema(Scenario)
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "Written by `python -m campaigns.kinds.http.program.scenario`. Do not edit it by hand.",
        "title": "Scenario",
        **schema,
    }


if __name__ == "__main__":
    sys.stdout.write(json.dumps(json_schema(), indent=2, ensure_ascii=False) + "\n")
