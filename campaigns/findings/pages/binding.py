"""The panel of a result on which resource of the target binds."""

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.findings.charts.resources import RunHeat, Strip, run_heat, strips_of
from campaigns.findings.values import BindingFinding
from campaigns.findings.wording.binding import BindingTexts, binding_texts
from campaigns.models import Attempt, Binding, Campaign
from campaigns.planning.raising import Raise, raises_of
from campaigns.results.watched import binding_from
from campaigns.stats.binding import RunBinding, in_front
from campaigns.stats.binding_levels import LevelWord


@dataclass(frozen=True, slots=True)
class BindingPanel:
    """The sentence, the strips under the curve, and the resources of each run. tests: what to raise, to see what it limits."""

    texts: BindingTexts
    strips: Sequence[Strip]
    heat: RunHeat | None
    tests: Sequence[Raise] = ()


def binding_panel(campaign: Campaign, finding: BindingFinding) -> BindingPanel:
    """Return the panel."""
    return BindingPanel(
        binding_texts(finding),
        strips_of(finding),
        run_heat(judged_runs(campaign)),
        tests_of(campaign, finding),
    )


def tests_of(campaign: Campaign, finding: BindingFinding) -> Sequence[Raise]:
    """Return what a clone can raise to test whether what binds is what limits; a queue in front of that is no test of it."""
    levels = [level.binding for group in finding.groups for level in group.cells]
    bound = [each.resource for level in levels for each in in_front(level.bound)[0]]
    return raises_of(
        campaign, bound, none_seen=any(level.word == LevelWord.NONE for level in levels)
    )


def judged_runs(campaign: Campaign) -> list[tuple[int, RunBinding]]:
    """Return position and judgement of each run with an accepted value, in the order in which they were measured."""
    rows = (
        Binding.objects.filter(
            attempt__run__campaign=campaign, attempt__state=Attempt.State.ACCEPTED
        )
        .order_by("attempt__measure_started_at", "attempt__run__position")
        .values_list("attempt__run__position", "result")
    )
    judged = ((position, binding_from(result)) for position, result in rows)
    return [(position, binding) for position, binding in judged if binding is not None]
