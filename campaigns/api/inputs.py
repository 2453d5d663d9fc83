"""The shape of what comes in: types only. What it means, `campaigns.definition` decides."""

from collections.abc import Mapping
from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from campaigns.definition.forms import MOST_REPETITIONS
from campaigns.models import Campaign
from campaigns.queries.compare_choice import MOST_CAMPAIGNS, MOST_CELLS
from campaigns.queries.exports import FORMATS

PERCENTILE = r"^[0-9]{1,2}(\.[0-9]{1,3})?$"
NO_PERCENTILE = "Give numbers from 0 to less than 100, with at most three decimals."
CELL = r"^[1-9][0-9]{0,8}:[1-9][0-9]{0,8}$"
NO_CELL = "Give a campaign and the position of its cell, such as 12:1."
TAGS = {"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}


@extend_schema_field({"type": ["string", "number"]})
class Text(serializers.CharField):
    """Text, or a number that is taken as text; length and content are checked later."""

    def __init__(self, **named: Any) -> None:
        super().__init__(
            required=False, allow_blank=True, allow_null=True, trim_whitespace=False, **named
        )


@extend_schema_field({"type": ["string", "number"], "maxLength": 200})
class Name(serializers.CharField):
    """A name that is compared as it was sent; empty where it was not."""

    def __init__(self) -> None:
        super().__init__(
            required=False, default="", allow_blank=True, trim_whitespace=False, max_length=200
        )


@extend_schema_field({"type": ["string", "number", "boolean"]})
class Scalar(serializers.Field[Any, Any, Any, Any]):
    """One value: text, a number, true or false."""

    default_error_messages = {"many": "Give one value, not a list or an object."}

    def __init__(self, **named: Any) -> None:
        super().__init__(required=False, allow_null=True, **named)

    def to_internal_value(self, data: Any) -> Any:
        """Refuse what holds further values."""
        if isinstance(data, list | dict):
            self.fail("many")
        return data


@extend_schema_field({"type": ["string", "number"]})
class Number(Scalar):
    """A number; text that looks like one is read later."""

    default_error_messages = {"boolean": "Give a number, not true or false."}

    def to_internal_value(self, data: Any) -> Any:
        """Refuse truth values, which Python takes for numbers."""
        if isinstance(data, bool):
            self.fail("boolean")
        return super().to_internal_value(data)


class Flag(serializers.BooleanField):
    """true or false: JSON's own in a body, and these words in a query. Not 0, 1, "yes" or "on"."""

    default_error_messages = {"invalid": "Give true or false."}

    def __init__(self, **named: Any) -> None:
        super().__init__(required=False, **named)

    def to_internal_value(self, data: Any) -> Any:
        """Take what the OpenAPI document calls a boolean, and Python's way to write it in a query."""
        if self.context.get("query"):
            data = {"true": True, "false": False}.get(str(data).lower(), data)
        if not isinstance(data, bool):
            self.fail("invalid", input=data)
        return data


@extend_schema_field(TAGS)
class Tags(serializers.Field[Any, Any, Any, Any]):
    """A list of words, or one text with commas."""

    default_error_messages = {"shape": "Give a list of words, or one text with commas."}

    def __init__(self) -> None:
        super().__init__(required=False)

    def to_internal_value(self, data: Any) -> Any:
        """Refuse anything else."""
        texts = data if isinstance(data, list) else [data]
        if not all(isinstance(text, str) for text in texts):
            self.fail("shape")
        return data


@extend_schema_field({"type": "string", "minLength": 1, "pattern": r"^[^\u0000\s]+$"})
class Word(serializers.CharField):
    """A name in a query."""

    def __init__(self, *, max_length: int) -> None:
        super().__init__(required=False, max_length=max_length)


class Percentiles(serializers.ListField):
    """Numbers from 0 to less than 100, with commas between them."""

    def __init__(self) -> None:
        number = serializers.RegexField(PERCENTILE, error_messages={"invalid": NO_PERCENTILE})
        super().__init__(child=number, max_length=20, required=False)

    def to_internal_value(self, data: Any) -> list[str]:
        """Take them apart."""
        found: list[str] = super().to_internal_value(str(data).split(","))
        return found


class Input(serializers.Serializer[Any]):
    """Refuses names that it does not know, so that a slip of the pen does not pass unseen."""

    def to_internal_value(self, data: Any) -> Any:
        """Check names and types together."""
        errors: dict[str, Any] = {}
        if isinstance(data, Mapping):
            known = ", ".join(self.fields)
            errors = {
                str(name)[:100]: [f"There is no field of that name; there are {known}."]
                for name in data
                if name not in self.fields
            }
        try:
            value = super().to_internal_value(data)
        except serializers.ValidationError as error:
            detail = error.detail if isinstance(error.detail, dict) else {}
            raise serializers.ValidationError(errors | detail) from None
        if errors:
            raise serializers.ValidationError(errors)
        return value


class CampaignInput(Input):
    """A definition, as `checking.check` takes it."""

    question = Text()
    name = Text()
    kind = Text()
    target = Number()
    parameters = serializers.DictField(required=False)
    factors = serializers.DictField(child=serializers.ListField(child=Scalar()), required=False)
    excluded = serializers.ListField(child=serializers.DictField(child=Scalar()), required=False)
    order = Text()
    paired_factor = Text()
    baseline = Scalar()
    repetitions = Number()
    warm_ups = Number()
    cool_down_seconds = Number()
    run_limit_seconds = Number()
    pool = Text()
    time_budget_seconds = Number()
    max_failed_percent = Number()
    max_consecutive_failures = Number()
    seed = Number()
    primary_metric = Text()
    primary_contrast = serializers.DictField(required=False, allow_null=True)
    smallest_effect_percent = Number()
    margin_percent = Number()
    failed_limit_percent = Number()
    stop_rule = Text()
    stop_width_percent = Number()
    stop_most = Number()
    hard_to_change = serializers.ListField(
        child=serializers.CharField(max_length=80),
        required=False,
        allow_null=True,
        max_length=50,
        help_text="Factors that are changed as seldom as possible; null: as the settings say.",
    )
    settings_afterwards = Text()
    tags = Tags()


class NewCampaignInput(CampaignInput):
    """A definition that may be launched at once."""

    launch = Flag(default=False)
    confirm_target = Name()
    team = Name()


class TargetInput(Input):
    """A target, as `servers.save_target` takes it."""

    name = Text()
    family = Text()
    base_url = Text()
    username = Text()
    password = Text()
    is_production = Flag()
    max_concurrency = Number()
    max_requests_per_second = Number()
    quiet_hours = Text()
    quiet_zone = Text()
    is_dedicated = Flag()
    hardware = Text()
    ca_bundle = Text()
    skip_verification = Flag()
    client_certificate = Text()
    client_key = Text()
    notes = Text()
    confirm_address = Flag()


class NewTargetInput(TargetInput):
    """A target of a team: by number or name; needed of those alone who operate in several."""

    team = Name()


class EditTargetInput(TargetInput):
    """The fields of a target that change; what is not sent stays."""

    forget_password = Flag()


class CancelInput(Input):
    """Why a campaign is cancelled."""

    reason = serializers.CharField(required=False, allow_blank=True, default="", max_length=1000)


class ConfirmInput(Input):
    """`confirm_target`: the name of a production server, as the one who loads it typed it."""

    confirm_target = Name()


class ExtendInput(ConfirmInput):
    """By how many repetitions a campaign is extended."""

    repetitions = serializers.IntegerField(min_value=1, max_value=MOST_REPETITIONS)


class AmendInput(ConfirmInput):
    """Locked fields as a definition has them, and why they are changed."""

    reason = Text()
    question = Text()
    primary_metric = Text()
    primary_contrast = serializers.DictField(required=False, allow_null=True)
    smallest_effect_percent = Number()
    margin_percent = Number()
    failed_limit_percent = Number()
    stop_rule = Text()
    stop_width_percent = Number()
    stop_most = Number()


class TryInput(ConfirmInput):
    """Which cell is tried: its position, from 1."""

    cell = serializers.IntegerField(min_value=1, max_value=100_000, required=False)


class NoQuery(Input):
    """Nothing is read of the query but `fields`."""


class LaunchQuery(Input):
    """`?launch=true`."""

    launch = Flag(default=False)


class WaitQuery(Input):
    """`wait`: seconds until the answer comes, unless what the client knows changes before."""

    wait = serializers.IntegerField(min_value=1, max_value=30, required=False)
    state = serializers.ChoiceField(choices=Campaign.State.choices, required=False)
    seen = Word(max_length=100)


class ExportQuery(Input):
    """`?format=csv`, `json` or `parquet`."""

    format = serializers.ChoiceField(choices=list(FORMATS), default="json")


class RunQuery(Input):
    """`?trial=true`: the try-out at a position, not the planned run."""

    trial = Flag(default=False)


class PercentilesQuery(RunQuery):
    """`?percentiles=50,99.9`: at most 20, with at most three decimals."""

    percentiles = Percentiles()


class HistoryQuery(Input):
    """Of which metric and cell, and how many values at most."""

    metric = Word(max_length=50)
    cell = serializers.IntegerField(min_value=1, max_value=2**31 - 1, required=False)
    limit = serializers.IntegerField(min_value=1, max_value=10_000, default=1000)


class CompareQuery(Input):
    """`?campaign=1&campaign=2`, or `?cell=1:1&cell=2:1`: cells by campaign and position."""

    campaign = serializers.ListField(
        child=serializers.IntegerField(min_value=1, max_value=2**31 - 1),
        required=False,
        min_length=2,
        max_length=MOST_CAMPAIGNS,
    )
    cell = serializers.ListField(
        child=serializers.RegexField(CELL, error_messages={"invalid": NO_CELL}),
        required=False,
        min_length=2,
        max_length=MOST_CELLS,
    )
    metric = Word(max_length=50)
    format = serializers.ChoiceField(choices=["json", "csv"], default="json")


class ExcludeInput(Input):
    """Which run is taken out of the analysis, and why."""

    run = serializers.IntegerField(min_value=1, max_value=2**31 - 1)
    reason = serializers.CharField(max_length=1000)
