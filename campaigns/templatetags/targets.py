"""Parts of the page of a target that come from higher rooms."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.template import Context, Library

from campaigns.execution.queues import Queue, queue_of
from campaigns.kit.pages.people import may
from campaigns.models import Campaign, Target
from campaigns.planning.fitness.checks import CHECKS
from campaigns.planning.fitness.known import Fitness, fitness_of
from campaigns.planning.pages.calibrating import KindNoise, noise_of_kinds
from campaigns.targets.rights import Held, held_of
from campaigns.targets.watches.expected import asked_on

register = Library()


@register.simple_tag(takes_context=True)
def queue(context: Context, target: Target) -> Queue:
    """Return the queue of a target's server, as the user may see it."""
    return queue_of(target, may(context["request"]))


@register.simple_tag
def rights(target: Target) -> Held:
    """Return what is confirmed of the rights of a target's login."""
    return held_of(target)


@dataclass(frozen=True, slots=True)
class FitnessPanel:
    """What each check says of a target, and what the form that makes one asks for."""

    rows: Sequence[Fitness]
    asks_directory: bool
    asks_scale: bool


@register.simple_tag
def fitness(target: Target) -> FitnessPanel:
    """Return what each check says of a target."""
    rows = fitness_of(target)
    free = {name for row in rows if row.can_be_made for name in CHECKS[row.name].free}
    return FitnessPanel(rows, "directory" in free, "scale" in free)


@register.simple_tag
def noise(target: Target) -> Sequence[KindNoise]:
    """Return the known run-to-run variation of each kind on a target."""
    return noise_of_kinds(target)


@register.simple_tag
def asks_watches(campaign: Campaign) -> bool:
    """Return whether a watch of a campaign's targets knows what will happen there."""
    return any(asked_on(target) for target in campaign.targets)
