"""REST resources of a target's watches."""

from django.shortcuts import get_object_or_404
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers, status
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from campaigns.kit.api.inputs import Flag, Input, Number, Scalar, Text
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import ModelOutput, Part, Selectable, text
from campaigns.kit.api.views import Api
from campaigns.kit.errors import Invalid
from campaigns.kit.mappings import CleanedData, JsonObject
from campaigns.kit.rights import Right
from campaigns.kit.ssh.keys import fingerprint_of
from campaigns.models import Target, Watch
from campaigns.targets.api.settings import AcceptInput
from campaigns.targets.api.targets import in_use
from campaigns.targets.watches.base import SSH, Source
from campaigns.targets.watches.expected import LONGEST_SPAN, expected_on
from campaigns.targets.watches.forms import absent, as_data, with_options
from campaigns.targets.watches.registry import all_sources
from campaigns.targets.watches.saving import (
    accept_host_key,
    delete_watch,
    revised,
    save_watch,
    source_to_save,
)
from campaigns.targets.watches.trying import Tried, try_watch

TAG = "watches"
BY_SSH = {"haproxy_ssh": "haproxy", "puma_ssh": "puma"}
"""Names that scripts may still send: sources of their own, before their addresses began with ssh://."""


class WatchInput(Input):
    """A watch; an empty key or password leaves the stored one."""

    address = Text(help_text="As the source says.")
    username = Text()
    password = Text(write_only=True)
    key = Text(write_only=True)
    step_seconds = Number()
    is_on = Flag()
    confirm_address = Flag()
    options = serializers.DictField(child=Scalar(), required=False)


class NewWatchInput(WatchInput):
    """A new watch of a source."""

    source = serializers.CharField(max_length=30)  # type: ignore[assignment]


class OptionOutput(Part):
    """An option of a source."""

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    type = serializers.CharField()
    initial = serializers.JSONField()
    choices = serializers.ListField(child=serializers.CharField())
    required = serializers.BooleanField()  # type: ignore[assignment]
    required_by_ssh = serializers.BooleanField()


class SourceOutput(Selectable):
    """A source of watches, and what it needs. `live`: it is read while a run goes on, not afterwards.

    `may_use_ssh`: an address that begins with ssh:// is reached by SSH.
    """

    name = serializers.CharField()
    label = serializers.CharField()  # type: ignore[assignment]
    description = serializers.CharField()
    needs = serializers.CharField()
    address = serializers.CharField(source="address_help")
    uses_ssh = serializers.BooleanField()
    may_use_ssh = serializers.BooleanField()
    has_login = serializers.BooleanField()
    live = serializers.BooleanField()
    step_seconds = serializers.SerializerMethodField()
    least_step_seconds = serializers.SerializerMethodField()
    options = OptionOutput(many=True)

    def get_step_seconds(self, source: Source) -> float:
        """The usual step."""
        return source.steps[0]

    def get_least_step_seconds(self, source: Source) -> float:
        """The least step."""
        return source.steps[1]


class WatchOutput(ModelOutput[Watch]):
    """A watch of a target, and how its last try ended. `offered`: a host key that nobody has accepted."""

    url = serializers.SerializerMethodField()
    has_key = serializers.SerializerMethodField()
    has_password = serializers.SerializerMethodField()
    accepted = serializers.SerializerMethodField()
    offered = serializers.SerializerMethodField()
    options = serializers.DictField(child=serializers.JSONField())
    failure = text(source="try_failure")

    class Meta:
        model = Watch
        fields = [
            "id",
            "url",
            "source",
            "address",
            "username",
            "step_seconds",
            "is_on",
            "options",
            "has_key",
            "has_password",
            "accepted",
            "offered",
            "failure",
            "tried_at",
            "created_at",
        ]

    def get_url(self, watch: Watch) -> str:
        """Where it is changed."""
        where = [watch.target_id, watch.pk]
        return reverse("api-watch", where, request=self.context["request"])

    def get_has_key(self, watch: Watch) -> bool:
        """Only whether there is one."""
        return bool(watch.key)

    def get_has_password(self, watch: Watch) -> bool:
        """Only whether there is one."""
        return bool(watch.password)

    def get_accepted(self, watch: Watch) -> str:
        """The fingerprint of the host key that was accepted; empty where none was."""
        return fingerprint_of(watch.host_key)

    def get_offered(self, watch: Watch) -> str:
        """The fingerprint that waits to be compared and accepted."""
        return fingerprint_of(watch.offered_key)


class SeenOutput(Part):
    """A quantity that was read. `label`: the group, device or state that it is of; empty: the whole machine."""

    quantity = serializers.CharField()
    label = text()  # type: ignore[assignment]
    text = serializers.CharField()
    value = serializers.CharField()


class SeenGroupOutput(Part):
    """A group of processes."""

    name = serializers.CharField()
    cores = serializers.FloatField(allow_null=True)
    memory_bytes = serializers.FloatField(allow_null=True)
    processes = serializers.FloatField(allow_null=True)


class TriedWatchOutput(Part):
    """What a try of a watch saw. `failure`: why it ended early; empty where it did not.

    `offset_seconds`: the source's clock minus ours. `cost_cores`: the part of a core of the target that it took.
    """

    failure = text()
    offered = serializers.SerializerMethodField()
    frames = serializers.IntegerField()
    seconds = serializers.FloatField()
    seen = SeenOutput(many=True)
    groups = SeenGroupOutput(many=True)
    facts = serializers.DictField(child=serializers.JSONField())
    events = serializers.ListField(child=serializers.CharField())
    offset_seconds = serializers.FloatField(allow_null=True)
    uncertainty_seconds = serializers.FloatField(allow_null=True)
    cost_cores = serializers.FloatField(allow_null=True)

    @extend_schema_field(serializers.CharField())
    def get_offered(self, tried: Tried) -> str:
        """The fingerprint of a host key that waits to be compared and accepted."""
        return fingerprint_of(tried.offered)


class WatchSources(Api):
    """GET: the sources of watches."""

    @operation("list_watch_sources", TAG, answer=SourceOutput, whole=True)
    def get(self, request: Request) -> Response:
        """List the sources by which a target can be watched, with what each needs."""
        rows = [dict(SourceOutput(each).data) for each in all_sources().values()]
        return self.whole(rows, SourceOutput)


class Watches(Api):
    """GET: the watches of a target. POST: a new one."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("list_watches", TAG, answer=WatchOutput, whole=True)
    def get(self, request: Request, pk: int) -> Response:
        """List the watches of a target."""
        rows = get_object_or_404(Target, pk=pk).watches.all()
        return self.whole([self.shown(row, WatchOutput) for row in rows], WatchOutput)

    @operation("create_watch", TAG, body=NewWatchInput, answer=WatchOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Define a watch; try it afterwards. `key` and `password` are accepted, and never returned."""
        target, data = in_use(pk), self.read(NewWatchInput)
        name = data.pop("source")
        if name in BY_SSH:
            name, data["address"] = BY_SSH[name], f"{SSH}{data.get('address', '')}"
        source = source_to_save(name)
        sent = {"is_on": True} | _for_form(data, source)
        row = save_watch(sent, target, source, self.user)
        row.refresh_from_db()
        output = self.shown(row, WatchOutput)
        return Response(output, status=status.HTTP_201_CREATED, headers={"Location": output["url"]})


class OneWatch(Api):
    """GET: one watch. PATCH: change it. DELETE: delete it."""

    of = Target
    takes = {"patch": Right.OPERATE, "delete": Right.OPERATE}

    @operation("get_watch", TAG, answer=WatchOutput)
    def get(self, request: Request, pk: int, number: int) -> Response:
        """One watch of a target."""
        return self.one(get_object_or_404(Watch, target=pk, pk=number), WatchOutput, revised)

    @operation("edit_watch", TAG, body=WatchInput, answer=WatchOutput)
    def patch(self, request: Request, pk: int, number: int) -> Response:
        """Change the fields that are sent; options that are not sent stay.

        A key or a password that is not sent stays, unless address or user name are others.
        """
        row = _watch(pk, number)
        source = source_to_save(row.source)
        data = as_data(row) | _for_form(self.read(WatchInput), source)
        with self.unchanged(row, revised):
            saved = save_watch(data, row.target, source, self.user, row)
        return Response(self.shown(saved, WatchOutput))

    @operation("delete_watch", TAG)
    def delete(self, request: Request, pk: int, number: int) -> Response:
        """Delete it with its secrets; what it saw stays with the runs."""
        row = _watch(pk, number)
        with self.unchanged(row, revised):
            delete_watch(row, self.user)
        return Response(status=status.HTTP_204_NO_CONTENT)


class TryWatch(Api):
    """POST: read a watch for some seconds."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("try_watch", TAG, answer=TriedWatchOutput)
    def post(self, request: Request, pk: int, number: int) -> Response:
        """Read a few frames, and return what was seen, or why nothing was. It takes 25 s at most.

        409 while the target is measured or probed.
        """
        return Response(TriedWatchOutput(try_watch(_watch(pk, number), self.user)).data)


class AcceptWatchKey(Api):
    """POST: accept the host key that a machine has shown to a watch."""

    of = Target
    takes = {"post": Right.OPERATE}

    @operation("accept_watch_key", TAG, body=AcceptInput, answer=WatchOutput)
    def post(self, request: Request, pk: int, number: int) -> Response:
        """Take the key with this fingerprint for the machine's own, after it was compared."""
        row, fingerprint = _watch(pk, number), self.read(AcceptInput)["fingerprint"]
        return Response(self.shown(accept_host_key(row, fingerprint, self.user), WatchOutput))


class SpanQuery(Input):
    """`?seconds=`: how far ahead; an hour unless given."""

    seconds = serializers.FloatField(
        required=False, default=3600.0, min_value=1, max_value=LONGEST_SPAN
    )


class ExpectedEventOutput(Part):
    """What will happen on the target."""

    kind = serializers.CharField()
    text = serializers.CharField()
    at = serializers.DateTimeField()
    in_seconds = serializers.FloatField()


class ExpectedOutput(Selectable):
    """What is known to happen, in the order of time. `failures`: why a watch could not say."""

    events = ExpectedEventOutput(many=True)
    failures = serializers.ListField(child=serializers.CharField())
    more = serializers.IntegerField()


class ExpectedEvents(Api):
    """GET: what is known to happen on a target."""

    of = Target
    takes = {"get": Right.OPERATE}

    @operation("get_expected_events", TAG, answer=ExpectedOutput, query=SpanQuery)
    def get(self, request: Request, pk: int) -> Response:
        """Ask the watches of the target which timers and cron jobs begin soon. It takes 15 s at most."""
        target, seconds = in_use(pk), self.read_query(SpanQuery)["seconds"]
        return Response(self.shown(expected_on([target], seconds), ExpectedOutput))


def _watch(pk: int, number: int) -> Watch:
    return get_object_or_404(Watch.objects.select_related("target"), target=in_use(pk), pk=number)


def _for_form(data: JsonObject, source: Source) -> CleanedData:
    """Return input of the form. Raise Invalid for what the source has no use for."""
    errors = {name: [f"{source.label} takes none."] for name in absent(source) if data.get(name)}
    options, known = data.pop("options", {}), [each.name for each in source.options]
    if unknown := [name for name in options if name not in known]:
        listed = ", ".join(known) or "none"
        errors["options"] = [
            f"{source.label} has no option “{unknown[0]:.40}”; there are {listed}."
        ]
    if errors:
        raise Invalid(errors)
    sent = {name: value for name, value in data.items() if name not in absent(source)}
    return with_options(sent, options)
