"""Checks before a launch, as JSON."""

from rest_framework import serializers

from campaigns.kit.api.outputs import Part
from campaigns.planning.launch_checks import Outcome


class LaunchCheckOutput(Part):
    """A check: `name`, the target that it is `of` (empty: the campaign), and in `text` what was found and what to do.

    `required`: nothing is launched where it has failed; else it is a warning.
    """

    name = serializers.CharField()
    of = serializers.CharField()
    outcome = serializers.ChoiceField(choices=[(each.value, each.value) for each in Outcome])
    text = serializers.CharField()
    required = serializers.BooleanField()  # type: ignore[assignment]  # it shadows an option of fields, which none of these has


class LaunchChecksOutput(Part):
    """All checks, and whether none refuses a launch."""

    may_launch = serializers.BooleanField()
    checks = LaunchCheckOutput(many=True)
