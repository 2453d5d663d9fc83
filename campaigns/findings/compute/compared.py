"""Compare campaigns, or cells of different campaigns, with the first of them as the baseline.

It is not stored, but computed for each request: whose cells are compared, in which order and
against which baseline is chosen in the address, a link at a time, and each choice is a family of its
own; stored results would be many, and each would wait for the analysis queue, minutes while something
is measured, for what takes milliseconds. It is computed from stored findings alone, without chance,
so that the same address over the same data gives the same numbers; `data_hash` is that of them.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

from campaigns.findings.compared import Choice, Side
from campaigns.findings.compute.comparability import (
    Differs,
    Names,
    cell_differences,
    levels_apart,
    same_levels,
    setting_differences,
    work_differences,
)
from campaigns.findings.compute.differences import Difference, causes, differences_of
from campaigns.findings.compute.fidelity import is_exact
from campaigns.findings.compute.measured import Cell, Measured, measured_of
from campaigns.findings.compute.statistics_input import criteria_of
from campaigns.stats.between_campaigns import (
    FEWEST_SESSIONS,
    OverCells,
    enough_sessions,
    over_cells,
)
from campaigns.stats.compared import Comparison, Model
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.comparisons import WITHOUT_NUMBERS, compare_cells
from campaigns.stats.criteria import Criteria
from campaigns.stats.hashing import data_hash
from campaigns.stats.labels import Display, advice, display
from campaigns.stats.rounding import step_shares, within_resolution
from campaigns.stats.sessions import DECIDED
from campaigns.stats.verdict import Verdict, Word

MOST_COMPARISONS = 100
"""So many comparisons take half a second at worst (few runs with ties); a dozen take milliseconds."""
CSV_HEAD = (
    "baseline", "candidate", "baseline_cell", "candidate_cell", "verdict", "reason", "fields",
    "badges", "change_pct", "low_pct", "high_pct", "p", "p_holm", "p_ranks", "model", "n", "df",
    "baseline_mean", "candidate_mean", "metric", "unit", "standing", "data_hash",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Row:
    """A cell of a candidate against one of the baseline.

    side: of the candidate, by its place. name: the levels that both have; empty where cells were
    chosen one by one. fields: why it is refused. settings: what else was set otherwise.
    means: geometric where there is one, in the unit of the baseline.
    """

    side: int
    name: str
    baseline: Cell
    candidate: Cell
    comparison: Comparison
    display: Display
    advice: str
    confirmation: str
    means: tuple[float | None, float | None]
    fields: tuple[Differs, ...] = ()
    settings: tuple[Differs, ...] = ()


@dataclass(frozen=True, slots=True)
class Against:
    """One candidate as a whole. refused: why none of its cells may be compared.

    apart: factors without a level in common. only_here, only_there: cells of the candidate, and of the baseline, without a counterpart.
    """

    side: int
    refused: tuple[Differs, ...]
    over: OverCells | None = None
    apart: tuple[Differs, ...] = ()
    only_here: tuple[str, ...] = ()
    only_there: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Compared:
    """A whole comparison. left_out: how many pairs beyond MOST_COMPARISONS were not compared."""

    names: Names
    measured: tuple[Measured, ...]
    criteria: Criteria
    rows: tuple[Row, ...]
    against: tuple[Against, ...]
    differences: tuple[Difference, ...]
    left_out: int
    data_hash: str

    @property
    def judged(self) -> tuple[Row, ...]:
        """Return the rows that were not refused."""
        return tuple(row for row in self.rows if not row.fields)

    def causes_of(self, side: int) -> list[str]:
        """Return the differences between a campaign and the first one that may cause different results."""
        return causes(self.differences, side)


@dataclass(frozen=True, slots=True)
class _Pair:
    """Two cells that are to be compared, by their sides."""

    name: str
    baseline: tuple[int, Cell]
    candidate: tuple[int, Cell]


def compare_campaigns(sides: Sequence[Side]) -> Compared:
    """Compare the cells of each campaign with those of the first one that have the same levels.

    sides: two or more, all with findings.
    """
    names, differences = Names(sides), differences_of(sides)
    pairs: list[_Pair] = []
    against: list[Against] = []
    for place, side in enumerate(sides[1:], start=1):
        refused = work_differences(sides[0], side)
        result = Against(place, tuple(refused))
        if not refused:
            matched, only_there, only_here = _matched(names, place)
            pairs += matched
            result = replace(
                result,
                apart=tuple(levels_apart(sides[0], side)),
                only_here=only_here,
                only_there=only_there,
            )
        against.append(result)
    return _compared(names, pairs, against, differences)


def compare_chosen(sides: Sequence[Side], chosen: Sequence[tuple[int, Cell]]) -> Compared:
    """Compare chosen cells with the first of them, which is of the first side.

    chosen: two or more, each with the place of its side.
    """
    pairs = [_Pair("", chosen[0], each) for each in chosen[1:]]
    return _compared(Names(sides), pairs, [], differences_of(sides))


def _matched(names: Names, place: int) -> tuple[list[_Pair], tuple[str, ...], tuple[str, ...]]:
    """Pair cells by all that varies in either campaign, in the order of the baseline."""
    base, side = names.sides[0], names.sides[place]
    varied = {*base.factors, *side.factors}
    theirs = {same_levels(side, cell, varied): cell for cell in _cells(side)}
    pairs, only_there = [], []
    for cell in _cells(base):
        other = theirs.pop(same_levels(base, cell, varied), None)
        if other is None:
            only_there.append(names.cell(0, cell))
        else:
            pairs.append(_Pair(names.cell(0, cell, varied), (0, cell), (place, other)))
    return pairs, tuple(only_there), tuple(names.cell(place, cell) for cell in theirs.values())


def _compared(
    names: Names,
    pairs: Sequence[_Pair],
    against: Sequence[Against],
    differences: Sequence[Difference],
) -> Compared:
    made, left_out = pairs[:MOST_COMPARISONS], max(0, len(pairs) - MOST_COMPARISONS)
    measured = [measured_of(side, names.sides[0]) for side in names.sides]
    criteria = _strictest(names.sides)
    rows = _rows(measured, made, criteria)
    return Compared(
        names=names,
        measured=tuple(measured),
        criteria=criteria,
        rows=tuple(rows),
        against=tuple(_with_overall(each, measured, rows, criteria) for each in against),
        differences=tuple(differences),
        left_out=left_out,
        data_hash=_hash(measured, made, criteria),
    )


def _strictest(sides: Sequence[Side]) -> Criteria:
    """Return the strictest criteria of all campaigns, so that verdicts do not depend on which is the baseline."""
    each = [criteria_of(side.campaign, len(_cells(side)), adaptive=side.adaptive) for side in sides]
    return Criteria(
        alpha=min(one.alpha for one in each),
        delta=min(one.delta for one in each),
        margin=min(one.margin for one in each),
    )


def _rows(measured: Sequence[Measured], pairs: Sequence[_Pair], criteria: Criteria) -> list[Row]:
    """Judge all comparable pairs as one family; refuse the others, with the fields that differ."""
    cells: dict[tuple[int, int], int] = {}
    cell_runs: list[CellRuns] = []
    for side, cell in (each for pair in pairs for each in (pair.baseline, pair.candidate)):
        if (side, cell["cell"]) not in cells:
            cells[side, cell["cell"]] = len(cell_runs)
            cell_runs.append(measured[side].cell_runs[cell["cell"]])
    fields = [_fields(measured, pair) for pair in pairs]
    places = [
        tuple(cells[side, cell["cell"]] for side, cell in (pair.baseline, pair.candidate))
        for pair in pairs
    ]
    wanted = [(b, c) for (b, c), refused in zip(places, fields, strict=True) if not refused]
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
            measured, pair, _refused(place, cell_runs, refused) if refused else next(judged), refused,
            criteria,
        )
        for pair, place, refused in zip(pairs, places, fields, strict=True)
    ]  # fmt: skip


def _fields(measured: Sequence[Measured], pair: _Pair) -> list[Differs]:
    (base, one), (candidate, other) = pair.baseline, pair.candidate
    return cell_differences(measured[base].side, one, measured[candidate].side, other)


def _refused(
    place: tuple[int, ...], cell_runs: Sequence[CellRuns], fields: Sequence[Differs]
) -> Comparison:
    n = min(len(cell_runs[index].values) for index in place)
    names = tuple(each.label for each in fields)
    verdict = Verdict(Word.NOT_COMPARABLE, n=n, fields=names)
    return Comparison(place[0], place[1], Model.WELCH, verdict)


def _row(
    measured: Sequence[Measured],
    pair: _Pair,
    comparison: Comparison,
    fields: Sequence[Differs],
    criteria: Criteria,
) -> Row:
    (base, one), (candidate, other) = pair.baseline, pair.candidate
    sides, metric = (measured[base].side, measured[candidate].side), measured[base]
    cell_runs = measured[base].cell_runs[one["cell"]], measured[candidate].cell_runs[other["cell"]]
    noun = "session" if enough_sessions(*cell_runs) else "run"
    if not fields and not is_exact(metric.unit):
        comparison = replace(comparison, verdict=_resolved(comparison.verdict, cell_runs, criteria))
    return Row(
        side=candidate,
        name=pair.name,
        baseline=one,
        candidate=other,
        comparison=comparison,
        display=display(
            comparison.verdict.word,
            metric.unit,
            metric.lower_is_better,
            metric=metric.name,
            margin=criteria.margin,
        ),
        advice=advice(comparison.verdict, criteria, noun, " of each side"),
        confirmation=confirmation_text(comparison.verdict, *cell_runs),
        means=(measured[base].mean(one), measured[candidate].mean(other)),
        fields=tuple(fields),
        settings=tuple(setting_differences(sides[0], one, sides[1], other)),
    )


def _resolved(verdict: Verdict, cell_runs: Sequence[CellRuns], criteria: Criteria) -> Verdict:
    """Withhold a verdict for which the values of one of two cells are too coarse; each has its own tool."""
    steps = [share for cell in cell_runs for share in step_shares([cell.values])]
    identical = all(len(set(cell.values)) == 1 < len(cell.values) for cell in cell_runs)
    return within_resolution(verdict, max(steps), criteria, identical=identical)


def _with_overall(
    against: Against, measured: Sequence[Measured], rows: Sequence[Row], criteria: Criteria
) -> Against:
    """Summarise all cells of a candidate that have a number as one change."""
    own = [
        row
        for row in rows
        if row.side == against.side and row.comparison.verdict.word not in WITHOUT_NUMBERS
    ]
    base, candidate = measured[0], measured[against.side]
    over = over_cells(
        [
            (base.cell_runs[row.baseline["cell"]], candidate.cell_runs[row.candidate["cell"]])
            for row in own
        ],
        in_blocks=(base.in_blocks, candidate.in_blocks),
        criteria=criteria,
    )
    return replace(against, over=over)


def _hash(measured: Sequence[Measured], pairs: Sequence[_Pair], criteria: Criteria) -> str:
    """Hash the data of every campaign, what was compared, and the criteria."""
    return data_hash(
        definition={
            "campaigns": [each.side.data_hash for each in measured],
            "metric": measured[0].name,
            "pairs": [
                [[side, cell["levels"]] for side, cell in (pair.baseline, pair.candidate)]
                for pair in pairs
            ],
        },
        runs=[],
        exclusions=[],
        parameters=asdict(criteria),
    )


def _cells(side: Side) -> Sequence[Cell]:
    cells: Sequence[Mapping[str, Any]] = side.cells["cells"] if side.cells else ()
    return cells


def confirmation_text(verdict: Verdict, baseline: CellRuns, candidate: CellRuns) -> str:
    """Return in how many sessions a verdict was seen; empty where there is nothing to confirm."""
    if verdict.word in WITHOUT_NUMBERS or not baseline.values or not candidate.values:
        return ""
    numbers = [cell.session_count for cell in (baseline, candidate)]
    if numbers == [1, 1]:
        return "one session each"
    counts = f"{numbers[0]} and {numbers[1]} sessions"
    if min(numbers) < FEWEST_SESSIONS:
        return f"{counts}: too few to confirm"
    confirmed = verdict.word in DECIDED
    return f"{'confirmed' if confirmed else 'not confirmed'} over {counts}"


def compare(choice: Choice, sides: Sequence[Side]) -> Compared | None:
    """Compare chosen cells, or whole campaigns; None where there are not two. sides: usable ones."""
    if not choice.cells:
        return compare_campaigns(sides) if len(sides) > 1 else None
    by_key = {side.campaign.pk: _by_key(side) for side in sides}
    chosen = [(campaign, cell) for campaign, cell in choice.cells if campaign in by_key]
    if len(chosen) < 2:
        return None
    owners = list(dict.fromkeys(campaign for campaign, _ in chosen))
    ordered = sorted(
        (side for side in sides if side.campaign.pk in owners),
        key=lambda side: owners.index(side.campaign.pk),
    )
    return compare_chosen(
        ordered, [(owners.index(campaign), by_key[campaign][cell]) for campaign, cell in chosen]
    )


def _by_key(side: Side) -> dict[int, Mapping[str, Any]]:
    return {cell["cell"]: cell for cell in (side.cells or {"cells": ()})["cells"]}


def csv_rows(compared: Compared | None) -> Iterator[Sequence[Any]]:
    """Yield the head, then one row a comparison; a campaign that is refused as a whole has one."""
    yield CSV_HEAD
    if compared is None:
        return
    names, first = compared.names, compared.measured[0]
    for each in compared.against:
        if each.refused:
            fields = "; ".join(f"{f.label}: {f.baseline} | {f.candidate}" for f in each.refused)
            refused = (names.campaigns[0], names.campaigns[each.side], "", "", "not_comparable")
            yield (*refused, "", fields, *[""] * 12, first.name, first.unit, "", compared.data_hash)
    for row in compared.rows:
        verdict, ranks = row.comparison.verdict, row.comparison.ranks
        low, high = verdict.ci_pct or (None, None)
        yield (
            names.campaigns[0],
            names.campaigns[row.side],
            names.cell(0, row.baseline),
            names.cell(row.side, row.candidate),
            verdict.word.value,
            verdict.reason,
            "; ".join(f"{f.label}: {f.baseline} | {f.candidate}" for f in row.fields),
            " ".join(verdict.badges),
            verdict.pct_change, low, high, verdict.p, verdict.p_adjusted,
            ranks.p if ranks else None,
            row.comparison.model.value, verdict.n, row.comparison.df,
            *row.means, first.name, first.unit, row.confirmation, compared.data_hash,
        )  # fmt: skip
