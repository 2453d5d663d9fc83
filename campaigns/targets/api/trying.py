"""Scenarios of the kind http at a target: one host tries one, and one is drafted from a file."""

from functools import partial

from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kinds.http.importing.reading import MOST_BYTES as MOST_FILE_BYTES
from campaigns.kinds.http.importing.reading import read_apart
from campaigns.kinds.http.importing.recorded import BadImport
from campaigns.kinds.http.importing.sketch import MOST_LISTED, Sketch, written
from campaigns.kinds.http.program.reading import (
    MOST_BYTES,
    MOST_TABLE_BYTES,
    BadScenario,
    read_scenario,
)
from campaigns.kinds.http.program.walking import Exchange, Shown
from campaigns.kit.api.idempotency import Hashed
from campaigns.kit.api.inputs import Flag, Input
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Part, text
from campaigns.kit.api.parsing import TooLarge
from campaigns.kit.api.views import Api
from campaigns.kit.errors import Invalid
from campaigns.kit.mappings import JsonObject
from campaigns.kit.rights import Right
from campaigns.models import Target
from campaigns.targets.trying import try_scenario


class TryScenarioInput(Input):
    """A scenario, its data, and columns that are set for all hosts, as in the parameters of a campaign."""

    scenario = serializers.CharField(max_length=MOST_BYTES, trim_whitespace=False)
    data = serializers.CharField(  # type: ignore[assignment]
        max_length=MOST_TABLE_BYTES,
        required=False,
        default="",
        allow_blank=True,
        trim_whitespace=False,
    )
    fixed = serializers.CharField(max_length=1000, required=False, default="", allow_blank=True)
    credential = serializers.CharField(max_length=60, required=False, default="", allow_blank=True)


class HeaderOutput(Part):
    """A header."""

    name = serializers.CharField()
    value = text()


class ShownOutput(Part):
    """A request or an answer: at most 4 KiB of its body, without secrets. `bytes`: of the whole body."""

    line = serializers.CharField()
    headers = HeaderOutput(many=True)
    body = text()
    bytes = serializers.IntegerField()


class TakenOutput(Part):
    """A value that a step took."""

    name = serializers.CharField()
    value = text()


class ExchangeOutput(Part):
    """A step: what was sent, and what came back. `failure`: its class; empty where the answer is as expected.

    `withheld`: it sends the target's password, or what was taken from an answer to that. Of the answer only the status is shown, and no
    text in it is checked; of values that were taken only the names are shown.
    """

    step = serializers.CharField()
    request = ShownOutput(allow_null=True)
    answer = ShownOutput(allow_null=True)
    milliseconds = serializers.FloatField(allow_null=True)
    taken = TakenOutput(many=True)
    failure = text()
    message = text()
    withheld = serializers.BooleanField()


class TriedOutput(Part):
    """What came of one round of one host. `ok`: every answer is as expected."""

    ok = serializers.BooleanField()
    exchanges = ExchangeOutput(many=True)


class TryScenario(Api):
    """POST: let one host do one round of a scenario."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("try_scenario", "targets", body=TryScenarioInput, answer=TriedOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Do each step once, with the steps before and after it. Nothing is stored; it takes 25 s at most.

        409 while the target is measured or probed, in its quiet hours, and where it cannot be reached.
        503 where two are tried already in this web server, 429 after 20 of one user in a minute; both with `Retry-After`.
        """
        target = get_object_or_404(Target, pk=pk, retired_at=None)
        walked = try_scenario(target, self.user, **self.read(TryScenarioInput))
        return Response(
            {
                "ok": walked.failed is None,
                "exchanges": [exchange_output(each) for each in walked.exchanges],
            }
        )


class ImportScenarioQuery(Input):
    """What is taken over. steps: numbers of requests, from 1; without it those that are proposed. take: names of offers, or all.

    think: with the pauses. new_names: names of what is created end with the attempt and the number of the round.
    """

    steps = serializers.RegexField(r"^\d{1,4}(,\d{1,4})*$", required=False, max_length=2000)
    take = serializers.CharField(required=False, default="", allow_blank=True, max_length=8000)
    think = Flag(default=False)
    new_names = Flag(default=True)


class ProposedRequestOutput(Part):
    """A request of the file. `proposed`: it is taken over unless `steps` says otherwise; `why`: why not."""

    number = serializers.IntegerField()
    step = serializers.CharField()
    request = serializers.CharField()
    proposed = serializers.BooleanField()
    why = text()


class OfferedValueOutput(Part):
    """A value that an answer gave and later requests send. `secret`: without it nothing is sent there."""

    name = serializers.CharField()
    from_step = serializers.CharField()
    to_steps = serializers.ListField(child=serializers.CharField())
    take = serializers.JSONField()
    secret = serializers.BooleanField()


class ImportedScenarioOutput(Part):
    """The draft of a scenario. `problems`: why it cannot be used as it is; `left_out`, `struck_out`, `hints`: what is not in it."""

    format = serializers.CharField()
    host = text()
    scenario = serializers.CharField()
    problems = serializers.ListField(child=serializers.CharField())
    requests = ProposedRequestOutput(many=True)
    offers = OfferedValueOutput(many=True)
    left_out = serializers.ListField(child=serializers.CharField())
    struck_out = serializers.ListField(child=serializers.CharField())
    hints = serializers.ListField(child=serializers.CharField())


class ImportScenario(Api):
    """POST: draft a scenario from a HAR file, an OpenAPI document, an apidoc, or curl commands."""

    of = Target
    takes = {"post": Right.WRITE}
    reads_body = True

    @operation(
        "import_scenario",
        "targets",
        query=ImportScenarioQuery,
        body={"application/octet-stream": OpenApiTypes.BINARY},
        answer=ImportedScenarioOutput,
    )
    def post(self, request: Request, pk: int) -> HttpResponseBase:
        """Return the scenario of the file in the body, without secrets. Nothing is stored or sent to the target."""
        target = get_object_or_404(Target, pk=pk, retired_at=None)
        query = self.read_query(ImportScenarioQuery)
        body = Hashed(request._request)
        content = body.read(MOST_FILE_BYTES + 1)
        if len(content) > MOST_FILE_BYTES:
            raise TooLarge(
                f"The body is larger than {MOST_FILE_BYTES:,} bytes. Record less at once."
            )
        return self.once(partial(_imported, content, target.base_url, query), body.digest)


def _imported(content: bytes, base_url: str, query: JsonObject) -> Response:
    """Return what became of a file. Raise Invalid."""
    try:
        sketch = read_apart(content, base_url)
        steps, offers = _chosen(sketch, query)
        scenario = written(
            sketch, steps, offers, think=query["think"], new_names=query["new_names"]
        )
    except BadImport as problem:
        raise Invalid({"": [str(problem)]}) from None
    problems: list[str] = []
    try:
        read_scenario(scenario)
    except BadScenario as wrong:
        problems = wrong.messages
    names = [each.step["name"] for each in sketch.proposals]
    return Response(
        {
            "format": sketch.format,
            "host": sketch.host,
            "scenario": scenario,
            "problems": problems,
            "requests": [
                {
                    "number": number,
                    "step": each.step["name"],
                    "request": each.line,
                    "proposed": each.ticked,
                    "why": each.why,
                }
                for number, each in enumerate(sketch.proposals, start=1)
            ],
            "offers": [
                {
                    "name": each.name,
                    "from_step": names[each.source],
                    "to_steps": [names[use] for use in each.uses],
                    "take": each.take,
                    "secret": each.secret,
                }
                for each in sketch.offers
            ],
            "left_out": sketch.left_out,
            "struck_out": sketch.struck,
            "hints": sketch.hints,
        }
    )


def _chosen(sketch: Sketch, query: JsonObject) -> tuple[list[int], list[int]]:
    """Return the positions of requests and offers that a query names. Raise Invalid."""
    count = len(sketch.proposals)
    if "steps" in query:
        steps = [int(number) - 1 for number in query["steps"].split(",")]
        if wrong := [number + 1 for number in steps if not 0 <= number < count]:
            raise Invalid(
                {"steps": [f"There is no request {wrong[0]}; the file has 1 to {count}."]}
            )
    else:
        steps = [number for number, each in enumerate(sketch.proposals) if each.ticked]
    known = {each.name: number for number, each in enumerate(sketch.offers)}
    if query["take"] == "all":
        return steps, list(known.values())
    names = list(filter(None, (name.strip() for name in query["take"].split(","))))
    if unknown := [name for name in names if name not in known]:
        shown = ", ".join(list(known)[:MOST_LISTED]) or "none"
        more = f" and {len(known) - MOST_LISTED} more" if len(known) > MOST_LISTED else ""
        raise Invalid({"take": [f"“{unknown[0][:60]}” is not offered; there are {shown}{more}."]})
    return steps, [known[name] for name in names]


def exchange_output(exchange: Exchange) -> JsonObject:
    """Return an exchange as JSON."""
    return {
        "step": exchange.step,
        "request": _shown(exchange.request),
        "answer": _shown(exchange.answer),
        "milliseconds": exchange.milliseconds,
        "taken": [{"name": name, "value": value} for name, value in exchange.taken.items()],
        "failure": exchange.failure,
        "message": exchange.message,
        "withheld": exchange.withheld,
    }


def _shown(shown: Shown | None) -> JsonObject | None:
    if shown is None:
        return None
    return {
        "line": shown.line,
        "headers": [{"name": name, "value": value} for name, value in shown.headers],
        "body": shown.body,
        "bytes": shown.bytes,
    }
