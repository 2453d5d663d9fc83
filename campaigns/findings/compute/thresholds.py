"""The finding of thresholds: whether each cell keeps the stated criterion, beside what is compared. With load or without."""

from collections.abc import Mapping, Sequence

from campaigns.findings.compute.conditions import COUNTED, Conditions, share_of
from campaigns.findings.compute.sessions import EXPLORED
from campaigns.findings.values import (
    CapacityFinding,
    Cell,
    Cells,
    ConditionTerms,
    ThresholdCell,
    Thresholds,
    ThresholdState,
    ThresholdWord,
)
from campaigns.stats.capacity import Held, LoadState
from campaigns.stats.comparison_cells import failed_share
from campaigns.stats.interval import Interval

TOLERANCE = 1e-12
"""A value at its limit keeps it, whatever the last digit."""
WORDS: Mapping[Held, ThresholdWord] = {
    Held.HELD: "passes",
    Held.FAILED: "does_not_pass",
    Held.UNDECIDED: "not_decided",
    Held.NOT_CONTRADICTED: "not_contradicted",
    Held.NOT_MEASURED: "not_decided",
}


def thresholds(
    conditions: Conditions, cells: Mapping[str, Cells], capacity: CapacityFinding | None = None
) -> Thresholds | None:
    """Return each cell against each condition; None without a stated one.

    cells: of the conditions' metrics, and of the primary one. Cells that only explored are left out. capacity: has decided on the cells that
    are loads, and nothing is decided twice.
    """
    terms = conditions.stated
    if not terms:
        return None
    decided = capacity.states if capacity else {}
    rows = [
        _decided(cell, *decided[cell.cell])
        if cell.cell in decided
        else _row(conditions, terms, cell, cells)
        for cell in cells[conditions.campaign.primary_metric].cells
        if not (cell.runs and all(run.state == EXPLORED for run in cell.runs))
    ]
    return Thresholds(
        word=_worst([row.word for row in rows]),
        conditions=terms,
        cells=rows,
        loads=bool(decided),
    )


def _decided(cell: Cell, decision: Held, states: Mapping[str, LoadState]) -> ThresholdCell:
    """Return a cell that is a load as it was decided. states: by condition."""
    return ThresholdCell(
        cell=cell.cell,
        levels=cell.levels,
        word=WORDS[decision],
        states=[
            ThresholdState(
                name=name,
                word=WORDS[state.state],
                value=state.value,
                interval=state.band,
                share=state.share if state.value is None else None,
                share_interval=state.share_interval if state.value is None else None,
            )
            for name, state in states.items()
        ],
    )


def _row(
    conditions: Conditions, terms: Sequence[ConditionTerms], cell: Cell, cells: Mapping[str, Cells]
) -> ThresholdCell:
    states = []
    for term in terms:
        of_metric = cells.get(term.metric)
        own = (
            next((each for each in of_metric.cells if each.cell == cell.cell), None)
            if of_metric
            else None
        )
        states.append(_state(conditions, term, cell.cell, own))
    word = _worst([state.word for state in states])
    return ThresholdCell(cell=cell.cell, levels=cell.levels, word=word, states=states)


def _state(
    conditions: Conditions, term: ConditionTerms, cell: int, own: Cell | None
) -> ThresholdState:
    """Judge one condition in one cell. A percentile without a value is judged by the share of units above the bound."""
    share = share_of(conditions.campaign, term) if term.metric else term.failed_share
    valued = term.metric and conditions.numbered(term, [cell])
    if share is not None and not valued:
        return _of_share(conditions, term, cell, share)
    if not valued:
        return _without_number(conditions, term, cell, own)
    summary = own.summary if own else None
    if summary is None:
        return ThresholdState(name=term.name, word="not_decided", value=None, interval=None)
    value, interval = summary.gmean, summary.gmean_ci
    if value is None:
        value, interval = summary.mean, summary.mean_ci
    word = _word(interval, term.at_most, term.at_least) if interval else "not_decided"
    return ThresholdState(name=term.name, word=word, value=value, interval=interval)


def _of_share(
    conditions: Conditions, term: ConditionTerms, cell: int, limit: float
) -> ThresholdState:
    """Judge a share by its interval over runs; one run has none."""
    made = [
        found
        for run in conditions.runs
        if run.cell == cell and (found := conditions.broken(term, run)) is not None
    ]
    rate = failed_share(
        [broken for broken, _ in made],
        [units for _, units in made],
        alpha=conditions.criteria.alpha,
    )
    if rate is None:
        return ThresholdState(name=term.name, word="not_decided", value=None, interval=None)
    word: ThresholdWord = "not_decided" if rate.within_run else _word(rate.ci, limit, None)
    return ThresholdState(
        name=term.name,
        word="not_contradicted" if word == "not_decided" and not rate.failed else word,
        value=None,
        interval=None,
        share=rate.share,
        share_interval=None if rate.within_run else rate.ci,
    )


def _without_number(
    conditions: Conditions, term: ConditionTerms, cell: int, own: Cell | None
) -> ThresholdState:
    """Judge a cell without a number: too many failures keep nothing; runs that timed out have lower bounds."""
    counts = own.counts if own else None
    bound = counts.lowest_limit if counts else None
    above = term.at_most is not None and bound is not None and bound > term.at_most
    counted = [run for run in conditions.runs if run.cell == cell and run.state in COUNTED]
    none_came = bool(counted) and all(run.state != "ok" for run in counted)
    enough = len(counted) >= conditions.criteria.minimum_n
    failed = enough and cell in conditions.failing and (none_came or not bound or above)
    return ThresholdState(
        name=term.name,
        word="does_not_pass" if failed else "not_decided",
        value=None,
        interval=None,
    )


def _word(interval: Interval, at_most: float | None, at_least: float | None) -> ThresholdWord:
    """Return whether all of an interval keeps the bound, or none of it."""
    low, high = interval
    if at_most is not None:
        room = TOLERANCE * abs(at_most)
        if high <= at_most + room:
            return "passes"
        return "does_not_pass" if low > at_most + room else "not_decided"
    bound = at_least or 0.0
    room = TOLERANCE * abs(bound)
    if low >= bound - room:
        return "passes"
    return "does_not_pass" if high < bound - room else "not_decided"


def _worst(words: Sequence[ThresholdWord]) -> ThresholdWord:
    """Return the word of several; a share that is not contradicted decides nothing."""
    if "does_not_pass" in words:
        return "does_not_pass"
    decided = {word for word in words if word != "not_contradicted"}
    return "passes" if decided == {"passes"} else "not_decided"
