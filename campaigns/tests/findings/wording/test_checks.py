"""What the page of a result says of each check."""

import pytest

from campaigns.findings.values import Checks
from campaigns.findings.wording.checks import WORDINGS, check_lines
from campaigns.stats.validity import Check, Outcome

P, W, F, N = Outcome.PASS, Outcome.WARN, Outcome.FAIL, Outcome.NOT_POSSIBLE

GOLDEN = [
    (Check("interleaving", P, 0.43, {"switches": 10, "most": 17}),
     "Interleaving: 0.43", "10 of 17 possible switches of level."),
    (Check("interleaving", W, 0.0, {"switches": 1, "most": 17}),
     "Interleaving: 0.00",
     "1 of 17 possible switches of level: level and time of day are fully confounded."),
    (Check("drift", P, 0.41, {"tau": -0.12, "slope_pct": 0.3, "slope_p": 0.4}),
     "Drift: τ −0.12, p 0.410", "No trend with time was found."),
    (Check("drift", W, 0.0004, {"tau": -0.72, "slope_pct": -4.25, "slope_p": 0.01, "hours": 2.0}),
     "Drift: τ −0.72, p 0.0004",
     "Runs change with time (−4.25 % an hour): compare levels with care."),
    (Check("drift", W, 0.0004, {"tau": -0.72, "slope_pct": -4.25, "slope_p": 0.01}),
     "Drift: τ −0.72, p 0.0004",
     "Runs change with time (−4.25 % a run): compare levels with care."),
    (Check("drift", W, 0.0004, {"tau": 0.72, "slope_pct": 44_008.0, "slope_p": 0.01, "hours": 0.01}),
     "Drift: τ 0.72, p 0.0004",
     "Runs change with time (+6.28 % in 36 s): compare levels with care."),
    (Check("drift", W, 0.0004, {"tau": 0.72, "slope_pct": 3.8e262, "slope_p": 0.01, "hours": 1.0}),
     "Drift: τ 0.72, p 0.0004",
     "Runs change with time (more than tenfold an hour): compare levels with care."),
    (Check("drift", W, 0.0004, {"tau": -0.9, "slope_pct": -100.0, "slope_p": 0.01, "hours": 1.0}),
     "Drift: τ −0.90, p 0.0004",
     "Runs change with time (to less than a tenth an hour): compare levels with care."),
    (Check("block_drift", P, 1.0, {"tau": 0.0, "slope_pct": 0.0, "slope_p": 1.0}),
     "Drift of blocks: τ 0.00, p 1.000", "No trend with time was found."),
    (Check("block_drift", W, 0.03, {"tau": 0.8, "slope_pct": 2.5, "slope_p": 0.02, "hours": 9.0}),
     "Drift of blocks: τ 0.80, p 0.030",
     "The target drifts (+2.5 % an hour): contrasts are protected, absolute levels are not."),
    (Check("block_drift", W, 0.03, {"tau": 0.8, "slope_pct": 2.5, "slope_p": 0.02}),
     "Drift of blocks: τ 0.80, p 0.030",
     "The target drifts (+2.5 % a block): contrasts are protected, absolute levels are not."),
    (Check("drift_within", P, 0.32, {"slope_pct": 0.1, "missed_pct": 1.5, "hours": 3.0}),
     "Drift within levels: p 0.320",
     "Drift: none shown within levels (at most ±1.5 % an hour would have been missed); between levels it cannot be "
     "determined in this order."),
    (Check("drift_within", P, 0.32, {"slope_pct": 0.1, "missed_pct": 0.25}),
     "Drift within levels: p 0.320",
     "Drift: none shown within levels (at most ±0.25 % a run would have been missed); between levels it cannot be "
     "determined in this order."),
    (Check("drift_within", P, 0.32, {"slope_pct": 0.1, "missed_pct": 4e9, "hours": 2.0}),
     "Drift within levels: p 0.320",
     "Drift: none shown within levels (at most more than tenfold an hour would have been missed); between levels it "
     "cannot be determined in this order."),
    (Check("drift_within", P, 0.32, {"slope_pct": 0.1}),
     "Drift within levels: p 0.320",
     "Drift: none shown within levels; between levels it cannot be determined in this order."),
    (Check("drift_within", W, 0.001, {"slope_pct": 12.0, "missed_pct": 14.0, "hours": 1.0}),
     "Drift within levels: p 0.001",
     "Runs of one level drift (+12 % an hour), so levels measured one after the other differ by "
     "that, too: no verdict is given where it may reach the margin."),
    (Check("order_in_block", P, 0.2, {"slope_pct": 0.1}),
     "Position within block: p 0.200", "No effect of the position within the block was found."),
    (Check("order_in_block", W, 0.002, {"slope_pct": -1.44}),
     "Position within block: p 0.002",
     "Each later position within the block changes a run by −1.4 %."),
    (Check("cold_start", P, 0.75, {"cells": 4, "p": 0.2}),
     "Cold start: 75 %",
     "Share of levels whose lowest or highest value is the first run of a block; chance explains it "
     "(p 0.200)."),
    (Check("cold_start", P, 0.5, {"cells": 10, "p": 0.03}),
     "Cold start: 50 %",
     "Share of levels whose lowest or highest value is the first run of a block; more than by chance "
     "(p 0.030), but not most of them."),
    (Check("cold_start", W, 1.0, {"cells": 6, "p": 0.001}),
     "Cold start: 100 %",
     "Share of levels whose lowest or highest value is the first run of a block: warm up."),
    (Check("equal_noise", P, 0.5, {"smallest_pct": 0.8, "largest_pct": 1.2, "apart": 0}),
     "Equal noise: p 0.500", "The noise of the levels is 0.8 to 1.2 %; no difference was found."),
    (Check("equal_noise", P, 0.2, {"smallest_pct": 0.8, "largest_pct": 1.2, "apart": 1}),
     "Equal noise: p 0.200",
     "The noise of the levels is 0.8 to 1.2 %; no difference was found. To be safe, 1 of them is "
     "compared by its own noise."),
    (Check("equal_noise", P, 0.2, {"smallest_pct": 0.8, "largest_pct": 1.2, "apart": 2}),
     "Equal noise: p 0.200",
     "The noise of the levels is 0.8 to 1.2 %; no difference was found. To be safe, 2 of them are "
     "compared by their own noise."),
    (Check("equal_noise", W, 1e-5, {"smallest_pct": 0.8, "largest_pct": 4200.0, "apart": 2}),
     "Equal noise: p 1e−5", "The noise of the levels is 0.8 to 4,200 %: each is judged by its own."),
    (Check("autocorrelation", P, 0.05, {"threshold": 0.4, "n_eff": 18.0, "expected": -0.1}),
     "Neighbours: r₁ 0.05", "No correlation of neighbouring runs was found."),
    (Check("autocorrelation", W, 0.6, {"threshold": 0.4, "n_eff": 4.4, "expected": -0.1}),
     "Neighbours: r₁ 0.60",
     "Neighbouring runs are alike: together they are worth about 4 independent runs."),
    (Check("autocorrelation", W, 0.99, {"threshold": 0.4, "n_eff": 0.1, "expected": -0.1}),
     "Neighbours: r₁ 0.99",
     "Neighbouring runs are alike: together they are worth about 1 independent run."),
    (Check("autocorrelation", W, -0.7, {"threshold": 0.4, "n_eff": 20.0, "expected": -0.1}),
     "Neighbours: r₁ −0.70",
     "Neighbouring runs differ more than independent ones: something alternates."),
    (Check("aggregated", W), "What the numbers are: aggregated",
     "Each value is a mean, or a percentile, of many samples, computed by the tool: the spread within "
     "a run is unknown. Density and modes are not available."),
    (Check("rounded", W, 0.89, {"smallest_effect_pct": 5.0, "declared": 1.0}),
     "What the numbers are: rounded",
     "Values are written in steps of up to 0.89 % of their mean. Rounding makes ties: rank tests, "
     "density and modes are not available."),
    (Check("rounded", W, 123.4, {"smallest_effect_pct": 5.0, "declared": 0.0}),
     "What the numbers are: rounded",
     "Values are written in steps of up to 123 % of their mean."),
    (Check("rounded", F, 50.0, {"smallest_effect_pct": 5.0, "declared": 0.0}),
     "What the numbers are: rounded",
     "Values are written in steps of up to 50 % of their mean. A difference of 5 %, the smallest of "
     "interest, cannot be seen."),
    (Check("modes", P, 0.0), "Modes: one", "Every level with 20 runs or more has one mode."),
    (Check("modes", W, 2.0),
     "Modes: 2", "Levels with several modes: compare per mode, means mislead."),
    (Check("outliers", P, 0.0), "Outliers: none", "No run lies far from the others of its level."),
    (Check("outliers", W, 1.0, positions=(7,)),
     "Outliers: 1", "Far from the others of their level: run 7. None is excluded."),
    (Check("outliers", W, 11.0, positions=tuple(range(1, 12))),
     "Outliers: 11",
     "Far from the others of their level: runs 1, 2, 3, 4, 5, 6, 7, 8 and 3 more. None is excluded."),
    (Check("identical", P, 0.0), "Identical values: none", "No level has equal values only."),
    (Check("identical", W, 2.0),
     "Identical values: 2", "Levels with equal values only: suspect the clock or a cache."),
    (Check("aa_noise", P, 3.14, {"mean_pct": 0.2, "p": 0.4}),
     "A/A noise: 3.1 %",
     "Based on these pairs, 19 of 20 further ones differ by no more; no difference between the two "
     "labels was found."),
    (Check("aa_noise", W, 3.14, {"mean_pct": 0.9, "p": 0.004}),
     "A/A noise: 3.1 %",
     "The two labels differ (p 0.004) although they are one setting: by chance, or since something "
     "changes with time or place."),
    (Check("rows", P, 0.0),
     "Row consistency: pass", "Durations agree with start and finish."),
    (Check("rows", P, 0.0, positions=(3, 8)),
     "Row consistency: pass",
     "Durations agree with start and finish; off by a second: runs 3, 8."),
    (Check("rows", W, 1.0, positions=(3,)),
     "Row consistency: 1", "Rows that overlap or contradict their instants: run 3."),
    (Check("saturation", P, 0.0),
     "Generator saturation: none", "The generator was not saturated in any run, and nothing else disturbed one."),
    (Check("saturation", F, 2.0, positions=(3, 4)),
     "Generator saturation: 2", "The generator was saturated, so that values are bounds: runs 3, 4."),
    (Check("saturation", W, 1.0, positions=(3,)),
     "Generator saturation: 1", "Something may have disturbed the generator; the page of each run says what: run 3."),
    (Check("starved", P, 0.0, {"runs": 9.0, "most": 0.021}),
     "Other programs on the generator: none", "In no run did the generator wait for a CPU more than 2 % of the time."),
    (Check("starved", W, 2.0, {"runs": 9.0, "most": 0.98}, (3, 4)),
     "Other programs on the generator: 2 of 9",
     "Other programs kept the generator waiting for a CPU, up to 98 % of the time; what it measured then counts for "
     "nothing: runs 3, 4."),
    (Check("proofs", P, 0.0, {"readings": 36.0}),
     "Clean state, same work: all", "36 readings, all as expected."),
    (Check("proofs", F, 1.0, {"readings": 36.0}),
     "Clean state, same work: 1", "1 of 36 readings was not as expected."),
    (Check("environment", P, 0.0, {"facts": 14.0}),
     "Environment: 14 facts", "The same before the first and after the last run."),
    (Check("environment", W, 0.0, {"facts": 1.0}),
     "Environment: imported description",
     "1 fact, described by the import, not captured with each run."),
    (Check("environment", F, 1.0, {"facts": 14.0}),
     "Environment: 1 change", "Runs before and after a change are not comparable."),
]  # fmt: skip
IMPOSSIBLE = [
    ("interleaving", "There is one level only, or only one order of its runs is possible."),
    ("drift", "Needs 8 runs, made at different times, and some spread."),
    ("block_drift", "Needs 5 blocks, made at different times, and some spread."),
    ("drift_within", "Needs 8 runs; between levels it cannot be determined in this order."),
    ("order_in_block", "Needs 8 runs, in blocks of two or more."),
    ("cold_start", "Needs 3 runs of several levels, some of which opened a block."),
    ("equal_noise",
     "Needs 3 runs of several levels; in blocks of two levels both vary equally by design."),
    ("autocorrelation", "Needs 5 runs of each level and 10 in total."),
    ("modes", "Needs 20 runs of a level, and values that were not aggregated or rounded."),
    ("rows", "The import has no durations besides start and finish."),
    ("starved", "How long the generator waited for a CPU was not recorded."),
    ("saturation", "The import has no load-generator health data."),
    ("proofs", "No probes were stored."),
    ("environment", "No facts of target or generator were stored."),
]  # fmt: skip


@pytest.mark.parametrize(("check", "title", "text"), GOLDEN)
def test_a_check_is_put_into_a_sentence_with_its_number(check, title, text):
    (line,) = check_lines(Checks([check]))

    assert (f"{line.title}: {line.value}", line.text) == (title, text)
    assert line.tone == check.outcome


@pytest.mark.parametrize(("name", "text"), IMPOSSIBLE)
def test_a_check_that_was_not_possible_says_what_it_needs(name, text):
    (line,) = check_lines(Checks([Check(name, N)]))

    assert (line.value, line.text, line.tone) == ("not possible", text, "thin")


def test_every_check_has_its_sentences():
    assert {check.name for check, *_ in GOLDEN} == set(WORDINGS)
    assert {name for name, _ in IMPOSSIBLE} == {
        name for name, wording in WORDINGS.items() if wording.impossible
    }


def test_failures_come_first_and_what_was_not_possible_last():
    checks = [Check("modes", N), Check("identical", P, 0.0), GOLDEN[1][0], GOLDEN[-1][0]]

    assert [line.tone for line in check_lines(Checks(checks))] == ["fail", "warn", "pass", "thin"]
