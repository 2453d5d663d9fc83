"""Decide whether cells of two campaigns may be compared, and list what differs.

Another *load* is refused: loads are matched level by level. Another *work* is, too: kind, family of servers, metric, direction, dimension of the unit, every
parameter that says what work is done, and how much of it the proofs counted. Another *setting* or
*environment* is not: people compare campaigns for such a difference, so every verdict names it.
"""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

from campaigns.findings.compared import Side
from campaigns.findings.compute.sameness import Content
from campaigns.findings.compute.targets import differing_facts, is_hardware
from campaigns.findings.values import (
    NOT_RECORDED,
    CapacityOfSetting,
    Cell,
    Differs,
    FactOnBoth,
    Levels,
)
from campaigns.kinds.base import Driver
from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.kit.charts.labels import called, inside, short_labels
from campaigns.kit.numbers import amount, number, share
from campaigns.kit.units import UNITS
from campaigns.models import Factor
from campaigns.planning.configurations import expanded
from campaigns.planning.roles import loads_of, roles_of, work_of
from campaigns.stats.capacity import Held

NOT_SET = "not set"
OTHER_HARDWARE = "other_hardware"
"""Reason to refuse two builds: their targets differ in hardware, too."""
Part = Cell | CapacityOfSetting


@dataclass(frozen=True, slots=True)
class Setting:
    """A value that is compared, and its text, which is not."""

    value: object
    text: str = field(compare=False)


def work_differences(baseline: Side, candidate: Side) -> list[Differs]:
    """Return why no cell of two campaigns may be compared, with both values; empty where some may be."""
    fields = _measure_differences(baseline, candidate)
    if baseline.campaign.kind != candidate.campaign.kind:  # what follows differs of course
        return fields
    varied = {*baseline.factors, *candidate.factors}
    same = any(
        one.is_proved_same(other)
        for one in baseline.contents.values()
        for other in candidate.contents.values()
    )
    if same:  # then each cell shows whether its content is that of the other
        varied |= _addresses(baseline)
    fields += _differences(
        _work_of(baseline, {}, without=varied), _work_of(candidate, {}, without=varied)
    )
    loads = _loads(baseline, candidate)
    fields += _differences(*(_named(side, {}, loads - varied) for side in (baseline, candidate)))
    work = _work_names(baseline) | loads
    return fields + [each for name, each in _apart(baseline, candidate) if name in work]


def levels_apart(baseline: Side, candidate: Side) -> list[Differs]:
    """Return the factors of which two campaigns have no level in common."""
    return [each for _, each in _apart(baseline, candidate)]


def values_of(side: Side, name: str) -> tuple[Any, ...]:
    """Return the levels of a factor, or the value of a fixed parameter; empty for neither."""
    if name in side.factors:
        return side.factors[name]
    known = _all_of(side, {})
    return (known[name],) if name in known else ()


def cell_differences(
    baseline: Side, one: Cell, candidate: Side, other: Cell, *, amounts: bool = True
) -> list[Differs]:
    """Return why two cells may not be compared, with both values; empty where they may be."""
    fields = _measure_differences(baseline, candidate)
    contents = baseline.contents.get(one.cell), candidate.contents.get(other.cell)
    fields += _differences(*map(_content, contents)) if all(contents) else []
    without = _addresses(baseline) if is_same_content(baseline, one, candidate, other) else set()
    fields += _differences(
        _work_of(baseline, one.levels, without=without),
        _work_of(candidate, other.levels, without=without),
    )
    loads = _loads(baseline, candidate)
    fields += _differences(
        _named(baseline, one.levels, loads), _named(candidate, other.levels, loads)
    )
    counted = _amounts(baseline, one.cell), _amounts(candidate, other.cell)
    return fields + (_differences(*counted) if amounts and all(counted) else [])


def carried_differences(
    baseline: Side, one: CapacityOfSetting, candidate: Side, other: CapacityOfSetting
) -> list[Differs]:
    """Return why what two settings carry may not be compared, with both values; the metric of the page does not matter.

    Each may have been measured at loads of its own. What was worked on is compared at those that held in both:
    where too much failed, less was done for that reason.
    """
    names = "kind", "family of servers"
    measures = [_measure_of(side) for side in (baseline, candidate)]
    fields = _differences(*({name: each[name] for name in names} for each in measures))
    if fields:  # what follows differs of course
        return fields
    fields = _differences(_criterion_of(baseline), _criterion_of(candidate))
    loads = {side.carried.load for side in (baseline, candidate) if side.carried}
    cells = _held_in_both(one, other)
    contents = [
        (first, second)
        for mine, theirs in cells
        if (first := baseline.contents.get(mine)) and (second := candidate.contents.get(theirs))
    ]
    for pair in contents:
        if unlike := _differences(*map(_content, pair)):
            fields += unlike
            break
    same = contents and all(first.is_proved_same(second) for first, second in contents)
    without = loads | (_addresses(baseline) if same else set())
    fields += _differences(
        _work_of(baseline, one.levels, without=without),
        _work_of(candidate, other.levels, without=without),
    )
    others = _loads(baseline, candidate) - loads
    fields += _differences(
        _named(baseline, one.levels, others), _named(candidate, other.levels, others)
    )
    for mine, theirs in cells:
        counted = _amounts(baseline, mine), _amounts(candidate, theirs)
        if all(counted) and (unlike := _differences(*counted)):
            return fields + unlike
    return list(dict.fromkeys(fields))


def _held_in_both(one: CapacityOfSetting, other: CapacityOfSetting) -> list[tuple[int, int]]:
    """Return the cells of loads that are shown to hold in both."""
    theirs = {cell.load: cell.cell for cell in other.cells if cell.held == Held.HELD}
    return [
        (cell.cell, theirs[cell.load])
        for cell in one.cells
        if cell.held == Held.HELD and cell.load in theirs
    ]


def _criterion_of(side: Side) -> dict[str, Setting]:
    """Return the load and the conditions of what is carried, bounds in the base unit."""
    found = side.carried
    if found is None:
        return {}
    offered = "offered at a rate" if found.offered_rate else "a number at a time"
    result = {
        "load": Setting(found.load, inside(found.load_label or found.load)),
        "shape of the load": Setting(found.offered_rate, offered),
    }
    for each in found.conditions:
        side_of, bound = (
            ("at least", each.at_least) if each.at_most is None else ("at most", each.at_most)
        )
        if not each.metric or bound is None:
            known = Setting(each.failed_share, f"at most {share(each.failed_share)} fail")
            result["condition on failures"] = known
            continue
        base = bound * UNITS[each.unit].factor if each.unit in UNITS else bound
        dimension = UNITS[each.unit].dimension if each.unit in UNITS else each.unit
        name = f"condition on {inside(each.label or each.metric)}, {side_of}"
        result[name] = Setting((dimension, float(f"{base:.12g}")), amount(bound, each.unit))
    return result


def setting_differences(baseline: Side, one: Cell, candidate: Side, other: Cell) -> list[Differs]:
    """Return the settings in which two cells differ, other than work; the address of the same content is one."""
    more = _addresses(baseline) if is_same_content(baseline, one, candidate, other) else set()
    return _differences(
        _settings_of(baseline, one.levels, more=more),
        _settings_of(candidate, other.levels, more=more),
    )


def target_differences(
    baseline: Side, one: Part, candidate: Side, other: Part
) -> list[FactOnBoth] | None:
    """Return the facts in which the targets of two cells differ, hardware first; None where it is one target, or unknown."""
    (first, facts), (second, others) = baseline.target_of(one), candidate.target_of(other)
    if first is None or second is None or first.address == second.address:
        return None
    return differing_facts(facts, others)


def hardware_of_builds(baseline: Side, one: Part, candidate: Side, other: Part) -> list[Differs]:
    """Return the hardware that forbids to compare two builds on two targets: the change would be that of both."""
    differs = target_differences(baseline, one, candidate, other) or []
    names = _builds(baseline) | _builds(candidate)
    hardware = [fact for fact in differs if is_hardware(fact.name) and fact.name not in names]
    builds = [(_build(baseline, one, name), _build(candidate, other, name)) for name in names]
    if not hardware or all(_plain(here) == _plain(there) for here, there in builds):
        return []
    return [
        Differs(fact.name, fact.baseline or NOT_RECORDED, fact.candidate or NOT_RECORDED)
        for fact in hardware
    ]


def _builds(side: Side) -> set[str]:
    return {name for name, role in roles_of(side.campaign).items() if role == Factor.Role.BUILD}


def _build(side: Side, cell: Part, name: str) -> Any:
    """Return the build of a cell: its level, or what was read back under this name."""
    return cell.levels.get(name, side.target_of(cell)[1].get(name, NOT_SET))


def is_same_content(baseline: Side, one: Cell, candidate: Side, other: Cell) -> bool:
    """Return whether the runs of two cells are proved to have worked on the same content, whatever its address."""
    first, second = baseline.contents.get(one.cell), candidate.contents.get(other.cell)
    return first is not None and second is not None and first.is_proved_same(second)


def _addresses(side: Side) -> set[str]:
    driver = installed_driver(side)
    return set(driver.addresses) if driver else set()


def _content(content: Content | None) -> dict[str, Setting]:
    """Return number and size of content as one value; two of the same size and number differ in their digests."""
    if content is None:
        return {}
    size = "" if content.bytes is None else f", {amount(content.bytes, 'B')}"
    digest = f", SHA-256 {content.digest[:12]}" if content.digest else ""
    text = f"{number(content.units)} {content.unit}{size}{digest}"
    known = (content.units, content.bytes, content.digest)
    return {"content": Setting(known, text)}


def fixed_settings(side: Side, without: set[str]) -> dict[str, Setting]:
    """Return the settings of a campaign that do not vary in any of those compared."""
    return _settings_of(side, {}, without=without)


def same_levels(side: Side, levels: Levels, names: set[str]) -> tuple[tuple[str, object], ...]:
    """Return the key that cells, or settings, of two campaigns share if they are equal in all that varies."""
    known = _all_of(side, levels)
    return tuple((name, _plain(known.get(name, NOT_SET))) for name in sorted(names))


def label_of(side: Side, name: str) -> str:
    """Return the label of a parameter on pages."""
    driver = installed_driver(side)
    return driver.label_of(name) if driver else called(name)


def text_of(value: Any) -> str:
    """Return a level, or another setting, as text."""
    if value is None or value == "":
        return "none"
    if isinstance(value, bool):
        return "on" if value else "off"
    if isinstance(value, float) and value.is_integer() and abs(value) < 1e15:
        return str(int(value))
    return str(value)


WAYS = {True: "lower is better", False: "higher is better", None: "neither way is better"}


def _measure_differences(baseline: Side, candidate: Side) -> list[Differs]:
    """Return why the metrics may not be compared: a metric without a better way has no verdict either."""
    result = _differences(_measure_of(baseline), _measure_of(candidate))
    if not result and _direction(baseline) is None:
        result.append(Differs("direction", WAYS[None], f"{WAYS[None]}, so nothing can be judged"))
    return result


def _direction(side: Side) -> bool | None:
    return side.cells.lower_is_better if side.cells else True


def _measure_of(side: Side) -> dict[str, Setting]:
    """Return what was measured, and on what kind of server."""
    campaign, driver, cells = side.campaign, installed_driver(side), side.cells
    unit = cells.unit if cells else ""
    family = campaign.target.family if campaign.target else ""
    lower = _direction(side)
    return {
        "kind": Setting(campaign.kind, driver.label if driver else campaign.kind),
        "family of servers": Setting(family, family or "none"),
        "metric": Setting(cells and cells.metric, cells.label if cells else "none"),
        "unit": Setting(UNITS[unit].dimension if unit in UNITS else unit, unit or "none"),
        "direction": Setting(lower, WAYS[lower]),
    }


def _work_of(
    side: Side, levels: Levels, *, without: set[str] | frozenset[str] = frozenset()
) -> dict[str, Setting]:
    """Return the parameters that define the work."""
    known = _all_of(side, levels)
    names = _work_names(side)
    return {
        label_of(side, name).lower(): Setting(_plain(value), text_of(value))
        for name, value in known.items()
        if name in names and name not in without
    }


def _loads(baseline: Side, candidate: Side) -> set[str]:
    """Return what is load in either campaign and no work: cells of different loads are not compared."""
    drivers = [each for each in map(installed_driver, (baseline, candidate)) if each]
    declared = {name for driver in drivers for name in driver.load}
    loads = declared.union(*(loads_of(side.campaign) for side in (baseline, candidate)))
    return loads - _work_names(baseline) - _work_names(candidate)


def _named(side: Side, levels: Levels, names: Iterable[str]) -> dict[str, Setting]:
    """Return the levels of some parameters."""
    known = _all_of(side, levels)
    return {
        label_of(side, name).lower(): Setting(_plain(known[name]), text_of(known[name]))
        for name in sorted(names)
        if name in known
    }


def _work_names(side: Side) -> set[str]:
    """Return the parameters that define the work of a cell; all of them where the kind is not installed.

    Load is among them: a load is not judged against another one.
    """
    driver = installed_driver(side)
    if driver is None:
        return {*side.campaign.parameters, *side.factors}
    return {*work_of(side.campaign), *driver.load, *loads_of(side.campaign)}


def _apart(baseline: Side, candidate: Side) -> list[tuple[str, Differs]]:
    result = []
    for name in dict.fromkeys((*baseline.factors, *candidate.factors)):
        both = values_of(baseline, name), values_of(candidate, name)
        one, other = ({_plain(value) for value in values} for values in both)
        if not one & other:
            texts = [", ".join(map(text_of, values)) or NOT_SET for values in both]
            result.append((name, Differs(label_of(baseline, name).lower(), *texts)))
    return result


def _settings_of(
    side: Side,
    levels: Levels,
    *,
    without: set[str] | frozenset[str] = frozenset(),
    more: Set[str] = frozenset(),
) -> dict[str, Setting]:
    """Return the parameters that are no work. more: work that counts as a setting."""
    driver = installed_driver(side)
    if driver is None:
        return {}
    return {
        label_of(side, name).lower(): Setting(_plain(value), text_of(value))
        for name, value in _all_of(side, levels).items()
        if (name in more or name not in _work_names(side)) and name not in without
    }


def _amounts(side: Side, cell: int) -> dict[str, Setting]:
    counted = side.amounts.get(cell, {})
    return {name: Setting(float(value), number(value)) for name, value in counted.items()}


def _all_of(side: Side, levels: Levels) -> Levels:
    """Return every parameter in force; one added after the campaign has its initial value."""
    driver = installed_driver(side)
    initial = (
        {name: each.initial for name, each in driver.parameters.base_fields.items()}
        if driver
        else {}
    )
    return {**initial, **side.campaign.parameters, **expanded(side.campaign, levels)}


def _differences(one: Mapping[str, Setting], other: Mapping[str, Setting]) -> list[Differs]:
    nothing = Setting(NOT_SET, NOT_SET)
    return [
        Differs(name, one.get(name, nothing).text, other.get(name, nothing).text)
        for name in dict.fromkeys((*one, *other))
        if one.get(name, nothing) != other.get(name, nothing)
    ]


def _plain(value: Any) -> object:
    """Return a value for comparison: 5 equals 5.0, True does not equal 1, None equals an empty text."""
    if value is None or value == "":
        return ("text", "")
    if isinstance(value, int | float) and not isinstance(value, bool):
        return ("number", float(value))
    return (type(value).__name__, str(value))


def installed_driver(side: Side) -> Driver | None:
    """Return the driver of a campaign; None where its kind is not installed."""
    try:
        return driver_of(side.campaign.kind)
    except UnknownKind:
        return None


class Names:
    """Names of campaigns and levels; long levels are shortened to the part that distinguishes them.

    campaigns: their names; those that share one have their number, too.
    """

    def __init__(self, sides: Sequence[Side]) -> None:
        self.sides = sides
        names = [side.campaign.name for side in sides]
        self.campaigns = [
            name if names.count(name) == 1 else f"{name} (#{side.campaign.pk})"
            for name, side in zip(names, sides, strict=True)
        ]
        varied = dict.fromkeys(factor for side in sides for factor in side.factors)
        self._short = {
            factor: short_labels(
                list(
                    dict.fromkeys(
                        text_of(value) for side in sides for value in values_of(side, factor)
                    )
                )
            )
            for factor in varied
        }

    def cell(self, side: int, cell: Cell, among: Iterable[str] = ()) -> str:
        """Return the levels with their factors; among: of these factors only, fixed ones included."""
        return self.setting(side, cell.levels, among)

    def setting(self, side: int, levels: Levels, among: Iterable[str] = ()) -> str:
        """Return levels with their factors; among: of these factors only, fixed ones included."""
        owner = self.sides[side]
        return ", ".join(
            f"{label_of(owner, name).lower()} {self._level(name, value)}"
            for name, value in self._wanted(side, levels, among)
        )

    def levels(self, side: int, cell: Cell, among: Iterable[str] = ()) -> str:
        """Return the levels without their factors."""
        return ", ".join(
            self._level(name, value) for name, value in self._wanted(side, cell.levels, among)
        )

    def whole(self, side: int, cell: Cell) -> str:
        """Return the name of a cell with its campaign."""
        levels = self.cell(side, cell)
        return f"{self.campaigns[side]}: {levels}" if levels else self.campaigns[side]

    def _wanted(self, side: int, levels: Levels, among: Iterable[str]) -> list[tuple[str, Any]]:
        known = {**self.sides[side].campaign.parameters, **levels}
        names = set(among) or set(levels)
        return [(name, value) for name, value in known.items() if name in names]

    def _level(self, name: str, value: Any) -> str:
        text = text_of(value)
        return self._short.get(name, {}).get(text, text)
