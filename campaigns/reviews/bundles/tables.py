"""Tables of a bundle, in the order in which their rows can be loaded."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from typing import Any, cast

from django.contrib.auth.models import User
from django.db.models import Field, Model, Q, QuerySet

from campaigns.kit.mappings import JsonObject
from campaigns.models import (
    Amendment,
    Attempt,
    AttemptOutput,
    Binding,
    Block,
    Campaign,
    CampaignTarget,
    Cell,
    DeclaredMetric,
    Distribution,
    EffectiveSetting,
    EnvironmentFact,
    Exclusion,
    Factor,
    Finding,
    Generator,
    Level,
    LogLine,
    ManualStep,
    Measurement,
    MetricOfValues,
    Phase,
    Program,
    Proof,
    RawSamples,
    Run,
    Series,
    Session,
    Setting,
    StoredMetric,
    Target,
    Team,
    Watched,
    WatchedEvent,
    WatchedSeries,
    WatchedSummary,
)

CHUNK = 500


@dataclass(frozen=True, slots=True)
class Table:
    """The rows of one model that belong to a campaign.

    only: the fields in the bundle, all if empty; without: the fields that are left out.
    chunk: the number of rows in memory at a time. of_before: returns a row of an earlier version with today's fields.
    new: bundles that were written before it lack its file. joined: what stands in a row
    instead of a key, by its name there: the path to it. order: of the rows. save: stores rows of the model.
    """

    name: str
    model: type[Model]
    rows: Callable[[Campaign], QuerySet[Any]]
    only: Sequence[str] = ()
    without: Sequence[str] = ()
    chunk: int = CHUNK
    new: bool = False
    of_before: Callable[[JsonObject], JsonObject] = dict
    joined: Mapping[str, str] = field(default_factory=dict)
    order: Sequence[str] = ("pk",)
    make: Callable[..., Model] | None = None
    save: Callable[[Sequence[Any]], object] | None = None

    @property
    def file(self) -> str:
        """Return the name of the file in the folder of the campaign: one JSON object per line."""
        return f"rows/{self.name}.ndjson"

    @property
    def fields(self) -> "dict[str, tuple[str, Field[Any, Any]]]":
        """Return the columns that are in the bundle by their names there, each with the path to it."""
        columns = [field for field in self.model._meta.concrete_fields if field.column]
        own: dict[str, tuple[str, Field[Any, Any]]] = {
            field.attname: (field.attname, field)
            for field in columns
            if (not self.only or field.attname in self.only) and field.attname not in self.without
        }
        return own | {name: (path, self._field(path)) for name, path in self.joined.items()}

    def _field(self, path: str) -> "Field[Any, Any]":
        key, name = path.split("__")
        model = cast("type[Model]", self.model._meta.get_field(key).related_model)
        return cast("Field[Any, Any]", model._meta.get_field(name))


def _measurement(
    metric: str = "",
    unit: str = "",
    lower_is_better: bool | None = None,
    fidelity: str = Campaign.Fidelity.RAW.value,
    **values: Any,
) -> Measurement:
    """Return a measurement with a metric that is not stored yet."""
    return Measurement(
        metric=StoredMetric(
            name=metric, unit=unit, lower_is_better=lower_is_better, fidelity=fidelity
        ),
        **values,
    )


def _save_measurements(rows: Sequence[Measurement]) -> None:
    metrics = [
        MetricOfValues(row.metric.name, row.unit, row.lower_is_better, row.fidelity) for row in rows
    ]
    keys = StoredMetric.objects.keys_of(metrics)
    for row, metric in zip(rows, metrics, strict=True):
        row.metric_id = keys[metric]
    Measurement.objects.bulk_create(rows)


def _with_role(row: JsonObject) -> JsonObject:
    """Return a factor with its role: up to 0.1.0 it only said whether it is work."""
    if "is_work" not in row:
        return row
    rest = {name: value for name, value in row.items() if name != "is_work"}
    return {**rest, "role": Factor.Role.WORK.value if row["is_work"] else ""}


def _before(**names: str) -> Callable[[JsonObject], JsonObject]:
    """Return a function that gives the fields of a row the names of today. names: those of today by the earlier ones."""

    def renamed(row: JsonObject) -> JsonObject:
        return {names.get(name, name): value for name, value in row.items()}

    return renamed


def _through(path: str, model: type[Model]) -> Callable[[Campaign], QuerySet[Any]]:
    def rows(campaign: Campaign) -> QuerySet[Any]:
        return model._default_manager.filter(**{path: campaign})

    return rows


def _users(campaign: Campaign) -> QuerySet[User]:
    """Return the users who are referenced by rows of the bundle."""
    requested = (
        campaign.amendments.values_list("user", flat=True),
        campaign.sessions.values_list("user", flat=True),
        Exclusion.objects.filter(run__campaign=campaign).values_list("user", flat=True),
        campaign.manual_steps.values_list("done_by", flat=True),
    )
    known = {key for key in (*chain(*requested), campaign.author_id) if key is not None}
    return User.objects.filter(pk__in=known)


def _settings(campaign: Campaign) -> QuerySet[Setting]:
    names = campaign.factors.values_list("name", flat=True)
    requested = campaign.manual_steps.exclude(setting=None).values_list("setting", flat=True)
    of_target = Setting.objects.filter(target__in=Target.objects.filter(_of(campaign)))
    return of_target.filter(name__in=names) | of_target.filter(pk__in=requested)


def _of(campaign: Campaign) -> Q:
    """Return the condition on the targets of a campaign."""
    return Q(campaign=campaign.pk) | Q(places__campaign=campaign.pk)


def _cell_levels(campaign: Campaign) -> QuerySet[Any]:
    return Cell.levels.through._default_manager.filter(cell__campaign=campaign)


RUN, ATTEMPT = "run__campaign", "attempt__run__campaign"
TABLES: Sequence[Table] = (
    Table(
        "team",
        Team,
        lambda campaign: Team.objects.filter(campaign=campaign.pk),
        only=("id", "name"),
    ),
    Table("user", User, _users, only=("id", "username")),
    Table(
        "target",
        Target,
        lambda campaign: Target.objects.filter(_of(campaign)).distinct(),
        only=(
            *("id", "team_id", "name", "family", "base_url", "address", "verify_tls", "hardware"),
            *(
                "runs_on",
                "is_dedicated",
                "is_production",
                "max_concurrency",
                "max_requests_per_second",
            ),
        ),
    ),
    Table(
        "setting",
        Setting,
        _settings,
        only=("id", "target_id", "name", "label", "unit", "type", "hard_to_change", "is_build"),
    ),
    Table(
        "campaign",
        Campaign,
        lambda campaign: Campaign.objects.filter(pk=campaign.pk),
        without=("clone_of_id", "template_id", "line_id", "external_id"),
    ),
    Table(
        "program",
        Program,
        lambda campaign: Program.objects.filter(kind=campaign.kind),
        only=("id", "team_id", "name", "version", "kind", "state", "definition", "published_at"),
        new=True,
    ),
    Table(
        "campaign_target",
        CampaignTarget,
        _through("campaign", CampaignTarget),
        without=("machine",),  # IP addresses of a network that the reader is not in
        new=True,
    ),
    Table("factor", Factor, _through("campaign", Factor), of_before=_with_role),
    Table("level", Level, _through("factor__campaign", Level)),
    Table("cell", Cell, _through("campaign", Cell)),
    Table("cell_level", Cell.levels.through, _cell_levels),
    Table("metric", DeclaredMetric, _through("campaign", DeclaredMetric)),
    Table("session", Session, _through("campaign", Session)),
    Table("block", Block, _through("campaign", Block)),
    Table("run", Run, _through("campaign", Run)),
    Table("exclusion", Exclusion, _through(RUN, Exclusion)),
    Table("amendment", Amendment, _through("campaign", Amendment)),
    Table(
        "hand_request",  # its name in bundles of all versions
        ManualStep,
        lambda campaign: campaign.manual_steps.filter(step=None),
        without=("step_id",),
    ),
    Table("attempt", Attempt, _through(RUN, Attempt), of_before=_before(stand_in="simulator")),
    Table(
        "measurement",
        Measurement,
        _through(ATTEMPT, Measurement),
        without=("metric_id",),
        joined={
            "metric": "metric__name",
            **{name: f"metric__{name}" for name in ("unit", "lower_is_better", "fidelity")},
        },
        order=("attempt_id", "metric__name"),
        make=_measurement,
        save=_save_measurements,
    ),
    Table("distribution", Distribution, _through(ATTEMPT, Distribution), chunk=50),
    Table("series", Series, _through(ATTEMPT, Series), chunk=20),
    Table("raw_samples", RawSamples, _through(ATTEMPT, RawSamples), chunk=1),
    Table("output", AttemptOutput, _through(ATTEMPT, AttemptOutput), chunk=1, new=True),
    Table("phase", Phase, _through(ATTEMPT, Phase)),
    Table("proof", Proof, _through(ATTEMPT, Proof)),
    Table("effective_setting", EffectiveSetting, _through(ATTEMPT, EffectiveSetting)),
    Table("environment_fact", EnvironmentFact, _through(ATTEMPT, EnvironmentFact)),
    Table(
        "generator",
        Generator,
        _through(ATTEMPT, Generator),
        without=("request", "result", "samples"),
    ),
    Table("watched", Watched, _through(ATTEMPT, Watched), new=True),
    Table(
        "watched_series",
        WatchedSeries,
        _through(f"watched__{ATTEMPT}", WatchedSeries),
        chunk=100,
        new=True,
    ),
    Table("watched_summary", WatchedSummary, _through(ATTEMPT, WatchedSummary), new=True),
    Table("watched_event", WatchedEvent, _through(ATTEMPT, WatchedEvent), new=True),
    Table("binding", Binding, _through(ATTEMPT, Binding), chunk=100, new=True),
    Table("log", LogLine, _through("campaign", LogLine)),
)
FINDINGS = Table(
    "finding",
    Finding,
    lambda campaign: campaign.findings.exclude(name__startswith="brief:"),
    only=("name", "result", "data_hash", "versions"),
    chunk=1,
)
"""Findings are recomputed, not loaded; those for pages (`brief:`) are left out."""
