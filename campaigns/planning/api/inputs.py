"""Input shapes of a definition: types only. `planning.checking` decides what they mean."""

from typing import Any

from rest_framework import serializers

from campaigns.kit.api.inputs import (
    ConfirmInput,
    Flag,
    FormInput,
    Input,
    Name,
    Number,
    Scalar,
    Tags,
    Text,
    Word,
)
from campaigns.models import Campaign
from campaigns.planning import design


class Stated(serializers.DictField):
    """An object whose parts are checked with the definition; null: none."""

    def __init__(self, **named: Any) -> None:
        super().__init__(required=False, allow_null=True, **named)


class CampaignInput(FormInput):
    """A definition, as `checking.check` takes it."""

    form = design.DesignForm
    baseline = Scalar()
    tags = Tags()
    required_checks = Tags()
    kind = Text()
    target = Number()
    targets = serializers.ListField(
        child=Scalar(),
        required=False,
        allow_null=True,
        max_length=50,
        help_text="Several servers to compare side by side: 2 to 6 numbers or names, of one family.",
    )
    parameters = serializers.DictField(required=False)
    factors = serializers.DictField(child=serializers.ListField(child=Scalar()), required=False)
    excluded = serializers.ListField(child=serializers.DictField(child=Scalar()), required=False)
    primary_metric = Text()
    primary_contrast = serializers.DictField(required=False, allow_null=True)
    criterion = Stated(help_text="Conditions that every cell has to keep; locked at launch.")
    roles = Stated(
        help_text="Factors that are load although the kind does not declare it; locked at launch."
    )
    search = serializers.DictField(
        required=False,
        allow_null=True,
        help_text="A search for capacity: load, first, largest, lowest, most_runs, most_failed, person.",
    )
    hard_to_change = serializers.ListField(
        child=serializers.CharField(max_length=80),
        required=False,
        allow_null=True,
        max_length=50,
        help_text="Factors that are changed as seldom as possible; null: as the settings say.",
    )


ANYWAY = "Launch although the targets were asked and lack something."


class NewCampaignInput(CampaignInput):
    """A definition that may be launched at once."""

    launch = Flag(default=False)
    confirm_target = Name()
    anyway = Flag(default=False, help_text=ANYWAY)
    team = Name()


class LaunchInput(ConfirmInput):
    """How a draft is launched."""

    anyway = Flag(default=False, help_text=ANYWAY)


class ExtendInput(ConfirmInput):
    """By how many repetitions a campaign is extended."""

    repetitions = serializers.IntegerField(min_value=1, max_value=design.MOST_REPETITIONS)


class AmendInput(ConfirmInput, FormInput):
    """Locked fields as a definition has them, and why they are changed."""

    form = design.DesignForm
    without = tuple(name for name, field in design.FIELDS.items() if not field.locked)
    reason = Text()
    primary_metric = Text()
    primary_contrast = serializers.DictField(required=False, allow_null=True)
    criterion = Stated(help_text="The whole criterion; {} or null: none any more.")
    roles = Stated(help_text="New roles by factor; of other factors they stay.")


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
