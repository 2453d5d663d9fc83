"""List how campaigns differ besides their levels: settings, target, environment, design."""

from collections.abc import Sequence
from datetime import datetime
from typing import Literal

from campaigns.findings.compared import Side
from campaigns.findings.compute.comparability import NOT_SET, fixed_settings
from campaigns.findings.values import MADE, NOT_RECORDED, Cell, Difference
from campaigns.kinds.base import SIMULATOR
from campaigns.kit.network import normalised_address
from campaigns.models import EnvironmentFact

SIDES = {
    EnvironmentFact.Side.TARGET.value: "target",
    EnvironmentFact.Side.GENERATOR.value: "generator",
}


def differences_of(sides: Sequence[Side]) -> list[Difference]:
    """Return every fact that is known of one of the campaigns, possible causes first."""
    varied = {name for side in sides for name in side.factors}
    settings = [fixed_settings(side, varied) for side in sides]
    results = [
        _row("setting", name, [each[name].text if name in each else NOT_SET for each in settings])
        for name in dict.fromkeys(name for each in settings for name in each)
    ]
    results += [
        _row("target", "target", [_target(side) for side in sides]),
        _row("target", "address", [_address(side) for side in sides]),
        _row("target", "simulator", [", ".join(side.simulators) or "none" for side in sides]),
    ]
    named = dict.fromkeys(fact for side in sides for fact in side.facts if fact[1] != SIMULATOR)
    results += [_fact(sides, fact) for fact in named]
    results += [_waiting(sides), _disturbed(sides)]
    return results + _design(sides)


def _waiting(sides: Sequence[Side]) -> Difference:
    """Return in how many runs others kept the generator waiting: a cause, whatever was recorded of the other campaign."""
    counts = [sum(cell.counts.starved for cell in _cells(side)) for side in sides]
    values = [_of_runs(side, count) for side, count in zip(sides, counts, strict=True)]
    differs = [
        value != values[0] and (bool(count or counts[0]) or NOT_RECORDED not in (value, values[0]))
        for value, count in zip(values, counts, strict=True)
    ]
    return Difference(
        group="generator",
        label="other programs kept the load generator waiting",
        values=tuple(values),
        differs=tuple(differs),
    )


def _disturbed(sides: Sequence[Side]) -> Difference:
    """Return in how many runs something may have disturbed the generator."""
    counts = [sum(cell.counts.warned for cell in _cells(side)) for side in sides]
    values = [_of_runs(side, count) for side, count in zip(sides, counts, strict=True)]
    return _row("generator", "the load generator was warned of", values, weight="design")


def _cells(side: Side) -> Sequence[Cell]:
    return side.cells.cells if side.cells else ()


def _of_runs(side: Side, count: int) -> str:
    """Write in how many of a campaign's runs; that is not recorded of runs that were imported."""
    if side.campaign.source or not side.cells:
        return NOT_RECORDED
    runs = sum(sum(cell.counts.states.get(each, 0) for each in MADE) for cell in _cells(side))
    return f"in {count} of {runs} runs" if count else "in none"


def _design(sides: Sequence[Side]) -> list[Difference]:
    campaigns = [side.campaign for side in sides]
    rows = {
        "order of runs": [each.get_order_display().lower() for each in campaigns],
        "warm-ups": [str(each.warm_ups) for each in campaigns],
        "cool-down": [f"{each.cool_down_seconds:g} s" for each in campaigns],
        "sessions": [str(side.sessions) for side in sides],
        "fidelity": [
            f"import: {each.fidelity} values" if each.source else "measured here"
            for each in campaigns
        ],
    }
    when = {
        "first run": [_instant(side.first_run) for side in sides],
        "last run": [_instant(side.last_run) for side in sides],
    }
    return [
        *(_row("design", label, values, weight="design") for label, values in rows.items()),
        *(_row("time", label, values, weight="time") for label, values in when.items()),
    ]


def _fact(sides: Sequence[Side], fact: tuple[str, str]) -> Difference:
    """Return one fact over the campaigns; a value that was not recorded differs from none."""
    seen = [side.facts.get(fact, ()) for side in sides]
    values = [" / ".join(values) or NOT_RECORDED for values in seen]
    return Difference(
        group=SIDES.get(fact[0], fact[0]),
        label=fact[1],
        values=tuple(values),
        differs=tuple(bool(values and seen[0]) and set(values) != set(seen[0]) for values in seen),
        changed=tuple(len(values) > 1 for values in seen),
    )


def _row(
    group: str,
    label: str,
    values: Sequence[str],
    *,
    weight: Literal["cause", "design", "time"] = "cause",
) -> Difference:
    return Difference(
        group=group,
        label=label,
        values=tuple(values),
        differs=tuple(value != values[0] for value in values),
        weight=weight,
    )


def _target(side: Side) -> str:
    return side.campaign.target.name if side.campaign.target else "none"


def _address(side: Side) -> str:
    return normalised_address(side.campaign.target.base_url) if side.campaign.target else "none"


def _instant(moment: datetime | None) -> str:
    return f"{moment:%Y-%m-%d %H:%M} UTC" if moment else "not known"
