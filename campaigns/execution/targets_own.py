"""What a run does on its target beside its driver: reset commands, settings."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from campaigns.definition.reaching import action_of, apply_of, read_of
from campaigns.drivers.base import Driver, EffectiveSetting, Proof
from campaigns.execution.server_steps import Workbench, reset, seconds_of
from campaigns.execution.set_levels import put_in_force
from campaigns.models import Attempt, Campaign, Run, Setting, Target, TargetStep


@dataclass(frozen=True, slots=True)
class TargetsOwn:
    """`wanted`: values of settings by name; `others`: what the driver is told.

    reset_seconds, apply_seconds: how long they may take.
    """

    wanted: Mapping[str, Any]
    others: dict[str, Any]
    reset_seconds: float
    apply_seconds: float

    @classmethod
    def of(cls, target: Target, driver: Driver, values: Mapping[str, Any]) -> Self:
        """Take the target's part out of the values of a run."""
        known = driver.parameters.base_fields
        wanted = {
            name: value
            for name, value in values.items()
            if name not in known and value not in (None, "")
        }
        settings = Setting.objects.filter(target=target, name__in=list(wanted))
        steps = TargetStep.objects.filter(target=target)
        ready = [action_of(step) for step in steps if step.purpose == TargetStep.Purpose.READY]
        resets = [action_of(step) for step in steps if step.purpose == TargetStep.Purpose.RESET]
        actions = [each for row in settings for each in (apply_of(row), read_of(row), read_of(row))]
        return cls(
            wanted=wanted,
            others={name: value for name, value in values.items() if name in known},
            reset_seconds=seconds_of([*resets, *ready]) if resets else 0.0,
            apply_seconds=seconds_of([*actions, *ready]) if actions else 0.0,
        )

    def seconds(self, phase: str) -> float:
        """How much longer a step of the run may take because of it."""
        return {
            Attempt.Phase.RESET: self.reset_seconds,
            Attempt.Phase.APPLY: self.apply_seconds,
        }.get(Attempt.Phase(phase), 0.0)

    def reset(self, bench: Workbench, run: Run) -> list[Proof]:
        """Do the target's reset commands."""
        return reset(bench, run) if self.reset_seconds or _has_resets(bench) else []

    def apply(self, bench: Workbench, campaign: Campaign) -> list[EffectiveSetting]:
        """Put the settings in force. Raise SettingFailed."""
        return put_in_force(self.wanted, bench, campaign) if self.wanted else []


def _has_resets(bench: Workbench) -> bool:
    """Whether there is one by hand, which takes no time of the run."""
    return bool(bench.steps(TargetStep.Purpose.RESET))
