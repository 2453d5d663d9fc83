"""Submissions: runs that were measured elsewhere, as JSON or as files that other tools wrote."""

import json
import os
import tempfile
from collections.abc import Callable
from functools import partial
from typing import IO, Any

from django.db import transaction
from django.http import Http404
from django.http.response import HttpResponseBase
from django.shortcuts import get_object_or_404
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.exceptions import APIException, UnsupportedMediaType, ValidationError
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from campaigns.kit.api.authentication import scopes_of
from campaigns.kit.api.idempotency import Hashed
from campaigns.kit.api.inputs import Flag, Input
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Selectable, text
from campaigns.kit.api.parsing import TooLarge, strict_json, unpacked
from campaigns.kit.api.views import Api
from campaigns.kit.errors import Invalid
from campaigns.kit.events import work_waits
from campaigns.kit.mappings import JsonObject
from campaigns.kit.rights import Right, admit, team_for
from campaigns.models import ApiToken, Campaign, Scope, Submission, Team
from campaigns.planning.analyses import request_analysis, request_analysis_of_received
from campaigns.planning.api.launch_outputs import CampaignName
from campaigns.results.filters import SubmissionFilters
from campaigns.results.importing import waiting
from campaigns.results.importing.document import read_submission
from campaigns.results.importing.files import About, import_file
from campaigns.results.importing.receiving import Received, append, create
from campaigns.results.importing.submitted import ORDERS, RunsInput, SubmissionInput
from campaigns.results.readers import all_readers

TAG = "submissions"
JSON = "application/json"
MOST_BYTES = 32_000_000
"""Bytes of an unpacked JSON body."""
MOST_PARTS = 2_000_000
"""Commas and brackets of a JSON body: each may cost a hundred bytes in memory."""
MOST_FILE_BYTES = 200_000_000
FILE = {"application/octet-stream": OpenApiTypes.BINARY}
"""The media type of a file; any other type is accepted, too."""
IN_MEMORY = 4_000_000
NOT_READ_YET = {
    "dry_run": False,
    "made": False,
    "runs": 0,
    "values": 0,
    "cells": 0,
    "name": "",
    "question": "",
    "primary_metric": "",
}
DEFINITION = (
    *("question", "name", "source", "tags", "primary_metric", "order", "paired_factor"),
    *("baseline", "smallest_effect_percent", "margin_percent", "failed_limit_percent"),
    "criterion",
)


class DryQuery(Input):
    """Whether to store at all."""

    dry_run = Flag(default=False)


class OfTeamQuery(DryQuery):
    """Whose the new campaign is: needed of those alone who write in several teams."""

    team = serializers.CharField(required=False, max_length=100)


class ImportQuery(OfTeamQuery):
    """What is said of a file; what is left out is taken from it."""

    filename = serializers.CharField(required=False, max_length=200)
    format = serializers.ChoiceField(choices=list(all_readers()), required=False)
    question = serializers.CharField(required=False, max_length=500)
    name = serializers.CharField(required=False, max_length=120)
    source = serializers.CharField(required=False, max_length=300)  # type: ignore[assignment]
    tags = serializers.CharField(required=False)
    primary_metric = serializers.CharField(required=False)
    order = serializers.ChoiceField(choices=ORDERS, required=False)
    paired_factor = serializers.CharField(required=False)
    baseline = serializers.CharField(required=False)
    smallest_effect_percent = serializers.FloatField(required=False)
    margin_percent = serializers.FloatField(required=False)
    failed_limit_percent = serializers.FloatField(required=False)
    fidelity = serializers.ChoiceField(choices=Campaign.Fidelity.values, required=False)
    criterion = serializers.CharField(
        required=False,
        max_length=2000,
        help_text="Conditions, one a line or with commas: p95 <= 180 s, failed <= 5 %.",
    )
    roles = serializers.CharField(
        required=False, help_text="Roles of factors, as a JSON object: {“clients”: “load”}."
    )
    directions = serializers.CharField(
        required=False,
        help_text="Which way is better, of metrics of which the file does not say it, as a JSON object: {“duration”: “lower”}.",
    )
    closed_loop = serializers.CharField(
        required=False,
        help_text="Of a fixed number of clients, as a JSON object: {“throughput”: “rate”, “response”: “latency”}.",
    )
    context = serializers.CharField(  # type: ignore[assignment]
        required=False, help_text="Facts of the environment, as a JSON object."
    )
    mapping = serializers.CharField(
        required=False, help_text="What the columns of a CSV mean, as a JSON object."
    )


class FormatOutput(Selectable):
    """A format of files, and the tool that writes it."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]


class SubmissionOutput(Selectable):
    """What came in at once. `waiting`: a worker is to read it; `problem`: why it was refused.

    `format`: of a file, empty where it came as JSON. `dropped`: what was left out, and why.
    """

    id = serializers.IntegerField(source="pk")
    url = serializers.HyperlinkedIdentityField("api-submission")
    campaign = serializers.SerializerMethodField()
    state = serializers.ChoiceField(choices=Submission.State.choices)
    problem = text()
    format = text()
    filename = text()
    runs = serializers.IntegerField()
    values = serializers.IntegerField()
    dropped = serializers.ListField(child=serializers.CharField())
    info = serializers.DictField()
    user = serializers.CharField(source="user.username", default=None, allow_null=True)
    received_at = serializers.DateTimeField()
    done_at = serializers.DateTimeField(allow_null=True)

    @extend_schema_field(CampaignName(allow_null=True))
    def get_campaign(self, submission: Submission) -> JsonObject | None:
        """Where its runs are."""
        campaign = submission.campaign
        if campaign is None:
            return None
        request = self.context["request"]
        return {
            "id": campaign.pk,
            "name": campaign.name,
            "url": reverse("api-campaign", [campaign.pk], request=request),
            "page": reverse("campaign", [campaign.pk], request=request),
        }


class ReceivedOutput(serializers.Serializer[Any]):
    """What became of a submission, or would: `dry_run` stores nothing and gives no submission.

    `made`: a campaign that was not there; else it was submitted before, exactly so.
    """

    dry_run = serializers.BooleanField()
    made = serializers.BooleanField()
    runs = serializers.IntegerField()
    values = serializers.IntegerField()
    cells = serializers.IntegerField()
    factors = serializers.ListField(child=serializers.CharField())
    name = serializers.CharField()
    question = serializers.CharField()
    primary_metric = serializers.CharField()
    dropped = serializers.ListField(child=serializers.CharField())
    questions = serializers.ListField(
        child=serializers.CharField(),
        help_text="What may have been left unsaid, such as whether a factor is load.",
    )
    submission = SubmissionOutput(allow_null=True)


class AppendedOutput(serializers.Serializer[Any]):
    """What was added to a campaign. `known`: runs that were there already, exactly so.

    `first`: position of the first new run. `submission`: primary key, null for a dry run.
    """

    dry_run = serializers.BooleanField()
    runs = serializers.IntegerField()
    values = serializers.IntegerField()
    known = serializers.IntegerField()
    first = serializers.IntegerField(allow_null=True)
    submission = serializers.IntegerField(allow_null=True)


def received_data(received: Received, request: Any, *, dry: bool) -> JsonObject:
    """Return what was received as ReceivedOutput shows it."""
    campaign = received.campaign
    result = SubmissionOutput(received.submission, context={"request": request}).data
    return {
        "dry_run": dry,
        "made": received.made,
        "runs": received.runs or received.known,
        "values": received.values,
        "cells": campaign.cells.count(),
        "factors": [factor.name for factor in campaign.factors.all()],
        "name": campaign.name,
        "question": campaign.question,
        "primary_metric": campaign.primary_metric,
        "dropped": received.submission.dropped,
        "questions": list(received.questions),
        "submission": None if dry and received.made else result,
    }


class Receiving(Api):
    """The base class of views that read their body themselves: it may be large, and compressed."""

    needs = Scope.SUBMIT
    reads_body = True

    def received(self, act: Callable[[IO[bytes]], HttpResponseBase], most: int) -> HttpResponseBase:
        """Act on the whole unpacked body, or return the stored answer to a repeated Idempotency-Key.

        No transaction waits for a slow sender. Raise TooLarge above `most` bytes, ParseError.
        """
        body = Hashed(self.request._request)
        with tempfile.SpooledTemporaryFile(IN_MEMORY) as file:
            for piece in unpacked(self.request, body, most):
                file.write(piece)
            digest = body.digest()
            file.seek(0)
            return self.once(partial(act, file), lambda: digest)

    def json(self, body: IO[bytes]) -> Any:
        """Read a JSON document. Raise UnsupportedMediaType, ParseError, TooLarge."""
        media_type = (self.request.content_type or JSON).partition(";")[0].strip().lower()
        if media_type != JSON:
            raise UnsupportedMediaType(media_type[:100], f"Send {JSON}, not {media_type[:100]}.")
        content = body.read()
        if sum(map(content.count, (b",", b"[", b"{"))) > MOST_PARTS:
            raise TooLarge(
                f"The body has more than {MOST_PARTS:,} values, lists and objects. Send it in several "
                "parts."
            )
        return strict_json(content, names_once=True)


class Submissions(Receiving):
    """GET: what came in. POST: a campaign with its runs."""

    takes = {"post": Right.WRITE}

    @operation("list_submissions", TAG, answer=SubmissionOutput, filters=SubmissionFilters)
    def get(self, request: Request) -> Response:
        """What came in, the newest first."""
        rows = self.visible(Submission.objects.select_related("campaign", "user"))
        return self.page(rows, SubmissionOutput, "-pk", SubmissionFilters)

    @operation(
        "create_submission",
        TAG,
        body=SubmissionInput,
        query=OfTeamQuery,
        answer=ReceivedOutput,
        also=[status.HTTP_200_OK],
    )
    def post(self, request: Request) -> HttpResponseBase:
        """Store a finished campaign with all of its runs, or nothing; 200: nothing new was made."""
        query = self.read_query(OfTeamQuery)
        dry, team = query["dry_run"], team_for(self.user, query.get("team"))

        def act(body: IO[bytes]) -> Response:
            submitted = read_submission(self.json(body))
            with transaction.atomic():
                received = create(submitted, self.user, team=team)
                return _answer(received, request, dry=dry)

        return self.received(act, MOST_BYTES)


class OneSubmission(Api):
    """GET: what came in at once."""

    of = Submission

    def scope_needed(self) -> Scope | None:
        """Let a token that may submit read its own submissions."""
        requested = self.request
        own = Submission.objects.filter(pk=self.kwargs["pk"], user=requested.user.pk)
        token = requested.auth
        submits = isinstance(token, ApiToken) and Scope.SUBMIT in scopes_of(token)
        return Scope.SUBMIT if submits and own.exists() else super().scope_needed()

    @operation("get_submission", TAG, answer=SubmissionOutput)
    def get(self, request: Request, pk: int) -> Response:
        """One submission: whether it is stored, and what was left out of it."""
        rows = Submission.objects.select_related("campaign", "user")
        return self.one(get_object_or_404(rows, pk=pk), SubmissionOutput)


class Imports(Receiving):
    """POST: a file that another tool wrote."""

    takes = {"post": Right.WRITE}

    @operation(
        "import_file",
        TAG,
        query=ImportQuery,
        body=FILE,
        answer=ReceivedOutput,
        code=status.HTTP_201_CREATED,
        also=[status.HTTP_200_OK, status.HTTP_202_ACCEPTED],
    )
    def post(self, request: Request) -> HttpResponseBase:
        """Store the runs of a file, which is the body, as a finished campaign.

        202: the file is large, and a worker reads it; `submission` says by and by what became of it.
        """
        query = self.read_query(ImportQuery)
        dry, team = query.pop("dry_run"), team_for(self.user, query.pop("team", None))
        about = about_of(query)

        def act(file: IO[bytes]) -> Response:
            size = file.seek(0, os.SEEK_END)
            file.seek(0)
            with transaction.atomic():
                if size > waiting.READ_AT_ONCE and not dry:
                    return self._later(file, about, team)
                return _answer(import_file(file, about, self.user, team), request, dry=dry)

        return self.received(act, MOST_FILE_BYTES)

    def _later(self, file: IO[bytes], about: About, team: Team) -> Response:
        submission = waiting.keep(file, about, self.user, team)
        if isinstance(submission, Received):
            return _answer(submission, self.request, dry=False)
        transaction.on_commit(lambda: work_waits.send(sender=None))
        shown = SubmissionOutput(submission, context={"request": self.request}).data
        return Response(
            {
                **NOT_READ_YET,
                "dropped": [],
                "factors": [],
                "questions": [],
                "submission": shown,
            },
            status=status.HTTP_202_ACCEPTED,
            headers={"Location": shown["url"], "Retry-After": "2"},
        )


class Formats(Api):
    """GET: the formats of files that can be imported."""

    @operation("list_formats", TAG, answer=FormatOutput, whole=True)
    def get(self, request: Request) -> Response:
        """Formats of files that can be imported, by their names."""
        results = [{"name": name, "label": reader.label} for name, reader in all_readers().items()]
        return self.whole(results, FormatOutput)


def append_runs(view: Receiving, request: Request, pk: int) -> HttpResponseBase:
    """Add runs to a campaign that came from outside: all of them, or none."""

    def act(body: IO[bytes], dry: bool) -> Response:
        submitted = read_submission(view.json(body), appended=True)
        with transaction.atomic():
            try:
                received = append(pk, submitted, view.user)
            except Campaign.DoesNotExist:
                raise Http404(f"There is no campaign {pk}.") from None
            if dry:
                transaction.set_rollback(True)
            elif received.last:
                request_analysis_of_received(received.campaign, received.last)
        data = {
            "dry_run": dry,
            "runs": received.runs,
            "values": received.values,
            "known": received.known,
            "first": received.first,
            "submission": None if dry else received.submission.pk,
        }
        made = received.runs and not dry
        return Response(data, status=status.HTTP_201_CREATED if made else status.HTTP_200_OK)

    try:
        dry = view.read_query(DryQuery)["dry_run"]
        return view.received(partial(act, dry=dry), MOST_BYTES)
    except (Invalid, APIException):
        admit(view.user, Right.WRITE, Campaign, pk)  # who may not see it learns nothing else
        raise


APPENDING = operation(
    "append_runs",
    TAG,
    body=RunsInput,
    query=DryQuery,
    answer=AppendedOutput,
    code=status.HTTP_201_CREATED,
    also=[status.HTTP_200_OK],
)


def about_of(query: JsonObject) -> About:
    """Return the description of a file from the query. Raise ValidationError."""
    return About(
        filename=query.get("filename", "").replace("\\", "/").rsplit("/", 1)[-1],
        format=query.get("format", ""),
        definition={name: query[name] for name in DEFINITION if query.get(name)}
        | {
            name: stated
            for name in ("roles", "directions", "closed_loop")
            if (stated := _object(query, name))
        },
        context={name: str(value) for name, value in _object(query, "context").items()},
        mapping=_object(query, "mapping"),
        fidelity=query.get("fidelity", ""),
    )


def _object(query: JsonObject, name: str) -> JsonObject:
    value = query.get(name)
    if not value:
        return {}
    try:
        read = json.loads(value)
    except (ValueError, RecursionError):
        read = None
    if not isinstance(read, dict):
        raise ValidationError({name: ["Send a JSON object: {“name”: “value”}."]})
    return read


def _answer(received: Received, request: Request, *, dry: bool) -> Response:
    """Answer within a transaction; a dry run is rolled back."""
    data = received_data(received, request, dry=dry)
    if dry:
        transaction.set_rollback(True)
        return Response(data)
    if not received.made:
        return Response(data)
    request_analysis(received.campaign)
    location = reverse("api-campaign", [received.campaign.pk], request=request)
    return Response(data, status=status.HTTP_201_CREATED, headers={"Location": location})
