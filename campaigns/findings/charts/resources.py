"""The strip of resources under the curve of a result: a column a level, a row a resource; and the same a run. Pure."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TypeVar

from campaigns.findings.values import BindingFinding, BindingGroup
from campaigns.findings.wording.binding import (
    PART,
    judged_by_text,
    reason_text,
    resource_name,
    short_name,
)
from campaigns.findings.wording.loads import load_text, setting_name
from campaigns.kit.numbers import counted
from campaigns.stats.binding import Bound, Figure, Resource, ResourceState, RunBinding, State
from campaigns.stats.binding_levels import LevelResource

SHADES = (0.25, 0.5, 0.75)
"""Parts of its limit from which a cell is a shade darker; the darkest is of what binds."""
MARK = "▲"
MOST_STRIPS = 6
MOST_RUNS = 240
CELL, GAP = 10, 1
"""Pixels of a run's cell in the drawing of all runs, and between two of them."""
UNKNOWN = "unknown"
ONE_ROW = (Resource.CORE, Resource.DESCRIPTORS, Resource.DATABASE_WAITS)
"""The busiest core or thread, the most open files, and the largest of other waits have a row each; the title tells whose."""
Told = TypeVar("Told", LevelResource, ResourceState)
RANKS = {State.UNKNOWN: 0, State.FREE: 1, State.BINDS: 2}


@dataclass(frozen=True, slots=True)
class StripCell:
    """One resource at one level. shade: a class of the style sheet; binds: it gets the mark; part: for a part of the run alone."""

    text: str
    shade: str
    binds: bool
    title: str
    part: bool = False


@dataclass(frozen=True, slots=True)
class StripRow:
    """One resource at all levels."""

    name: str
    cells: tuple[StripCell, ...]


@dataclass(frozen=True, slots=True)
class Strip:
    """The resources of one setting by level."""

    setting: str
    factor: str
    heads: tuple[str, ...]
    rows: tuple[StripRow, ...]


@dataclass(frozen=True, slots=True)
class HeatLine:
    """One resource in all runs. paths: data of SVG paths by shade; marks: of those where it binds."""

    name: str
    y: int
    paths: tuple[tuple[str, str], ...]
    marks: str
    binds: int
    unknown: int


@dataclass(frozen=True, slots=True)
class RunHeat:
    """The resources of all runs, in the order in which they were measured."""

    lines: tuple[HeatLine, ...]
    width: int
    height: int
    runs: int
    left_out: int
    label: str


def strips_of(finding: BindingFinding) -> list[Strip]:
    """Return a strip for each setting, at most MOST_STRIPS."""
    several = len(finding.groups) > 1
    strips = [_strip(finding, group, several=several) for group in finding.groups[:MOST_STRIPS]]
    return [strip for strip in strips if strip.rows]


def _strip(finding: BindingFinding, group: BindingGroup, *, several: bool) -> Strip:
    by_level = [_in_rows(level.binding.resources, lambda each: each.binds) for level in group.cells]
    known = _in_order({key for level in by_level for key in level})
    return Strip(
        setting=setting_name(group.levels) if several else "",
        factor=finding.label or "all runs",
        heads=tuple(load_text(level.value) if finding.factor else "all" for level in group.cells),
        rows=tuple(
            StripRow(
                short_name(key.resource, key.label),
                tuple(_cell(key, level.get(key)) for level in by_level),
            )
            for key in known
        ),
    )


def _in_rows(resources: Iterable[Told], rank: Callable[[Told], int]) -> Mapping[Bound, Told]:
    """Return the resources of a level or a run by their row; of several, the one with the highest rank, then the most used."""
    rows: dict[Bound, Told] = {}
    for each in sorted(resources, key=lambda each: (rank(each), each.utilisation or 0.0)):
        rows[Bound(each.resource, "" if each.resource in ONE_ROW else each.label)] = each
    return rows


def _cell(key: Bound, found: LevelResource | None) -> StripCell:
    """Return the cell of a resource: the figure by which the rule judged it, never another one."""
    name = resource_name(key.resource, found.label if found else key.label)
    if found is None or not found.binds + found.free:
        return StripCell("?", UNKNOWN, binds=False, title=f"{name}: unknown")
    binds, by = found.state == State.BINDS, found.judged_by
    runs = found.binds + found.free + found.unknown
    part = f" {PART}" if found.is_partly else ""
    parts = [
        reason_text(key.resource, by) if by else "",
        f"binds{part} in {found.binds} of {counted(runs, 'run')}",
        f"unknown in {found.unknown}" if found.unknown else "",
    ]
    title = f"{name}: {', '.join(filter(None, parts))}"
    if found.state == State.UNKNOWN:  # its runs do not say the same
        return StripCell("?", UNKNOWN, binds=False, title=title)
    text = judged_by_text(by) if by else "—"
    return StripCell(text, shade_of(by, binds=binds), binds, title, found.is_partly)


def shade_of(figure: Figure | None, *, binds: bool = False) -> str:
    """Return the class of a shade: how near a figure is to its limit; what binds has the darkest."""
    if binds:
        return f"l{len(SHADES) + 2}"
    if figure is None or not figure.limit:
        return "base"
    return f"l{1 + sum(figure.value >= shade * figure.limit for shade in SHADES)}"


def run_heat(runs: Sequence[tuple[int, RunBinding]]) -> RunHeat | None:
    """Return the drawing of all runs, which are (position, judgement); of many, the last ones. None without any."""
    shown = runs[-MOST_RUNS:]
    rows = [_in_rows(run.resources, lambda each: RANKS[each.state]) for _, run in shown]
    keys = _in_order({key for run in rows for key in run})
    if not shown or not keys:
        return None
    step = CELL + GAP
    lines = []
    for number, key in enumerate(keys):
        paths: dict[str, list[str]] = {}
        marks: list[str] = []
        y, unknown = number * step, 0
        for place, run in enumerate(rows):
            state = run.get(key)
            if state is None or state.state == State.UNKNOWN:
                unknown += 1
                shade = UNKNOWN
            else:
                shade = shade_of(state.judged_by, binds=state.state == State.BINDS)
            x = place * step
            paths.setdefault(shade, []).append(f"M{x} {y}h{CELL}v{CELL}h-{CELL}z")
            if state is not None and state.state == State.BINDS:
                marks.append(f"M{x + 2} {y + 8}l3-6 3 6z")
        lines.append(
            HeatLine(
                short_name(key.resource, key.label),
                y,
                tuple((shade, "".join(each)) for shade, each in sorted(paths.items())),
                "".join(marks),
                len(marks),
                unknown,
            )
        )
    bound = [f"{line.name} binds in {line.binds}" for line in lines if line.binds]
    return RunHeat(
        lines=tuple(lines),
        width=len(shown) * step,
        height=len(keys) * step,
        runs=len(shown),
        left_out=len(runs) - len(shown),
        label=f"Resources of the target in {counted(len(shown), 'run')}: "
        f"{'; '.join(bound) or 'none binds'}.",
    )


def _in_order(keys: Iterable[Bound]) -> list[Bound]:
    order = list(Resource)
    return sorted(keys, key=lambda each: (order.index(each.resource), each.label))
