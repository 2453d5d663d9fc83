"""The panel of a result on which resource of the target binds."""

from collections.abc import Sequence
from dataclasses import dataclass

import msgspec

from campaigns.findings.charts.resources import RunHeat, Strip, run_heat, strips_of
from campaigns.findings.values import BindingFinding
from campaigns.findings.wording.binding import BindingTexts, binding_texts
from campaigns.models import Attempt, Binding, Campaign
from campaigns.stats.binding import RunBinding


@dataclass(frozen=True, slots=True)
class BindingPanel:
    """The sentence, the strips under the curve, and the resources of each run."""

    texts: BindingTexts
    strips: Sequence[Strip]
    heat: RunHeat | None


def binding_panel(campaign: Campaign, finding: BindingFinding) -> BindingPanel:
    """Return the panel."""
    return BindingPanel(binding_texts(finding), strips_of(finding), run_heat(judged_runs(campaign)))


def judged_runs(campaign: Campaign) -> list[tuple[int, RunBinding]]:
    """Return position and judgement of each run with an accepted value, in the order in which they were measured."""
    rows = (
        Binding.objects.filter(
            attempt__run__campaign=campaign, attempt__state=Attempt.State.ACCEPTED
        )
        .order_by("attempt__measure_started_at", "attempt__run__position")
        .values_list("attempt__run__position", "result")
    )
    return [(position, msgspec.convert(result, RunBinding)) for position, result in rows]
