"""What the checklist says before sign-off: every line, in each of its states."""

import dataclasses

import pytest
from msgspec.structs import replace

from campaigns.findings.values import (
    BriefCell,
    BriefCells,
    CapacityFinding,
    CapacityOfSetting,
    Checks,
    Confirmation,
    FailedPart,
    FailedParts,
    LeftOutInTurn,
    LevelsFinding,
    RunsOfCell,
    Sensitivity,
    ThresholdCell,
    Thresholds,
    ThresholdState,
    ThresholdWord,
    Tried,
)
from campaigns.findings.wording import checklist as wording
from campaigns.findings.wording.checklist import CAUSES, TITLES, Design, ExcludedRun, Line
from campaigns.stats.capacity import CapacityWord
from campaigns.stats.cell_summary import CellSummary
from campaigns.stats.interval import Interval
from campaigns.stats.validity import Check, Outcome
from campaigns.stats.verdict import Word
from campaigns.tests.findings.wording.builders import (
    P95,
    capacities,
    capacity,
    carried_by,
    level_group,
    levels_of,
    pairs_of,
    step,
    stratum,
    verdict,
)

P, W, F, N = Outcome.PASS, Outcome.WARN, Outcome.FAIL, Outcome.NOT_POSSIBLE
DESIGN = Design("interleaved", "block", 8, 2, 0.05, imported=False)
PAIRED = dataclasses.replace(DESIGN, order="paired", blocks=3)
BLOCKED = dataclasses.replace(DESIGN, order="blocked", block="repetition", imported=True)
RANDOM = dataclasses.replace(DESIGN, order="random", block="repetition", blocks=1)
ONE_CELL = dataclasses.replace(DESIGN, cells=1)


def cells(*ok: int, failed: int = 0, timed_out: int = 0, lost: int = 0) -> BriefCells:
    """Return cells of so many runs that count; the first one also has the others."""
    counts = RunsOfCell(0, {}, None, None, None, 0, 0, too_many_failures=False)
    rows = []
    for place, number in enumerate(ok):
        out = (failed + timed_out, lost, timed_out) if place == 0 else (0, 0, 0)
        summary = CellSummary(
            n_total=number + out[0],
            n_ok=number,
            n_failed=out[0],
            n_lost=out[1],
            n_missing=0,
            n_censored=out[2],
            n_saturated=0,
            confidence=0.95,
        )
        rows.append(BriefCell(cell=place, levels={}, summary=summary, counts=counts, values=[]))
    return BriefCells(metric="duration", label="", unit="s", lower_is_better=True, cells=rows)


def of(name: str, design: Design, *checks: Check, runs: int = 16) -> Line:
    """Return the line that comes from these checks."""
    lines = wording.lines_of_checks(design, Checks(checks), cells(runs))
    (line,) = [line for line in lines if line.name == name]
    return line


def confirmed(*standings: tuple[str, int]) -> LevelsFinding:
    """Return comparisons of levels, each with its standing and the sessions it rests on."""
    rows = [
        replace(step(1, 2, verdict(Word.BETTER)), confirmation=Confirmation(standing, "", sessions))
        for standing, sessions in standings
    ]
    return levels_of(level_group([5, 10, 20], comparisons=rows), sessions=2)


UNDECIDED = carried_by(capacity(CapacityWord.NOT_MONOTONE))
MEANS = "Carried means that p95 of a registration stays within 3:00 min."


def held(sessions: str = "confirmed", **fields) -> CapacityOfSetting:
    """Return that 402 hosts are carried, and how sessions confirm it."""
    carries = carried_by(capacity(CapacityWord.BETWEEN, 388.0, 402.0, 416.0, **fields))
    return replace(carries, confirmation=Confirmation(sessions, "", 2))


def carried(*settings: CapacityOfSetting) -> CapacityFinding:
    """Return what settings carry, by p95."""
    return capacities(*settings, conditions=[P95])


def judged(word: ThresholdWord) -> Thresholds:
    """Return one cell by p95."""
    state = ThresholdState(name="p95", word=word, value=150.0, interval=Interval(120.0, 190.0))
    cell = ThresholdCell(cell=1, levels={}, word=word, states=[state])
    return Thresholds(word=word, conditions=[P95], cells=[cell])


def criterion(finding: Thresholds) -> Line:
    """Return the line on a criterion that was judged."""
    line = wording.criterion_line(finding)
    assert line
    return line


SWITCHES = {"switches": 10.0, "most": 17.0}
TREND = {"tau": -0.72, "slope_pct": -4.2, "slope_p": 0.01}
ROUNDED = {"smallest_effect_pct": 5.0, "declared": 1.0}
LEVELS = levels_of()
LOOK, FLIPPING = LeftOutInTurn(16, 16, [], 0), LeftOutInTurn(16, 16, [], 3)
EXCLUDED = [ExcludedRun(run, "ann", "The disk was full.") for run in range(1, 8)]

GOLDEN = [
    # Runs and blocks
    (wording.runs_line(DESIGN, cells(8, 8)), "pass", "8",
     "8 runs that count in each of 2 cells, in 8 blocks."),
    (wording.runs_line(PAIRED, cells(2, 3)), "warn few", "2 to 3",
     "2 to 3 runs that count in each of 2 cells, in 3 blocks. Fewer than 3 allow no sound interval."),
    (wording.runs_line(RANDOM, cells(1)), "fail", "1",
     "1 run that counts in each of 1 cell, in 1 repetition. Fewer than 2 allow no interval."),
    (wording.runs_line(DESIGN, cells(0, 8)), "fail", "0 to 8",
     "0 to 8 runs that count in each of 2 cells, in 8 blocks. Fewer than 2 allow no interval."),
    (wording.runs_line(DESIGN, cells(0, 0)), "fail", "0", "No run has a value."),
    (wording.runs_line(DESIGN, None), "fail", "0", "No run has a value."),
    # Order of runs
    (wording.order_line(DESIGN), "pass", "interleaved", "Levels take turns within each block."),
    (wording.order_line(PAIRED), "pass", "paired", "Levels take turns within each block."),
    (wording.order_line(RANDOM), "pass", "random", "Runs were made in random order."),
    (wording.order_line(BLOCKED), "warn order", "blocked",
     "All runs of a level were made one after the other: level and time of day cannot be "
     "distinguished."),
    # Confounding
    (of("confounding", DESIGN, Check("interleaving", P, 0.43, SWITCHES)), "pass", "0.43",
     "10 of 17 possible switches of level in the order in which runs were made."),
    (of("confounding", BLOCKED, Check("interleaving", W, 0.0, {"switches": 1.0, "most": 17.0})),
     "warn order", "0.00",
     "1 of 17 possible switches of level in the order in which runs were made. Level and time of day "
     "are fully confounded."),
    (of("confounding", DESIGN, Check("interleaving", N)), "warn order", "—",
     "The order of runs is unknown, or no other was possible: level and time may be confounded."),
    (of("confounding", BLOCKED), "warn elsewhere", "—",
     "The order of runs is unknown, or no other was possible: level and time may be confounded."),
    (of("confounding", ONE_CELL, Check("interleaving", N)), "pass", "—",
     "There is one cell only: nothing to be confounded with."),
    # Drift
    (of("drift", RANDOM, Check("drift", P, 0.41, {**TREND, "tau": 0.12})), "pass", "τ 0.12, p 0.410",
     "No trend with time was found."),
    (of("drift", RANDOM, Check("drift", W, 0.0004, TREND)), "warn", "τ −0.72, p 0.0004",
     "Runs change with time: compare levels with care."),
    (of("drift", DESIGN, Check("block_drift", W, 0.004, TREND)), "warn", "τ −0.72, p 0.004",
     "The target drifts: contrasts are protected, absolute levels are not."),
    (of("drift", BLOCKED, Check("drift_within", P, 0.322, {"slope_pct": 0.1, "missed_pct": 0.8})),
     "warn order", "p 0.322",
     "Drift: none shown within levels (at most ±0.8 % a run would have been missed); between levels it cannot be "
     "determined in this order."),
    (of("drift", BLOCKED, Check("drift_within", W, 0.01, {"slope_pct": 9.0})), "warn order",
     "p 0.010",
     "Runs of one level drift (+9 % a run), so levels measured one after the other differ by that, too."),
    (of("drift", PAIRED, Check("block_drift", N)), "warn few", "—",
     "Too few to see a drift: it takes 5 blocks, and there are 3."),
    (of("drift", RANDOM, Check("drift", N), runs=1), "warn few", "—",
     "Too few to see a drift: it takes 8 runs, and there is 1."),
    (of("drift", DESIGN), "warn", "—",
     "Whether there is a drift is unknown: these values, or their times, do not allow the test."),
    (of("drift", RANDOM), "warn order", "—",
     "Whether there is a drift is unknown: these values, or their times, do not allow the test."),
    # Position within block
    (of("place", DESIGN, Check("order_in_block", P, 0.2, {"slope_pct": 0.1}), Check("cold_start", N)),
     "pass", "p 0.200", "No effect of the position was found."),
    (of("place", DESIGN, Check("order_in_block", W, 0.002, {"slope_pct": 1.0})), "warn", "p 0.002",
     "The position of a run within its block mattered."),
    (of("place", DESIGN, Check("order_in_block", P, 0.2, {"slope_pct": 0.1}),
        Check("cold_start", W, 1.0, {"p": 0.01})), "warn", "100 %",
     "First runs of blocks are the extremes of most levels: warm up."),
    (of("place", DESIGN, Check("order_in_block", W, 0.002, {"slope_pct": 1.0}),
        Check("cold_start", W, 1.0, {"p": 0.01})), "warn", "p 0.002",
     "The position of a run within its block mattered. First runs of blocks are the extremes of most "
     "levels: warm up."),
    # Generator saturation
    (of("saturation", DESIGN, Check("saturation", P, 0.0)), "pass", "0",
     "The generator was not saturated in any run, and nothing else disturbed one."),
    (of("saturation", DESIGN, Check("saturation", W, 2.0, positions=(3, 4))), "warn", "2",
     "Something may have disturbed the generator; the page of each run says what: runs 3, 4."),
    (of("saturation", DESIGN, Check("saturation", F, 2.0, positions=(3, 4))), "fail", "2",
     "The generator was saturated, so that values are bounds: runs 3, 4."),
    (of("saturation", BLOCKED, Check("saturation", N)), "warn elsewhere", "—",
     "The import has no load-generator health data."),
    # Other programs on the generator
    (of("starved", DESIGN, Check("starved", P, 0.0, {"runs": 15.0, "most": 0.04})), "pass", "0",
     "In no run did the generator wait for a CPU more than 4 % of the time."),
    (of("starved", DESIGN, Check("starved", W, 1.0, {"runs": 15.0, "most": 0.34}, (3,))), "warn", "1 of 15",
     "Other programs kept the generator waiting for a CPU, up to 34 % of the time; what it measured then counts for "
     "nothing: run 3."),
    # Environment
    (of("environment", DESIGN, Check("environment", P, 0.0, {"facts": 14.0})), "pass", "0",
     "14 facts, the same before the first and after the last run."),
    (of("environment", DESIGN, Check("environment", F, 2.0, {"facts": 14.0})), "fail", "2",
     "2 changes of 14 facts: runs before and after one are not comparable."),
    (of("environment", BLOCKED, Check("environment", W, 0.0, {"facts": 3.0})), "warn elsewhere",
     "imported description", "3 facts, described by the import, not captured with each run."),
    (of("environment", DESIGN, Check("environment", N)), "warn", "—",
     "No facts of target or generator were stored."),
    # What the numbers are
    (of("fidelity", DESIGN, Check("aggregated", W)), "warn", "aggregated",
     "Each value is a mean, or a percentile, of many samples, computed by the tool: the spread within "
     "a run is unknown."),
    (of("fidelity", DESIGN, Check("rounded", W, 0.89, ROUNDED)), "warn", "rounded",
     "Values are written in steps of up to 0.89 % of their mean."),
    (of("fidelity", DESIGN, Check("rounded", F, 50.0, ROUNDED)), "fail", "rounded",
     "Values are written in steps of up to 50 % of their mean. A difference of 5 %, the smallest of "
     "interest, cannot be seen."),
    # Sensitivity
    (wording.sensitivity_line(LEVELS, Sensitivity("robust", "block", Tried(2, LOOK, LOOK), None)),
     "pass", "0 of 32",
     "Robust: no single run and no single block changes a verdict or which level is recommended."),
    (wording.sensitivity_line(LEVELS, Sensitivity("too_few", "block", Tried(2, FLIPPING), None)),
     "warn few", "3 of 16", "With one run less there would be too few to judge."),
    (wording.sensitivity_line(LEVELS, Sensitivity("not_tried", "block", Tried(2, LeftOutInTurn(0, 9, [], 0)), None)),
     "warn", "—", "Not tried: leaving out one after another would take too long."),
    # Failed parts of the analysis
    (wording.failed_parts_line(FailedParts([FailedPart("usl", "ValueError: no runs"),
                                            FailedPart("cells:error_rate", "KeyError: 3")])),
     "warn", "2 parts", "Scalability: ValueError: no runs; Values of error rate: KeyError: 3"),
    # Proofs
    (wording.clean_state_line(DESIGN, 16, 16, 0), "pass", "16 of 16",
     "Every run has a proof of a clean state before the run."),
    (wording.clean_state_line(BLOCKED, 18, 0, 0), "warn elsewhere", "0 of 18",
     "0 of 18 runs have a proof of a clean state before the run; no record for the rest."),
    (wording.same_work_line(DESIGN, 16, 14, 1), "fail", "14 of 16",
     "The proof of the same work after the run failed for 1 run; 14 of 16 have it."),
    (wording.same_work_line(DESIGN, 0, 0, 0), "warn", "0 of 0",
     "No run was accepted, so that none has a proof of the same work after the run."),
    # Timed out or failed
    (wording.censored_line(DESIGN, cells(8, 8)), "pass", "0.0 %",
     "0 of 16 runs timed out, 0 failed, 0 without a value that counts."),
    (wording.censored_line(DESIGN, cells(29, 30, timed_out=1, lost=2)), "warn", "1.7 %",
     "1 of 62 runs timed out, 0 failed, 2 without a value that counts."),
    (wording.censored_line(DESIGN, cells(29, 30, lost=1)), "warn", "0.0 %",
     "0 of 60 runs timed out, 0 failed, 1 without a value that counts."),
    (wording.censored_line(DESIGN, cells(5, 8, failed=2, timed_out=1)), "fail", "18.8 %",
     "1 of 16 runs timed out, 2 failed, 0 without a value that counts. The campaign allows 5.0 %."),
    # Amendments and exclusions
    (wording.amendments_line([]), "pass", "0", "Nothing was amended after launch."),
    (wording.amendments_line(["Amended after launch: Margin 2 % → 5 %, by ann: too strict."]),
     "warn", "1", "Amended after launch: Margin 2 % → 5 %, by ann: too strict."),
    (wording.amendments_line(["One."] * 7), "warn", "7", "One. One. One. One. One. And 2 more."),
    (wording.exclusions_line([]), "pass", "0", "No run was excluded from the analysis."),
    (wording.exclusions_line(EXCLUDED[:1]), "warn", "1", "Run 1 by ann: The disk was full."),
    (wording.exclusions_line(EXCLUDED[:6]), "warn", "6",
     " ".join(f"Run {run} by ann: The disk was full." for run in range(1, 6)) + " And 1 more."),
    # Sessions
    (wording.sessions_line(LEVELS, 1), "warn sessions", "1",
     "One session: this does not count as confirmation, since the target may behave differently on "
     "another day."),
    (wording.sessions_line(None, 0), "warn sessions", "1",
     "One session: this does not count as confirmation, since the target may behave differently on "
     "another day."),
    (wording.sessions_line(None, 3), "pass", "3", "3 sessions; nothing is compared."),
    (wording.sessions_line(confirmed(("confirmed", 2)), 2), "pass", "2",
     "The comparison rests on 2 sessions, which confirm it."),
    (wording.sessions_line(confirmed(("confirmed", 2), ("confirmed", 4)), 4), "pass", "2",
     "Each comparison rests on 2 sessions or more, which confirm it."),
    (wording.sessions_line(confirmed(("not_confirmed", 2)), 2), "warn sessions", "2",
     "The comparison rests on 2 sessions, which do not confirm it."),
    (wording.sessions_line(confirmed(("not_confirmed", 2), ("confirmed", 3)), 3), "warn sessions",
     "2", "Each comparison rests on 2 sessions or more, which do not confirm 1 of 2 comparisons."),
    (wording.sessions_line(confirmed(("not_confirmed", 0), ("confirmed", 2)), 2), "warn sessions",
     "0", "The campaign has 2 sessions, but 1 of 2 comparisons rests on one, or lies across them: "
     "this does not count as confirmation."),
    (wording.sessions_line(pairs_of(stratum(verdict(Word.BETTER)), stratum(verdict(Word.WORSE)), sessions=2), 2),
     "warn sessions", "1",
     "The campaign has 2 sessions, but 2 of 2 comparisons rest on one, or lie across them: this does "
     "not count as confirmation."),
    # Simulator
    (wording.simulator_line(["simulated Pulp"]), "warn stand_in", "simulated",
     "Measured on a simulated Pulp, not on a real server."),
    # Against the first campaign
    (wording.between_line("before", [], 0), "pass", "0",
     "Settings, target and environment are those of “before” as far as recorded."),
    (wording.between_line("before", [("pulpcore", "3.49", "3.50"), ("address", "", "")], 0), "warn",
     "2", "Differs from “before” in pulpcore (3.49 → 3.50), address: each may be why results differ."),
    (wording.between_line("before", [(f"fact {n}", "a", "b") for n in range(10)], 1), "warn", "10",
     "Differs from “before” in " + ", ".join(f"fact {n} (a → b)" for n in range(8)) +
     " and 2 more: each may be why results differ. 1 fact was recorded for one of the two campaigns "
     "only."),
    (wording.between_line("before", [], 3), "warn", "0",
     "3 facts were recorded for one of the two campaigns only."),
    # capacity
    (wording.capacity_line(carried(held())),
     "pass", "388 to 416 hosts", f"Carries 388 to 416 hosts. {MEANS}"),
    (wording.capacity_line(carried(held(sessions="one_session"))),
     "warn sessions", "388 to 416 hosts",
     f"Carries 388 to 416 hosts. {MEANS} It rests on one session: this does not count as confirmation."),
    (wording.capacity_line(carried(held(badges=["interpolated", "two_loads"]))),
     "warn", "388 to 416 hosts",
     f"Carries 388 to 416 hosts. {MEANS} The number lies between loads that were measured, and was not measured "
     "itself. Two loads only: a bend between them is not seen."),
    (wording.capacity_line(carried(UNDECIDED)),
     "warn", "not monotone", f"Not monotone. {MEANS}"),
    (wording.capacity_line(carried(held(), UNDECIDED, held(sessions="not_confirmed", badges=["clumped_failures"]))),
     "warn", "2 of 3",
     f"What is carried is decided for 2 of 3 settings. {MEANS} Failures come in few runs, so that the interval is too "
     "narrow (1 of 2 settings). Its sessions do not confirm it for 1 of 2 settings."),
    (wording.capacity_line(capacities(UNDECIDED, conditions=[])),
     "warn", "—", "No criterion was set, so what is carried is not stated."),
    # criterion
    (criterion(judged("passes")),
     "pass", "passes", "Passes: p95 of a registration at most 3:00 min."),
    (criterion(judged("not_decided")),
     "warn", "not decided",
     "Not decided: p95 of a registration 2:30 min (2:00 min … 3:10 min). The criterion: p95 of a registration at most 3:00 min."),
    (criterion(judged("does_not_pass")),
     "fail", "does not pass",
     "Does not pass: p95 of a registration 2:30 min (2:00 min … 3:10 min). The criterion: p95 of a registration at most 3:00 min."),
]  # fmt: skip


@pytest.mark.parametrize(("line", "state", "number", "text"), GOLDEN)
def test_a_line_says_what_was_found_with_its_number(line, state, number, text):
    assert (f"{line.state} {line.cause}".strip(), line.number, line.text) == (state, number, text)


def test_every_line_has_a_title_and_every_cause_a_label():
    assert {line.name for line, *_ in GOLDEN} == set(TITLES)
    assert {line.cause for line, *_ in GOLDEN} - {""} == set(CAUSES)


def test_before_any_analysis_nothing_is_said_to_have_passed():
    lines = {line.name: line for line in wording.lines_of_checks(DESIGN, None, None)}

    assert {line.state for line in lines.values()} == {"warn"}
    assert lines["saturation"].text == "Unknown: nothing was analysed yet."
