"""Findings in a few lines for tests of wording: what a test does not name is plain."""

from dataclasses import replace
from typing import Any

import msgspec

from campaigns.findings.values import (
    Answer,
    Best,
    BreakShare,
    CalibrationFinding,
    CapacityCell,
    CapacityFinding,
    CapacityOfSetting,
    ConditionTerms,
    Confirmation,
    Estimate,
    FactChange,
    Grounds,
    Knee,
    KneeUncertainty,
    LevelComparison,
    LevelGroup,
    LevelRow,
    LevelsFinding,
    Noise,
    Outlook,
    OverStrata,
    Pairs,
    Primary,
    RunsOfCell,
    SettingRatio,
    Stratum,
    SummarisedCell,
    WithinShare,
)
from campaigns.findings.wording.answer import answer_text
from campaigns.findings.wording.answer_text import AnswerText
from campaigns.stats.calibration import Detectable
from campaigns.stats.capacity import (
    Capacity,
    CapacityRatio,
    CapacityWord,
    ConditionCapacity,
    Held,
    LoadState,
)
from campaigns.stats.cell_summary import CellSummary
from campaigns.stats.compared import Model
from campaigns.stats.interval import Interval
from campaigns.stats.knee import Methods
from campaigns.stats.paired import PairedComparison
from campaigns.stats.verdict import Verdict, Word

SECONDS: dict[str, Any] = {
    "metric": "duration",
    "label": "Duration",
    "unit": "s",
    "lower_is_better": True,
}
ONE_SESSION = Confirmation("one_session", "", 1)


def answered(of: Answer, **findings: Any) -> AnswerText:
    """Return the answer as text, of findings by their names."""
    return answer_text(Grounds(of, **findings))


def summarised(
    ok: int = 3, failed: int = 0, timed_out: int = 0, flags: Any = (), **counts: Any
) -> SummarisedCell:
    """Return a cell of `ok` runs and `failed` ones, of which some timed out."""
    summary = CellSummary(
        n_total=ok + failed,
        n_ok=ok,
        n_failed=failed,
        n_lost=0,
        n_missing=0,
        n_censored=timed_out,
        n_saturated=0,
        confidence=0.95,
        flags=flags,
    )
    plain: dict[str, Any] = {
        "runs": ok + failed,
        "states": {},
        "lowest_limit": None,
        "highest_limit": None,
        "at_least": None,
        "units": 0,
        "units_failed": 0,
        "too_many_failures": False,
    }
    return SummarisedCell(cell=1, levels={}, summary=summary, counts=RunsOfCell(**plain | counts))


def best_of(cells: list[int], seen: int, upper_pct: list[float], **fields: Any) -> Best:
    """Return the best of cells, by what each may cost at most."""
    plain: dict[str, Any] = {
        "at_edge": False,
        "possibly": [seen],
        "cost_pct": [0.0] * len(cells),
        "smallest_share": 0.0,
        "critical": [2.0] * len(cells),
        "df": 10.0,
        "within": [WithinShare(0.05, None, None)],
    }
    return Best(cells=cells, seen=seen, upper_pct=upper_pct, **plain | fields)


def level_group(values: list[Any], **fields: Any) -> LevelGroup:
    """Return the levels of one factor, in cells 1, 2, 3 and so on."""
    plain: dict[str, Any] = {
        "cells": list(range(1, len(values) + 1)),
        "levels": {},
        "numeric": True,
        "reading": [None] * len(values),
        "comparisons": [],
        "best": None,
        "knee": None,
    }
    return LevelGroup(values=values, **plain | fields)


def levels_of(*groups: LevelGroup, **fields: Any) -> LevelsFinding:
    """Return a campaign of levels of workers."""
    plain: dict[str, Any] = {
        "factor": "workers",
        "model": Model.BLOCKS,
        "noise": Noise(),
        "sessions": 1,
        "between": False,
        "drift": None,
        "overall": [],
    }
    return LevelsFinding(groups=groups, **SECONDS | plain | fields)


def stratum(judged: Verdict, confirmation: Confirmation = ONE_SESSION, **levels: Any) -> Stratum:
    """Return the pairs at these levels."""
    name = ", ".join(str(level) for level in levels.values())
    return Stratum(
        name=name,
        levels=levels,
        comparison=PairedComparison(name, 5, 0, 0, judged),
        confirmation=confirmation,
        pairs=[],
    )


def pairs_of(*strata: Stratum, **fields: Any) -> Pairs:
    """Return a paired campaign of engine new against old."""
    plain: dict[str, Any] = {
        "factor": "engine",
        "baseline": "old",
        "candidate": "new",
        "overall": None,
        "sessions": 1,
        "order_effect": None,
    }
    return Pairs(strata=strata, **SECONDS | plain | fields)


def cell(
    key: int, mean: float | None, ok: int = 5, failed: int = 0, **others: Any
) -> SummarisedCell:
    """Return a cell with a mean; others: fields of its summary or its counts, and its levels."""
    plain = summarised(ok, failed)
    of_summary = {name: others.pop(name) for name in [*others] if hasattr(plain.summary, name)}
    of_counts = {name: others.pop(name) for name in [*others] if hasattr(plain.counts, name)}
    interval = Interval(0.95 * mean, 1.05 * mean) if mean and ok > 1 else None
    estimates = {"mean": mean, "gmean": mean if ok > 1 else None, "gmean_ci": interval}
    return SummarisedCell(
        cell=key,
        levels=others,
        summary=replace(plain.summary, **{**estimates, **of_summary}),
        counts=msgspec.structs.replace(plain.counts, **of_counts),
    )


def answer(*cells: SummarisedCell, **fields: Any) -> Answer:
    """Return an interleaved campaign of durations, measured on a real server that stayed as it was."""
    plain: dict[str, Any] = {
        "order": "interleaved",
        "cancelled": False,
        "work": [],
        "failing": [],
        "simulators": [],
        "changes": [],
        "invalid": [],
    }
    return Answer(cells=cells, **SECONDS | plain | fields)


def workers(*means: float, **fields: Any) -> Answer:
    """Return a campaign with 2, 4, 8 and so on workers, in cells 1, 2, 3 and so on."""
    cells = [cell(key, mean, workers=2**key) for key, mean in enumerate(means, 1)]
    return answer(*cells, **fields)


def verdict(
    word: Word, change: float | None = None, low: float = 0.0, high: float = 0.0, **fields: Any
) -> Verdict:
    """Return a verdict of five pairs; without a change it has no interval either."""
    interval = None if change is None else Interval(low, high)
    return Verdict(word, 5, pct_change=change, ci_pct=interval, **fields)


def step(
    baseline: int, candidate: int, judged: Verdict, confirmation: Confirmation = ONE_SESSION
) -> LevelRow:
    """Return a comparison of two cells."""
    return LevelRow(
        baseline=baseline,
        candidate=candidate,
        comparison=LevelComparison(verdict=judged),
        confirmation=confirmation,
    )


def over(strata: int, change: float, **fields: Any) -> OverStrata:
    """Return the mean change over strata: all four means are the same."""
    interval = Interval(change - 2, change + 2)
    plain: dict[str, Any] = {
        "average_pct": change,
        "average_ci": interval,
        "geometric_pct": change,
        "geometric_ci": interval,
        "total_pct": change,
        "rate_pct": change,
        "heterogeneous": False,
        "confirmation": ONE_SESSION,
    }
    unknown = ("fixed", "fixed_ci", "sample", "sample_ci", "q", "q_p", "differ_p", "i2")
    missing: dict[str, Any] = dict.fromkeys(unknown)
    return OverStrata(strata=strata, **missing | plain | fields)


def primary(judged: Verdict, over: int = 1, **at: Any) -> Primary:
    """Return the primary contrast of 8 workers against 2."""
    return Primary(
        factor="workers",
        candidate=8,
        baseline=2,
        at=at,
        over=over,
        comparison=Estimate(verdict=judged),
        confirmation=ONE_SESSION,
    )


def knee(strength: str = "strong", consensus: float | None = None) -> Knee:
    """Return a knee between 4 and 8."""
    return Knee(
        strength=strength,
        at=5.0,
        below=1.0,
        above=0.1,
        delta_aicc=9.0,
        curves=[],
        methods=Methods(4.0, 4.0, None, None, 4.0, consensus, ()),
        uncertainty=KneeUncertainty(
            interval=Interval(4.0, 8.0),
            below=Interval(0.9, 1.1),
            above=Interval(0.0, 0.2),
            l_shares={},
            chord_shares={},
            rough=False,
            between=[BreakShare(2.0, 4.0, 0.1), BreakShare(4.0, 8.0, 0.9)],
        ),
    )


def of_two_sessions(*each: float, confirmed: bool = True, differ: bool = False) -> Confirmation:
    """Return what two sessions say, by the change in each."""
    standing = "confirmed" if confirmed else "not_confirmed"
    return Confirmation(standing, "", len(each), each_pct=each, differ=differ)


def between_sessions(number: int, *, confirmed: bool = True, differ: bool = False) -> Confirmation:
    """Return the confirmation by three sessions or more."""
    standing = "confirmed" if confirmed else "not_confirmed"
    return Confirmation(standing, "", number, between=True, differ=differ)


def change(name: str, before: str = "3.1", after: str = "3.2") -> FactChange:
    """Return a change of the target between runs 6 and 7."""
    return FactChange("target", name, before, after, 6, 7)


def identical_runs(alarms: int = 0) -> CalibrationFinding:
    """Return ten pairs of identical runs that differ by up to 4.2 %."""
    return CalibrationFinding(
        n=10,
        sd_log=0.02,
        sd_log_ci=Interval(0.014, 0.036),
        run_sd_log=0.014,
        seen_pct=3.9,
        floor_pct=4.2,
        mean_pct=0.1,
        mean_p=0.8,
        detectable=(Detectable(3, 9.0), Detectable(10, 2.1)),
        metric="duration",
        label="Duration",
        sd_pct=2.0,
        sd_ci_pct=Interval(1.4, 3.6),
        run_sd_pct=1.4,
        alpha=0.05,
        verdicts=1,
        alarms=alarms,
    )


def stopped(stop: str, half_width_pct: float | None = 2.4, **fields: Any) -> Outlook:
    """Return an adaptive campaign with a target of ±3 %, after 8 of at most 30 blocks."""
    plain: dict[str, Any] = {"primary": False, "more": None, "expected_pct": None, "seconds": None}
    return Outlook(
        stop=stop,
        target_pct=3.0,
        half_width_pct=half_width_pct,
        closed=16,
        blocks=8,
        most=30,
        alpha=0.025,
        **plain | fields,
    )


P95 = ConditionTerms(
    name="p95", metric="p95", label="p95 of a registration", unit="s", at_most=180.0
)
FAILURES = ConditionTerms(name="failed_share", failed_share=0.05)
FAILURE_LIMIT = ConditionTerms(name="failed_share", failed_share=0.05, stated=False)
LOADS = (60.0, 120.0, 240.0, 480.0, 960.0)


def load_state(load: float, value: float | None = None, **fields: Any) -> LoadState:
    """Return one load under a condition; share and share_interval instead of a value for failures."""
    band = Interval(0.9 * value, 1.1 * value) if value else None
    return LoadState(load, fields.pop("state", Held.UNDECIDED), 3, value, band, **fields)


def condition(name: str = "p95", *states: LoadState, **fields: Any) -> ConditionCapacity:
    """Return the capacity by one condition."""
    plain: dict[str, Any] = {"low": None, "estimate": None, "high": None}
    return ConditionCapacity(name, loads=states, **plain | fields)


def capacity(
    word: CapacityWord,
    low: float | None = None,
    estimate: float | None = None,
    high: float | None = None,
    *conditions: ConditionCapacity,
    loads: Any = LOADS,
    **fields: Any,
) -> Capacity:
    """Return a capacity of loads in three blocks; with an estimate it is claimed by the line."""
    plain: dict[str, Any] = {"blocks": 3, "binding": "p95", "resolution": 1.5}
    plain["by_line"] = estimate is not None
    return Capacity(
        word,
        low,
        estimate,
        high,
        lowest=min(loads),
        highest=max(loads),
        conditions=conditions,
        **plain | fields,
    )


def carried_by(
    carried: Capacity, loads: Any = LOADS, first_cell: int = 1, **levels: Any
) -> CapacityOfSetting:
    """Return what a setting carries; its cells are numbered in the order of the loads, and decided as its bounds say."""

    def held(load: float) -> Held:
        if carried.low is not None and load <= carried.low:
            return Held.HELD
        is_above = carried.high is not None and load >= carried.high
        return Held.FAILED if is_above else Held.UNDECIDED

    cells = [
        CapacityCell(cell=key, load=load, held=held(load), runs=3, passed=0)
        for key, load in enumerate(loads, first_cell)
    ]
    return CapacityOfSetting(levels=levels, cells=cells, capacity=carried)


def capacities(*settings: CapacityOfSetting, **fields: Any) -> CapacityFinding:
    """Return what settings carry, by p95 at most 180 s."""
    plain: dict[str, Any] = {
        "load": "hosts",
        "load_label": "Hosts",
        "others": [],
        "conditions": [P95],
        "stated": True,
        "resolution": 1.5,
        "alpha": 0.05,
        "margin_pct": 5.0,
        "delta_pct": 10.0,
        "ratios": [],
    }
    return CapacityFinding(settings=settings, **plain | fields)


def ratio(
    word: Word,
    times: float | None = None,
    low: float | None = None,
    high: float | None = None,
    sides: tuple[int, int] = (0, 1),
    **fields: Any,
) -> SettingRatio:
    """Return the ratio of the second setting to the first one."""
    return SettingRatio(
        baseline=sides[0],
        candidate=sides[1],
        factor="workers",
        ratio=CapacityRatio(word, times, low, high, **fields),
    )
