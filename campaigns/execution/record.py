"""What is known of an attempt while it goes on."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from campaigns.drivers.base import REFUSED, EffectiveSetting, Measured, ParametersRefused, Proof
from campaigns.results import Outcome


@dataclass(slots=True)
class Record:
    """What is known so far of an attempt; an outcome is made of it wherever it ends."""

    clean_state: Sequence[Proof] = ()
    same_work: Sequence[Proof] = ()
    settings: Sequence[EffectiveSetting] = ()
    measured: Measured | None = None
    steps: dict[str, float] = field(default_factory=dict)
    environment: dict[str, Mapping[str, str]] = field(default_factory=dict)
    environment_after: dict[str, Mapping[str, str]] = field(default_factory=dict)
    facts_unread: str = ""
    started_at: datetime | None = None
    finished_at: datetime | None = None

    def refused(self, error: ParametersRefused, asked: Mapping[str, Any]) -> None:
        """Keep what the target said beside the levels that it said it of; the form shows it there."""
        self.settings = [
            *(setting for setting in self.settings if setting.name not in error.refused),
            *(
                EffectiveSetting(name, asked.get(name), f"{REFUSED}{sentence}", ok=False)
                for name, sentence in error.refused.items()
            ),
        ]

    def outcome(self, state: str, reason: str = "", trace: str = "") -> Outcome:
        """Make the outcome of an attempt that ends now."""
        return Outcome(
            state=state,
            reason=reason,
            traceback=trace,
            clean_state=self.clean_state,
            same_work=self.same_work,
            settings=self.settings,
            measured=self.measured,
            steps=self.steps,
            environment=self.environment,
            environment_after=self.environment_after,
            facts_unread=self.facts_unread,
            measure_started_at=self.started_at,
            measure_finished_at=self.finished_at,
        )
