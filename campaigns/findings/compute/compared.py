"""Compare campaigns, or cells of different campaigns, with the first of them as the baseline.

It is not stored, but computed for each request: whose cells are compared, in which order and
against which baseline is chosen in the address, a link at a time, and each choice is a family of its
own; stored results would be many, and each would wait for the analysis queue, minutes while something
is measured, for what takes milliseconds. It is computed from stored findings alone, without chance,
so that the same address over the same data gives the same numbers; `data_hash` is that of them.
"""

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from datetime import datetime
from functools import cached_property

from msgspec import structs

from campaigns.findings.compared import Choice, Side
from campaigns.findings.compute.comparability import (
    OTHER_HARDWARE,
    Names,
    cell_differences,
    hardware_of_builds,
    installed_driver,
    levels_apart,
    same_levels,
    setting_differences,
    target_differences,
    work_differences,
)
from campaigns.findings.compute.compared_capacity import compare_carried
from campaigns.findings.compute.differences import differences_of
from campaigns.findings.compute.fidelity import is_exact
from campaigns.findings.compute.points import in_points, judged_criteria, judged_runs
from campaigns.findings.compute.sessions import in_parts
from campaigns.findings.compute.statistics_input import criteria_of, runs_of_cell
from campaigns.findings.values import (
    CampaignComparison,
    Cell,
    ComparedCampaign,
    ComparedCandidate,
    ComparedCells,
    Differs,
    Terms,
)
from campaigns.kit.units import UNITS, convert, is_share
from campaigns.models import Campaign
from campaigns.results.values import ObservedRun
from campaigns.stats.between_campaigns import enough_sessions, over_cells
from campaigns.stats.compared import Comparison, Model
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.comparisons import compare_cells
from campaigns.stats.criteria import Criteria
from campaigns.stats.hashing import data_hash
from campaigns.stats.rounding import step_shares, within_resolution
from campaigns.stats.verdict import WITHOUT_NUMBERS, Verdict, Word

MOST_COMPARISONS = 100
"""So many comparisons take half a second at worst (few runs with ties); a dozen take milliseconds."""


@dataclass(frozen=True)
class Measured:
    """One campaign. factor: by which its values become those of `unit`; direction: of the metric."""

    side: Side
    name: str
    label: str
    unit: str
    direction: bool | None
    factor: float

    @property
    def lower_is_better(self) -> bool:
        """Return the direction for judgements, of which there are none where neither way is better."""
        return self.direction is True

    @property
    def in_blocks(self) -> bool:
        """Return whether runs of several cells share a block, made close together."""
        return self.side.campaign.order in (Campaign.Order.INTERLEAVED, Campaign.Order.PAIRED)

    @cached_property
    def cells(self) -> dict[int, Cell]:
        """Return the cells by their keys, in the order of the campaign."""
        return {cell.cell: cell for cell in cells_of(self.side)}

    @cached_property
    def runs(self) -> dict[int, list[ObservedRun]]:
        """Return the runs of each cell, converted."""
        every = [run for cell in self.cells.values() for run in self._observed(cell)]
        result: dict[int, list[ObservedRun]] = {key: [] for key in self.cells}
        for run in in_parts(every):
            result[run.cell].append(run)
        return result

    @cached_property
    def cell_runs(self) -> dict[int, CellRuns]:
        """Return the input of a comparison by cell."""
        return {key: runs_of_cell(judged_runs(self.unit, runs)) for key, runs in self.runs.items()}

    def mean(self, cell: Cell) -> float | None:
        """Return the mean of a cell, geometric where there is one."""
        mean = cell.summary.mean if cell.summary.gmean is None else cell.summary.gmean
        return None if mean is None else mean * self.factor

    def interval(self, cell: Cell) -> tuple[float, float] | None:
        """Return the interval of that mean, by the cell's own runs."""
        bounds = cell.summary.mean_ci if cell.summary.gmean is None else cell.summary.gmean_ci
        return None if bounds is None else (bounds[0] * self.factor, bounds[1] * self.factor)

    def _observed(self, cell: Cell) -> list[ObservedRun]:
        return [
            ObservedRun(
                run=run.run,
                position=run.position,
                cell=cell.cell,
                block=run.block,
                repetition=0,
                session=run.session,
                state=run.state,
                value=None if run.value is None else run.value * self.factor,
                reason=run.reason,
                started_at=datetime.fromisoformat(run.started_at) if run.started_at else None,
                finished_at=None,
                units_done=run.units - run.units_failed,
                units_failed=run.units_failed,
            )
            for run in cell.runs
        ]


def measured_of(side: Side, baseline: Side) -> Measured:
    """Return a campaign with findings in the unit of the baseline, where that can be converted."""
    source, unit = (each.cells.unit if each.cells else "" for each in (side, baseline))
    known = source in UNITS and unit in UNITS
    convertible = known and UNITS[source].dimension == UNITS[unit].dimension
    return Measured(
        side=side,
        name=side.cells.metric if side.cells else "",
        label=side.cells.label if side.cells else "",
        unit=unit if convertible else source,
        direction=side.cells.lower_is_better if side.cells else True,
        factor=convert(1.0, source, unit) if convertible else 1.0,
    )


def cells_of(side: Side) -> Sequence[Cell]:
    """Return the cells of a campaign, in its order."""
    return side.cells.cells if side.cells else ()


class Compared(CampaignComparison, frozen=True, kw_only=True):
    """A whole comparison, with what was read for it. data_hash: of the data, what was compared, and the criteria."""

    names: Names
    measured: Sequence[Measured]
    criteria: Criteria
    data_hash: str


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two cells that are to be compared, by their sides."""

    name: str
    baseline: tuple[int, Cell]
    candidate: tuple[int, Cell]


def compare_campaigns(sides: Sequence[Side], *, hardware: bool = False) -> Compared:
    """Compare the cells of each campaign with those of the first one that have the same levels.

    sides: two or more, all with findings. hardware: it is part of the question, so builds on other hardware are compared.
    """
    names = Names(sides)
    pairs: list[_Pair] = []
    candidates: list[ComparedCandidate] = []
    for place, side in enumerate(sides[1:], start=1):
        refused = work_differences(sides[0], side)
        candidate = ComparedCandidate(side=place, refused=refused)
        if not refused:
            matched, only_there, only_here = _matched(names, place)
            pairs += matched
            candidate = structs.replace(
                candidate,
                apart=levels_apart(sides[0], side),
                only_here=only_here,
                only_there=only_there,
            )
        candidates.append(candidate)
    found = _compared(names, pairs, candidates, hardware=hardware)
    carried = compare_carried(names, found.criteria.alpha, hardware=hardware)
    return structs.replace(found, capacities=carried) if carried else found


def compare_chosen(
    sides: Sequence[Side], chosen: Sequence[tuple[int, Cell]], *, hardware: bool = False
) -> Compared:
    """Compare chosen cells with the first of them, which is of the first side.

    chosen: two or more, each with the place of its side. hardware: as for `compare_campaigns`.
    """
    pairs = [_Pair("", chosen[0], each) for each in chosen[1:]]
    return _compared(Names(sides), pairs, [], hardware=hardware)


def _matched(names: Names, place: int) -> tuple[list[_Pair], list[str], list[str]]:
    """Pair cells by all that varies in either campaign, in the order of the baseline."""
    base, side = names.sides[0], names.sides[place]
    varied = {*base.factors, *side.factors}
    theirs = {same_levels(side, cell.levels, varied): cell for cell in cells_of(side)}
    pairs, only_there = [], []
    for cell in cells_of(base):
        other = theirs.pop(same_levels(base, cell.levels, varied), None)
        if other is None:
            only_there.append(names.cell(0, cell))
        else:
            pairs.append(_Pair(names.cell(0, cell, varied), (0, cell), (place, other)))
    return pairs, only_there, [names.cell(place, cell) for cell in theirs.values()]


def _compared(
    names: Names,
    pairs: Sequence[_Pair],
    candidates: Sequence[ComparedCandidate],
    *,
    hardware: bool,
) -> Compared:
    made, left_out = pairs[:MOST_COMPARISONS], max(0, len(pairs) - MOST_COMPARISONS)
    measured = [measured_of(side, names.sides[0]) for side in names.sides]
    criteria = _strictest(names.sides, measured[0].unit)
    rows = _rows(names, measured, made, criteria, hardware=hardware)
    return Compared(
        names=names,
        measured=measured,
        criteria=criteria,
        terms=in_points(measured[0].unit, _terms(measured[0], criteria)),
        campaigns=[_campaign(*each) for each in zip(names.campaigns, names.sides, strict=True)],
        candidates=[_with_overall(each, measured, rows, criteria) for each in candidates],
        rows=rows,
        differences=differences_of(names.sides),
        left_out=left_out,
        data_hash=_hash(measured, made, criteria, hardware=hardware),
    )


def _terms(baseline: Measured, criteria: Criteria) -> Terms:
    return Terms(
        metric=baseline.name,
        label=baseline.label,
        unit=baseline.unit,
        lower_is_better=baseline.lower_is_better,
        margin_pct=100 * criteria.margin,
        delta_pct=100 * criteria.delta,
        alpha=criteria.alpha,
        minimum_n=criteria.minimum_n,
    )


def _campaign(name: str, side: Side) -> ComparedCampaign:
    driver = installed_driver(side)
    return ComparedCampaign(
        name=name,
        unit=side.cells.unit if side.cells else "",
        simulators=side.simulators,
        checked=driver is not None and driver.executable,
        carried=side.carried,
        cancelled=side.campaign.state == Campaign.State.CANCELLED,
    )


def _strictest(sides: Sequence[Side], unit: str) -> Criteria:
    """Return the strictest criteria of all campaigns, so that verdicts do not depend on which is the baseline."""
    each = [
        judged_criteria(
            unit,
            side.campaign,
            criteria_of(side.campaign, len(cells_of(side)), adaptive=side.adaptive),
        )
        for side in sides
    ]
    return Criteria(
        alpha=min(one.alpha for one in each),
        delta=min(one.delta for one in each),
        margin=min(one.margin for one in each),
    )


def _rows(
    names: Names,
    measured: Sequence[Measured],
    pairs: Sequence[_Pair],
    criteria: Criteria,
    *,
    hardware: bool,
) -> list[ComparedCells]:
    """Judge all comparable pairs as one family; refuse the others, with the fields that differ."""
    cells: dict[tuple[int, int], int] = {}
    cell_runs: list[CellRuns] = []
    for side, cell in (each for pair in pairs for each in (pair.baseline, pair.candidate)):
        if (side, cell.cell) not in cells:
            cells[side, cell.cell] = len(cell_runs)
            cell_runs.append(measured[side].cell_runs[cell.cell])
    fields = [_fields(measured, pair, hardware=hardware) for pair in pairs]
    places = [
        tuple(cells[side, cell.cell] for side, cell in (pair.baseline, pair.candidate))
        for pair in pairs
    ]
    wanted = [(b, c) for (b, c), (refused, _) in zip(places, fields, strict=True) if not refused]
    judged = iter(
        compare_cells(
            cell_runs,
            wanted,
            interleaved=False,
            lower_is_better=measured[pairs[0].baseline[0]].lower_is_better if pairs else True,
            criteria=criteria,
            alone=True,
        ).comparisons
    )
    return [
        _row(
            names,
            measured,
            pair,
            _refused(place, cell_runs, refused, why) if refused else next(judged),
            refused,
            criteria,
        )
        for pair, place, (refused, why) in zip(pairs, places, fields, strict=True)
    ]


def _fields(
    measured: Sequence[Measured], pair: _Pair, *, hardware: bool
) -> tuple[list[Differs], str]:
    """Return why two cells are not compared: the fields that differ, and the reason of the verdict."""
    (base, one), (candidate, other) = pair.baseline, pair.candidate
    sides = measured[base].side, one, measured[candidate].side, other
    if fields := cell_differences(*sides):
        return fields, ""
    return ([] if hardware else hardware_of_builds(*sides)), OTHER_HARDWARE


def _refused(
    place: tuple[int, ...], cell_runs: Sequence[CellRuns], fields: Sequence[Differs], reason: str
) -> Comparison:
    n = min(len(cell_runs[index].values) for index in place)
    names = tuple(each.label for each in fields)
    verdict = Verdict(Word.NOT_COMPARABLE, n=n, fields=names, reason=reason)
    return Comparison(place[0], place[1], Model.WELCH, verdict)


def _row(
    names: Names,
    measured: Sequence[Measured],
    pair: _Pair,
    comparison: Comparison,
    refused: Sequence[Differs],
    criteria: Criteria,
) -> ComparedCells:
    (base, one), (candidate, other) = pair.baseline, pair.candidate
    cell_runs = measured[base].cell_runs[one.cell], measured[candidate].cell_runs[other.cell]
    if not refused and not is_exact(measured[base].unit):
        unit = measured[base].unit
        verdict = _resolved(comparison.verdict, cell_runs, criteria, rounded=not is_share(unit))
        comparison = replace(comparison, verdict=verdict)
    return ComparedCells(
        side=candidate,
        name=pair.name,
        titles=(names.whole(base, one), names.whole(candidate, other)),
        baseline=one,
        candidate=other,
        comparison=in_points(measured[base].unit, comparison),
        means=(measured[base].mean(one), measured[candidate].mean(other)),
        sessions=(cell_runs[0].session_count, cell_runs[1].session_count),
        between=enough_sessions(*cell_runs),
        refused=refused,
        settings=setting_differences(measured[base].side, one, measured[candidate].side, other),
        differs=target_differences(measured[base].side, one, measured[candidate].side, other),
    )


def _resolved(
    verdict: Verdict, cell_runs: Sequence[CellRuns], criteria: Criteria, *, rounded: bool
) -> Verdict:
    """Withhold a verdict for which the values of one of two cells are too coarse; each has its own tool.

    rounded: the values are as they were written, so that their digits tell how coarse they are.
    """
    steps = [share for cell in cell_runs if rounded for share in step_shares([cell.values])] or [
        0.0
    ]
    identical = all(len(set(cell.values)) == 1 < len(cell.values) for cell in cell_runs)
    return within_resolution(verdict, max(steps), criteria, identical=identical)


def _with_overall(
    candidate: ComparedCandidate,
    measured: Sequence[Measured],
    rows: Sequence[ComparedCells],
    criteria: Criteria,
) -> ComparedCandidate:
    """Summarise all cells of a candidate that have a number as one change."""
    own = [
        row
        for row in rows
        if row.side == candidate.side and row.comparison.verdict.word not in WITHOUT_NUMBERS
    ]
    base, other = measured[0], measured[candidate.side]
    over = over_cells(
        [(base.cell_runs[row.baseline.cell], other.cell_runs[row.candidate.cell]) for row in own],
        in_blocks=(base.in_blocks, other.in_blocks),
        criteria=criteria,
    )
    return structs.replace(candidate, over=in_points(base.unit, over))


def _hash(
    measured: Sequence[Measured], pairs: Sequence[_Pair], criteria: Criteria, *, hardware: bool
) -> str:
    """Hash the data of every campaign, what was compared, and the criteria."""
    return data_hash(
        definition={
            "campaigns": [each.side.data_hash for each in measured],
            "metric": measured[0].name,
            "pairs": [
                [[side, cell.levels] for side, cell in (pair.baseline, pair.candidate)]
                for pair in pairs
            ],
            **({"hardware": True} if hardware else {}),
        },
        runs=[],
        exclusions=[],
        parameters=asdict(criteria),
    )


def compare(choice: Choice, sides: Sequence[Side]) -> Compared | None:
    """Compare chosen cells, or whole campaigns; None where there are not two. sides: usable ones."""
    if not choice.cells:
        return compare_campaigns(sides, hardware=choice.hardware) if len(sides) > 1 else None
    by_key = {side.campaign.pk: {cell.cell: cell for cell in cells_of(side)} for side in sides}
    chosen = [(campaign, cell) for campaign, cell in choice.cells if campaign in by_key]
    if len(chosen) < 2:
        return None
    owners = list(dict.fromkeys(campaign for campaign, _ in chosen))
    ordered = sorted(
        (side for side in sides if side.campaign.pk in owners),
        key=lambda side: owners.index(side.campaign.pk),
    )
    return compare_chosen(
        ordered,
        [(owners.index(campaign), by_key[campaign][cell]) for campaign, cell in chosen],
        hardware=choice.hardware,
    )
