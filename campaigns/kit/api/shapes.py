"""The shapes of answers that are computed, for the OpenAPI document and for `?fields=`."""

from typing import Any

from rest_framework import serializers

from campaigns.kit.api.selection import Selectable
from campaigns.models import Campaign, Run, Scope


class CampaignName(serializers.Serializer[Any]):
    """A campaign by primary key and name; `page` is for people."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    url = serializers.URLField()
    page = serializers.URLField()


ATTEMPT_FIELDS = (
    *("number", "state", "phase", "reason", "worker", "host", "queued_at", "claimed_at"),
    *("measure_started_at", "measure_finished_at", "finished_at", "units_done", "units_failed"),
)
"""What every answer tells of an attempt."""


class Part(serializers.Serializer[Any]):
    """A part of an answer, always whole."""


def text(**named: Any) -> serializers.CharField:
    """Text that may be empty."""
    return serializers.CharField(allow_blank=True, **named)


class TargetName(Part):
    """A target by primary key and name."""

    id = serializers.IntegerField()
    name = serializers.CharField()


class CellOutput(Selectable):
    """One combination of levels. `position`: from 1; `levels`: by name of the factor."""

    position = serializers.IntegerField()
    levels = serializers.DictField(child=serializers.JSONField(), source="levels_by_factor")


class CellName(Part):
    """A cell by position and levels."""

    position = serializers.IntegerField()
    levels = serializers.DictField(child=serializers.JSONField())


class RunCounts(Part):
    """How many runs are in which state, without try-outs."""

    total = serializers.IntegerField()
    planned = serializers.IntegerField()
    running = serializers.IntegerField()
    done = serializers.IntegerField()
    failed = serializers.IntegerField()
    void = serializers.IntegerField()
    cancelled = serializers.IntegerField()


class CampaignLinks(Part):
    """Where more is to be found; `page` is for people."""

    self = serializers.URLField()
    runs = serializers.URLField()
    page = serializers.URLField()


class EnvironmentChange(Part):
    """A fact that was not the same in all runs."""

    side = serializers.CharField()
    name = serializers.CharField()
    before = text()
    after = text()
    last_run_before = serializers.IntegerField()
    first_run_after = serializers.IntegerField()


class AmendmentOutput(Part):
    """What was changed after launch, in words."""

    label = serializers.CharField()
    before = text()
    after = text()
    by = serializers.CharField()
    at = serializers.DateTimeField()
    reason = text()


class FindingEntry(Part):
    """What the statistics say. `data_hash`: of what it was computed from; `versions`: by what."""

    result = serializers.DictField(child=serializers.JSONField())
    data_hash = serializers.CharField()
    versions = serializers.DictField(child=serializers.JSONField())
    computed_at = serializers.DateTimeField()


class PlannedRun(Part):
    """A run of a plan."""

    position = serializers.IntegerField()
    cell = serializers.IntegerField()
    block = serializers.IntegerField()
    purpose = serializers.ChoiceField(choices=Run.Purpose.choices)


class Remark(Part):
    """What there is to be told of a plan."""

    tone = serializers.ChoiceField(choices=["pass", "warn", "info"])
    text = serializers.CharField()


class PreviewOutput(Part):
    """What a definition would do. `seconds`: expected, of all runs together."""

    order = serializers.ChoiceField(choices=Campaign.Order.choices)
    seed = serializers.IntegerField()
    cells = CellName(many=True)
    blocks = serializers.IntegerField()
    measured_runs = serializers.IntegerField()
    warm_up_runs = serializers.IntegerField()
    seconds = serializers.FloatField()
    estimated_from_runs = serializers.IntegerField()
    remarks = Remark(many=True)
    runs = PlannedRun(many=True)


class ChoiceOutput(Part):
    """A value that a parameter may take."""

    value = serializers.JSONField()
    label = text()


class ParameterOutput(Part):
    """A parameter of a kind."""

    name = serializers.CharField()
    label = text()
    type = serializers.ChoiceField(
        choices=["number", "integer", "boolean", "choices", "choice", "url", "text"]
    )
    unit = text()
    required = serializers.BooleanField()
    initial = serializers.JSONField()
    choices = ChoiceOutput(many=True, allow_null=True)
    min = serializers.FloatField(allow_null=True)
    max = serializers.FloatField(allow_null=True)
    max_length = serializers.IntegerField(allow_null=True)
    help = text()
    can_vary = serializers.BooleanField()
    is_work = serializers.BooleanField()
    only_for = serializers.CharField(allow_null=True)


class MetricOutput(Part):
    """What a kind measures."""

    name = serializers.CharField()
    label = serializers.CharField()
    unit = text()
    lower_is_better = serializers.BooleanField(allow_null=True)
    primary = serializers.BooleanField()


class PresetOutput(Part):
    """Values of parameters to begin with."""

    name = serializers.CharField()
    label = serializers.CharField()
    parameters = serializers.DictField(child=serializers.JSONField())
    factors = serializers.DictField(child=serializers.ListField(child=serializers.CharField()))


class KindOutput(Selectable):
    """A kind of test: what it asks, takes, varies and measures."""

    kind = serializers.CharField()
    label = serializers.CharField()
    question = serializers.CharField()
    summary = serializers.CharField()
    families = serializers.ListField(child=serializers.CharField())
    executable = serializers.BooleanField()
    parameters = ParameterOutput(many=True)
    factors = serializers.ListField(child=serializers.CharField())
    presets = PresetOutput(many=True)
    metrics = MetricOutput(many=True)
    url = serializers.URLField()
    schema_url = serializers.URLField()


class TryOutOutput(Part):
    """A try-out that waits or is on."""

    campaign = serializers.IntegerField()
    name = serializers.CharField()
    position = serializers.IntegerField()
    on = serializers.BooleanField()


class WaitingOutput(Part):
    """A campaign in a queue; times in seconds, null where nobody knows."""

    place = serializers.IntegerField()
    campaign = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=Campaign.State.choices)
    target = serializers.CharField()
    runs_left = serializers.IntegerField()
    seconds_left = serializers.FloatField(allow_null=True)
    begins_in_seconds = serializers.FloatField(allow_null=True)
    run_on = serializers.IntegerField(allow_null=True)
    why = serializers.CharField(allow_null=True)
    url = serializers.URLField()


class QueueOutput(Selectable):
    """Everybody who wants one server, and who holds it."""

    address = serializers.CharField()
    targets = TargetName(many=True)
    held_by = serializers.CharField(allow_null=True)
    holder = serializers.IntegerField(allow_null=True)
    pools_without_worker = serializers.ListField(child=serializers.CharField())
    try_outs = TryOutOutput(many=True)
    waiting = WaitingOutput(many=True)


class WhoAmIOutput(Selectable):
    """Who asks. `token` and `expires_at` are null for a session; `now`: the database's clock."""

    user = serializers.CharField()
    token = serializers.CharField(allow_null=True)
    scopes = serializers.ListField(child=serializers.ChoiceField(choices=Scope.choices))
    expires_at = serializers.DateTimeField(allow_null=True)
    version = serializers.CharField()
    now = serializers.DateTimeField()


class PercentileOutput(Part):
    """A percentile; null with what it `needs` where there are too few values for it."""

    label = serializers.CharField()
    share = serializers.FloatField()
    value = serializers.IntegerField(allow_null=True)
    needs = text()


class DistributionSummary(Part):
    """Of all samples of one attempt, each in the `unit` of the distribution; null without any."""

    minimum = serializers.IntegerField(allow_null=True)
    maximum = serializers.IntegerField(allow_null=True)
    mean = serializers.FloatField(allow_null=True)
    percentiles = PercentileOutput(many=True)
