"""A sizing table: what each target carries with its recommended setting, and for each declared unit of it. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean
from types import MappingProxyType

from campaigns.findings.most_carried import recommended_place
from campaigns.findings.values import CapacityFinding, Levels
from campaigns.findings.wording.capacity import CapacityWords
from campaigns.findings.wording.loads import setting_name
from campaigns.kit.numbers import number, outward
from campaigns.stats.capacity import CapacityWord
from campaigns.stats.capacity_classes import CapacityOfClass, capacities_of_classes

NONE_DECIDED = "none decided"
TARGET = "target"


@dataclass(frozen=True, slots=True)
class SizingRow:
    """One target under one work.

    setting: the recommended one, of several. low, estimate, high: of its capacity. per: by unit, the capacity of one of them (low, estimate, high); a unit
    that the target does not declare is missing. of_class: its class of hardware; empty without one. targets: of a class of which the row is; 0 for a
    target. server: its address; targets of one address are one of a class.
    """

    target: str
    work: str
    setting: str
    capacity: str
    word: CapacityWord
    binding: str
    low: float | None
    estimate: float | None
    high: float | None
    sizes: Mapping[str, float]
    of_class: str = ""
    targets: int = 0
    server: str = ""

    def per(self, unit: str) -> tuple[float | None, float | None, float | None]:
        """Return the capacity of one unit; None where it is not declared."""
        size = self.sizes.get(unit)
        if not size:
            return None, None, None
        low, estimate, high = (
            None if end is None else end / size for end in (self.low, self.estimate, self.high)
        )
        return low, estimate, high


@dataclass(frozen=True, slots=True)
class SizingTable:
    """Rows sorted by size, not by result. units: those that a target declares. targets: how many were measured."""

    load: str
    conditions: str
    units: Sequence[str]
    rows: Sequence[SizingRow]

    @property
    def targets(self) -> int:
        """How many targets were measured."""
        return len({row.target for row in self.rows if not row.targets})

    @property
    def caption(self) -> str:
        """What the table says, and of how many machines."""
        what = (
            "this machine carries" if self.targets == 1 else f"these {self.targets} machines carry"
        )
        limits = f"while {self.conditions}" if self.conditions else "without a criterion"
        text = f"What {what}, by size, {limits}."
        if any(row.targets for row in self.rows):
            return (
                f"{text} A row of a class is the geometric mean over its targets, each counted once, with a 95 % "
                "interval of how much targets of a class differ; other rows say nothing of other machines of a size."
            )
        return f"{text} It says nothing of other machines of a size."

    @property
    def heads(self) -> tuple[str, ...]:
        """The heads of the columns."""
        first = "this machine" if self.targets == 1 else "target"
        work = ("work",) if any(row.work for row in self.rows) else ()
        return (
            first,
            *work,
            "recommended setting",
            f"carries ({self.load})",
            "ends first",
            *self.units,
        )

    def cells(self, row: SizingRow) -> tuple[str, ...]:
        """Return a row as texts."""
        work = (row.work,) if any(each.work for each in self.rows) else ()
        per = (_per(row.per(unit)) for unit in self.per_units)
        return (row.target, *work, row.setting, row.capacity, row.binding, *per)

    @property
    def per_units(self) -> tuple[str, ...]:
        """The units without “per”."""
        return tuple(unit.removeprefix("per ") for unit in self.units)


def sizing_table(
    finding: CapacityFinding,
    *,
    target: str,
    work: Sequence[str],
    sizes: Mapping[str, Mapping[str, float]],
    classes: Mapping[str, str] = MappingProxyType({}),
    servers: Mapping[str, str] = MappingProxyType({}),
) -> SizingTable:
    """Return the table of one campaign.

    target: its name, where the campaign has no factor of targets. work: factors that are work or further load, which are
    told in a row and not chosen. sizes: declared numbers by unit, by target; a numeric level of a setting is a unit, too.
    classes: of hardware, by target. servers: addresses, by target.
    """
    words = CapacityWords(finding)
    groups: dict[tuple[str, str], list[int]] = {}
    told = {*work, *finding.others}
    for place, setting in enumerate(finding.settings):
        of = str(setting.levels.get(TARGET, target))
        groups.setdefault((of, setting_name(_only(setting.levels, told))), []).append(place)
    rows = [
        replace(
            _row(words, finding, places, of, work_text, told, sizes.get(of, {})),
            of_class=classes.get(of, ""),
            server=servers.get(of, ""),
        )
        for (of, work_text), places in groups.items()
    ]
    units = list(dict.fromkeys(unit for row in rows for unit in row.sizes))
    ordered = sorted(rows, key=lambda row: [row.sizes.get(unit, 0.0) for unit in units])
    return SizingTable(
        load=finding.load_label or finding.load,
        conditions=words.kept,
        units=tuple(f"per {unit}" for unit in units),
        rows=ordered,
    )


def with_classes(table: SizingTable) -> SizingTable:
    """Return a table with a row for each class of which three targets have an estimate, before the first of these targets.

    A class with a target that has none gets no row: what is carried there is known as a bound only.
    """
    groups: dict[tuple[str, str], list[SizingRow]] = {}
    for row in table.rows:
        if row.of_class and not row.targets:
            groups.setdefault((row.work, row.of_class), []).append(row)
    made: dict[tuple[str, str], SizingRow] = {}
    for work in dict.fromkeys(work for work, _ in groups):
        own = {name: rows for (of, name), rows in groups.items() if of == work}
        complete = {
            name: list(means.values())
            for name, rows in own.items()
            if (means := _mean_of_each(rows)) is not None
        }
        for name, capacity in capacities_of_classes(complete).items():
            made[work, name] = _class_row(table.load, name, own[name], capacity)
    rows: list[SizingRow] = []
    for row in table.rows:
        if of_class := made.pop((row.work, row.of_class), None):
            rows.append(of_class)
        rows.append(row)
    return replace(table, rows=rows)


def _mean_of_each(rows: Sequence[SizingRow]) -> dict[str, float] | None:
    """Return the geometric mean of the estimates of each target; None where one has no estimate."""
    values: dict[str, list[float]] = {}
    for row in rows:
        if row.word != CapacityWord.BETWEEN or not row.estimate:
            return None
        values.setdefault(row.server or row.target, []).append(row.estimate)
    return {target: geometric_mean(each) for target, each in values.items()}


def _class_row(
    load: str, name: str, rows: Sequence[SizingRow], capacity: CapacityOfClass
) -> SizingRow:
    settings = dict.fromkeys(row.setting for row in rows)
    first = rows[0].sizes
    alike = {
        unit: size
        for unit, size in first.items()
        if all(row.sizes.get(unit) == size for row in rows)
    }
    span = _per((capacity.low, capacity.estimate, capacity.high)).replace("(", f"{load} (", 1)
    return SizingRow(
        target=f"class {name}, {capacity.targets} targets",
        work=rows[0].work,
        setting=next(iter(settings)) if len(settings) == 1 else "each its own",
        capacity=span,
        word=CapacityWord.BETWEEN,
        binding=", ".join(filter(None, dict.fromkeys(row.binding for row in rows))),
        low=capacity.low,
        estimate=capacity.estimate,
        high=capacity.high,
        sizes=alike,
        of_class=name,
        targets=capacity.targets,
    )


def _row(
    words: CapacityWords,
    finding: CapacityFinding,
    places: Sequence[int],
    target: str,
    work: str,
    told: set[str],
    sizes: Mapping[str, float],
) -> SizingRow:
    place = recommended_place(finding, places)
    setting = finding.settings[places[0] if place is None else place]
    levels = {
        name: level for name, level in setting.levels.items() if name not in told and name != TARGET
    }
    capacity = setting.capacity
    if place is None and len(places) > 1:
        return SizingRow(
            target, work, NONE_DECIDED, "not decided", CapacityWord.NOT_ENOUGH_DATA, "",
            None, None, None, dict(sizes),
        )  # fmt: skip
    return SizingRow(
        target=target,
        work=work,
        setting=setting_name(levels) if levels else "as it is",
        capacity=words.short(capacity),
        word=capacity.word,
        binding=words.binding(capacity),
        low=capacity.low,
        estimate=capacity.estimate,
        high=capacity.high,
        sizes={
            **sizes,
            **{name: float(level) for name, level in levels.items() if _is_size(level)},
        },
    )


def _only(levels: Levels, names: set[str]) -> Levels:
    return {name: level for name, level in levels.items() if name in names}


def _is_size(level: object) -> bool:
    return isinstance(level, int | float) and not isinstance(level, bool) and level > 0


def _per(ends: tuple[float | None, float | None, float | None]) -> str:
    low, estimate, high = ends
    if low is not None and high is not None:
        span = " to ".join(outward(low, high))
        return span if estimate is None else f"{number(estimate, 3)} ({span})"
    if low is not None:
        return f"at least {outward(low, low)[0]}"
    return "" if high is None else f"below {outward(high, high)[1]}"
