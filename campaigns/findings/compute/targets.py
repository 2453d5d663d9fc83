"""Several targets of a campaign side by side: how far each took part, and what else differs between them.

A comparison of targets is one of these machines with all that is installed on them. So every recorded fact that
differs stands beside it.
"""

import re
from collections.abc import Mapping, Sequence
from itertools import combinations

from django.db.models import prefetch_related_objects

from campaigns.findings.values import (
    FactOnBoth,
    QuietMeanwhile,
    TargetPair,
    TargetPart,
    TargetsTold,
)
from campaigns.kinds.base.quiet import IS_QUIET, QUIET
from campaigns.kinds.base.servers import UNKNOWN
from campaigns.kinds.base.values import TARGET
from campaigns.models import Attempt, Campaign, EnvironmentFact, Proof, Run, Target
from campaigns.results.environment import environment_of
from campaigns.targets.machines import shared_machines

HARDWARE_FACT = "hardware and network"
HARDWARE = re.compile(
    r"(?<![a-z])(v?cpu|core|memory|ram|disk|hardware|machine|processor)s?(?![a-z])", re.IGNORECASE
)
"""Words in the names of facts that are told first; whole ones, since “pulpcore” and “program” are software."""


def targets_told(campaign: Campaign, stretches: Mapping[str, int]) -> TargetsTold | None:
    """Return what is told of the targets of a campaign; None where it has one.

    stretches: the number of environments of each.
    """
    prefetch_related_objects([campaign], "places__target")
    places = list(campaign.places.all())
    if not places:
        return None
    took_part: dict[str, set[int]] = {place.level: set() for place in places}
    planned: dict[str, set[int]] = {place.level: set() for place in places}
    levels = {place.target_id: place.level for place in places}
    for target, block, state in campaign.runs.filter(purpose=Run.Purpose.MEASURED).values_list(
        "cell__target", "block", "state"
    ):
        if target not in levels:
            continue
        planned[levels[target]].add(block)
        if state == Run.State.DONE:
            took_part[levels[target]].add(block)
    facts = _facts(campaign, [place.target for place in places])
    return TargetsTold(
        factor=TARGET,
        targets=[
            TargetPart(
                level=place.level,
                took_part=len(took_part[place.level]),
                blocks=len(planned[place.level]),
                sessions=stretches.get(place.target.name, 1),
                out=place.out_reason if place.out_at else "",
            )
            for place in places
        ],
        pairs=[
            TargetPair(
                baseline=one.level,
                candidate=other.level,
                together=len(took_part[one.level] & took_part[other.level]),
                differs=differing_facts(facts[one.target_id], facts[other.target_id]),
            )
            for one, other in combinations(places, 2)
        ],
        shared=shared_machines(
            [place.target for place in places], {place.target_id: place.machine for place in places}
        ),
        quiet=_quiet(campaign, levels),
    )


def _quiet(campaign: Campaign, levels: Mapping[int, str]) -> list[QuietMeanwhile]:
    """Return the targets that were asked whether they do anything while others were measured."""
    named = {target.name: levels[target.pk] for target in Target.objects.filter(pk__in=levels)}
    proofs = Proof.objects.filter(
        attempt__run__campaign=campaign,
        attempt__run__purpose=Run.Purpose.MEASURED,
        attempt__state=Attempt.State.ACCEPTED,
        step=Proof.Step.RESET,
        name__startswith=QUIET,
    )
    counts: dict[str, list[str]] = {}
    for name, measured in proofs.order_by("pk").values_list("name", "measured"):
        level = named.get(name.removeprefix(QUIET), name.removeprefix(QUIET))
        counts.setdefault(level, []).append(str(measured))
    return [
        QuietMeanwhile(
            level=level,
            unproved=sum(text != IS_QUIET for text in texts),
            of=len(texts),
            why=next((text for text in texts if text != IS_QUIET), ""),
        )
        for level, texts in counts.items()
    ]


def _facts(campaign: Campaign, targets: Sequence[Target]) -> dict[int, dict[str, str]]:
    """Return the facts of each target by its key; all values of one that changed."""
    named = {target.name: target.pk for target in targets}
    values: dict[int, dict[str, list[str]]] = {target.pk: {} for target in targets}
    for fact in environment_of(campaign):
        known = fact.target in named  # a target may have another name since
        if known and fact.side == EnvironmentFact.Side.TARGET and fact.value != UNKNOWN:
            values[named[fact.target]].setdefault(fact.name, []).append(fact.value)
    return {target.pk: facts_as_text(values[target.pk], target) for target in targets}


def facts_as_text(values: Mapping[str, Sequence[str]], target: Target) -> dict[str, str]:
    """Return the facts of a target with all values that each had, and the hardware that its owner has typed in."""
    known = {name: ", then ".join(each) for name, each in values.items() if [*each] != [UNKNOWN]}
    if target.hardware and HARDWARE_FACT not in known:  # not every kind records it
        known[HARDWARE_FACT] = target.hardware
    return known


def differing_facts(one: Mapping[str, str], other: Mapping[str, str]) -> list[FactOnBoth]:
    """Return the facts that both have and that differ, and those that one of them lacks; hardware first."""
    names = [name for name in dict.fromkeys([*one, *other]) if one.get(name) != other.get(name)]
    names.sort(key=lambda name: not is_hardware(name))
    return [FactOnBoth(name, one.get(name, ""), other.get(name, "")) for name in names]


def is_hardware(name: str) -> bool:
    """Return whether a fact of this name tells of hardware."""
    return HARDWARE.search(name) is not None
