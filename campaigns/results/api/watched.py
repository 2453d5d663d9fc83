"""REST resources of what was observed on the target in one run."""

from math import isfinite
from typing import Any

import msgspec
from django.http import Http404, StreamingHttpResponse
from django.utils.text import slugify
from drf_spectacular.extensions import OpenApiSerializerFieldExtension
from drf_spectacular.types import OpenApiTypes
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response

from campaigns.kit.api.inputs import Flag, Input
from campaigns.kit.api.openapi import operation, register, shapes_of
from campaigns.kit.api.outputs import IgnoresAccept, Part, Selectable, text
from campaigns.kit.mappings import JsonObject
from campaigns.models import Attempt, Watched
from campaigns.results.api.base import RunApi
from campaigns.results.charts.watched import Line, grid_of
from campaigns.results.watched import WatchedRun, watched_of
from campaigns.results.watched_export import FORMATS
from campaigns.stats.binding import RunBinding
from campaigns.targets.watches.align import AlignedSeries
from campaigns.targets.watches.catalog import CATALOG

TAG = "evidence"
FEWEST_POINTS, MOST_POINTS = 10, 600
BINDING = "RunBinding"


class WatchedQuery(Input):
    """`?attempt=`: its number; else the attempt that counts. `?points=`: the most values of a series."""

    trial = Flag(default=False)
    attempt = serializers.IntegerField(required=False, min_value=1, max_value=10_000)
    points = serializers.IntegerField(
        required=False, default=MOST_POINTS, min_value=FEWEST_POINTS, max_value=MOST_POINTS
    )


class WatchedExportQuery(Input):
    """`?format=csv`, `openmetrics` or `parquet`; `?attempt=`: its number, else the attempt that counts."""

    trial = Flag(default=False)
    attempt = serializers.IntegerField(required=False, min_value=1, max_value=10_000)
    format = serializers.ChoiceField(choices=list(FORMATS), default="csv")


class BindingField(serializers.JSONField):
    """Which resource binds, as it was judged; null where nothing was."""


class BindingShape(OpenApiSerializerFieldExtension):  # type: ignore[no-untyped-call]
    """Describes a judgement field by field."""

    target_class = BindingField

    def map_serializer_field(self, auto_schema: Any, direction: Any) -> dict[str, Any]:
        """Return the shape, and register it."""
        register(shapes_of([RunBinding]), auto_schema.registry)
        return {"anyOf": [{"$ref": f"#/components/schemas/{BINDING}"}, {"type": "null"}]}


class WatchedSourceOutput(Part):
    """What one watch did. `offset_seconds`: its clock minus the worker's. `gaps`: pairs of seconds without samples.

    `cpu_seconds`: of the target, for watching it.
    """

    source = serializers.CharField()  # type: ignore[assignment]
    address = serializers.CharField()
    state = serializers.ChoiceField(choices=Watched.State.choices)
    reason = text()
    step_seconds = serializers.FloatField()
    frames = serializers.IntegerField()
    gaps = serializers.ListField(child=serializers.ListField(child=serializers.FloatField()))
    offset_seconds = serializers.FloatField(allow_null=True)
    uncertainty_seconds = serializers.FloatField(allow_null=True)
    drift_seconds = serializers.FloatField(allow_null=True)
    cpu_seconds = serializers.FloatField(allow_null=True)
    worker_cpu_seconds = serializers.FloatField(allow_null=True)
    facts = serializers.DictField(child=serializers.JSONField())


class WatchedSeriesOutput(Part):
    """Means of a quantity within equal steps since the clock started; null: not observed."""

    quantity = serializers.CharField()
    label = text()  # type: ignore[assignment]
    unit = text()
    source = serializers.CharField()  # type: ignore[assignment]
    start_seconds = serializers.FloatField()
    step_seconds = serializers.FloatField()
    values = serializers.ListField(child=serializers.FloatField(allow_null=True))


class WatchedSummaryOutput(Part):
    """A quantity in one phase; `steady` is the window that is judged."""

    quantity = serializers.CharField()
    label = text()  # type: ignore[assignment]
    unit = text()
    phase = serializers.CharField()
    mean = serializers.FloatField()
    p50 = serializers.FloatField()
    p95 = serializers.FloatField()
    largest = serializers.FloatField()


class WatchedEventOutput(Part):
    """Something that happened on the target; seconds since the clock started. `matters`: it is a caveat of the run."""

    kind = serializers.CharField()
    text = serializers.CharField()
    at_seconds = serializers.FloatField()
    until_seconds = serializers.FloatField(allow_null=True)
    matters = serializers.BooleanField()


class WatchedOutput(Selectable):
    """What was observed on the target in one attempt; without `sources` where it had no watch."""

    attempt = serializers.IntegerField()
    sources = WatchedSourceOutput(many=True)
    series = WatchedSeriesOutput(many=True)
    summaries = WatchedSummaryOutput(many=True)
    events = WatchedEventOutput(many=True)
    binding = BindingField(allow_null=True)


class OfOneRun(RunApi):
    """Base of views of what was observed in one run."""

    def attempt(self, pk: int, position: int, query: JsonObject) -> Attempt:
        """Return the attempt of a query: the one that it names, the accepted one, else the last. Raise Http404."""
        run = self.run(pk, position, trial=query["trial"])
        attempts = sorted(run.attempts.all(), key=lambda each: each.number)
        wanted = query.get("attempt")
        if wanted is not None:
            attempts = [each for each in attempts if each.number == wanted]
        accepted = [each for each in attempts if each.state == Attempt.State.ACCEPTED]
        found = next(iter([*accepted, *attempts[::-1]]), None)
        if found is None:
            what = "attempt" if wanted is None else f"attempt {wanted}"
            raise Http404(f"Run {position} has no {what}.")
        found.run = run
        return found


class WatchedOfRun(OfOneRun):
    """GET: what was observed on the target in a run."""

    @operation("get_watched", TAG, answer=WatchedOutput, query=WatchedQuery)
    def get(self, request: Request, pk: int, position: int) -> Response:
        """Return the watches of the target in a run: series, summaries, events, and which resource binds."""
        query = self.read_query(WatchedQuery)
        attempt = self.attempt(pk, position, query)
        run = watched_of(attempt)
        return Response(self.shown(watched_output(attempt, run, query["points"]), WatchedOutput))


class WatchedFile(OfOneRun):
    """GET: every sample of a run as a file."""

    content_negotiation_class = IgnoresAccept

    @operation(
        "get_watched_file",
        TAG,
        query=WatchedExportQuery,
        answer={
            "text/csv": OpenApiTypes.STR,
            "application/openmetrics-text": OpenApiTypes.STR,
            "application/vnd.apache.parquet": OpenApiTypes.BINARY,
        },
    )
    def get(self, request: Request, pk: int, position: int) -> StreamingHttpResponse:
        """Return every sample that was observed on the target in a run, as a file."""
        query = self.read_query(WatchedExportQuery)
        attempt = self.attempt(pk, position, query)
        chosen = FORMATS[query["format"]]
        name = slugify(attempt.run.campaign.name)[:60] or "campaign"
        filename = f"{pk}-{name}-run-{position}-watched.{chosen.ending}"
        return StreamingHttpResponse(
            chosen.pieces(attempt, watched_of(attempt)),
            content_type=chosen.media_type,
            headers={"Content-Disposition": f'attachment; filename="{filename}"'},
        )


def watched_output(attempt: Attempt, run: WatchedRun, points: int) -> JsonObject:
    """Return what was observed, with at most so many values of a series."""
    return {
        "attempt": attempt.number,
        "sources": run.sources,
        "series": [
            {**_series(each, points), "source": source.source}
            for source in run.sources
            for each in source.series
        ],
        "summaries": [
            {
                "quantity": each.key.quantity,
                "label": each.key.label,
                "unit": each.unit,
                "phase": each.phase,
                "mean": each.mean,
                "p50": each.p50,
                "p95": each.p95,
                "largest": each.largest,
            }
            for each in run.summaries
        ],
        "events": run.events,
        "binding": None if run.binding is None else msgspec.to_builtins(run.binding),
    }


def _series(series: AlignedSeries, points: int) -> JsonObject:
    line = Line("", series.start_seconds, series.step_seconds, series.values)
    begin, step, count = grid_of([line], points)
    values = series.on_grid(begin, step, count)
    known = CATALOG.get(series.key.quantity)
    return {
        "quantity": series.key.quantity,
        "label": series.key.label,
        "unit": known.unit if known else "",
        "start_seconds": begin,
        "step_seconds": step,
        "values": [float(f"{value:.4g}") if isfinite(value) else None for value in values.tolist()],
    }
