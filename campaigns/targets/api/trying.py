"""Trying a scenario of the kind http at a target."""

from django.shortcuts import get_object_or_404
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kinds.http.program.reading import MOST_BYTES, MOST_TABLE_BYTES
from campaigns.kinds.http.program.walking import Exchange, Shown
from campaigns.kit.api.inputs import Input
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Part, text
from campaigns.kit.api.views import Api
from campaigns.kit.mappings import JsonObject
from campaigns.kit.rights import Right
from campaigns.models import Target
from campaigns.targets.trying import try_scenario


class TryInput(Input):
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
    """A step: what was sent, and what came back. `failure`: its class; empty where the answer is as expected."""

    step = serializers.CharField()
    request = ShownOutput(allow_null=True)
    answer = ShownOutput(allow_null=True)
    milliseconds = serializers.FloatField(allow_null=True)
    taken = TakenOutput(many=True)
    failure = text()
    message = text()


class TriedOutput(Part):
    """What came of one round of one host. `ok`: every answer is as expected."""

    ok = serializers.BooleanField()
    exchanges = ExchangeOutput(many=True)


class TryScenario(Api):
    """POST: let one host do one round of a scenario."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("try_scenario", "targets", body=TryInput, answer=TriedOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Do each step once, with the steps before and after it. Nothing is stored; it takes 25 s at most.

        409 while the target is measured or probed, in its quiet hours, and where it cannot be reached.
        """
        target = get_object_or_404(Target, pk=pk, retired_at=None)
        walked = try_scenario(target, **self.read(TryInput))
        return Response(
            {
                "ok": walked.failed is None,
                "exchanges": [exchange_output(each) for each in walked.exchanges],
            }
        )


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
