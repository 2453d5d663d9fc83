"""The shape of what comes in: types only. What it means, `planning.checking` decides."""

from rest_framework import serializers

from campaigns.kit.api.inputs import (
    ConfirmInput,
    Flag,
    Input,
    Name,
    Number,
    Scalar,
    Tags,
    Text,
    Word,
)
from campaigns.models import Campaign
from campaigns.planning.forms import MOST_REPETITIONS


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


class LaunchQuery(Input):
    """`?launch=true`."""

    launch = Flag(default=False)


class WaitQuery(Input):
    """`wait`: seconds until the answer comes, unless what the client knows changes before."""

    wait = serializers.IntegerField(min_value=1, max_value=30, required=False)
    state = serializers.ChoiceField(choices=Campaign.State.choices, required=False)
    seen = Word(max_length=100)
