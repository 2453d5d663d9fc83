"""What REST takes for campaigns; `planning.definition` declares a definition, and `planning.checking` checks it."""

from rest_framework import serializers

from campaigns.kit.api.inputs import ConfirmInput, Flag, Input, Name, StructInput, Text, Word
from campaigns.models import Campaign
from campaigns.planning.amending import AMENDABLE
from campaigns.planning.definition import MOST_REPETITIONS, Definition


class CampaignInput(StructInput):
    """A definition."""

    struct = Definition


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

    repetitions = serializers.IntegerField(min_value=1, max_value=MOST_REPETITIONS)


class AmendInput(ConfirmInput, StructInput):
    """Locked fields as a definition has them, and why they are changed; of factors that are not named the roles stay."""

    struct = Definition
    only = AMENDABLE
    reason = Text()


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
