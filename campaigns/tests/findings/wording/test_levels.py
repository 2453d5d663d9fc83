"""Texts about a campaign of levels."""

from dataclasses import replace

import pytest
from msgspec.structs import replace as changed

from campaigns.findings.values import (
    BreakShare,
    Knee,
    KneeUncertainty,
    Noise,
    PlotNoise,
    WithinShare,
)
from campaigns.findings.wording.levels import (
    cost_text,
    knee_rows,
    model_text,
    noise_rows,
    verdict_counts,
    within_rows,
)
from campaigns.stats.compared import Model
from campaigns.stats.interval import Interval
from campaigns.stats.knee import Methods
from campaigns.stats.verdict import Word
from campaigns.tests.findings.wording.builders import best_of, level_group, levels_of, step, verdict

LEVELS = [3.0, 5.0, 7.0, 10.0, 15.0]
KNEE = Knee(
    strength="strong",
    at=5.0,
    below=-0.8,
    above=-0.1234,
    delta_aicc=4.25,
    curves=[],
    methods=Methods(5.0, 5.0, None, 5.0, 5.0, 5.0, ()),
    uncertainty=None,
)
DOUBT = KneeUncertainty(
    interval=Interval(5.213, 6.784),
    below=Interval(-1.0, -0.7),
    above=Interval(-0.2, 0.0),
    l_shares={},
    chord_shares={},
    rough=False,
    between=[BreakShare(3.0, 5.0, 0.0), BreakShare(5.0, 7.0, 0.96), BreakShare(7.0, 10.0, 0.04)],
)


@pytest.mark.parametrize(
    ("model", "text"),
    [
        (Model.BLOCKS, "cell and block: the noise within a block"),
        (Model.POOLED, "noise pooled over all levels (no blocks)"),
        (Model.WELCH, "each level with its own noise (Welch)"),
        (
            Model.SPLIT_PLOT,
            "split plot: a factor that is hard to change is judged by the noise between whole "
            "plots, the others by the noise within them",
        ),
        (Model.PAIRED, "each pair of levels by its own blocks, since noise differs"),
    ],
)
def test_the_noise_that_levels_are_judged_by(model, text):
    assert model_text(levels_of(model=model)) == text
    assert model_text(levels_of(model=model, between=True)) == (
        "sessions as the sample: noise between sessions"
    )


@pytest.mark.parametrize(
    ("noise", "plots", "text"),
    [
        (Noise(), None, ""),
        (Noise(sd_pct=3.14, df=10), None, "noise 3.1 % (df 10)"),
        (
            Noise(sd_pct=3.14, df=10, block_sd_pct=0.0, efficiency=1.0, blocks=3),
            None,
            "noise 3.1 % (df 10); between blocks 0.0 %; without blocks it would have taken as many runs",
        ),
        (
            Noise(sd_pct=3.14, df=10, block_sd_pct=5.06, efficiency=2.54, blocks=3),
            None,
            "noise 3.1 % (df 10); between blocks 5.1 %; without blocks it would have taken 2.5 times the runs",
        ),
        (
            Noise(sd_pct=3.14, df=10),
            PlotNoise(within_pct=2.0, between_pct=9.1, whole_df=3, sub_df=12, blocks=4),
            "noise within whole plots 2.0 % (df 12); between whole plots 9.1 % (df 3, 4 blocks)",
        ),
    ],
)
def test_how_much_runs_vary(noise, plots, text):
    rows = noise_rows(levels_of(noise=noise, plots=plots))

    assert "; ".join(f"{name} {value}" for name, value in rows) == text


def test_verdicts_are_counted_by_their_labels():
    words = (Word.BETTER, Word.NOT_ENOUGH_DATA, Word.BETTER, Word.EQUIVALENT)
    group = level_group([1, 2], comparisons=[step(1, 2, verdict(word)) for word in words])

    assert verdict_counts(levels_of(group), group) == (
        "2 faster, 1 not enough data, 1 equivalent within 2 %"
    )
    assert verdict_counts(levels_of(group, unit="1/s", lower_is_better=False), group).startswith(
        "2 higher throughput"
    )


def test_the_first_setting_within_shares_of_the_best():
    within = [WithinShare(0.025, None, 40), WithinShare(0.05, 2, None), WithinShare(0.1, 1, None)]
    best = best_of([1, 2], 2, [8.0, 0.0], within=within)

    assert within_rows(best, {1: "5", 2: "10"}) == [("2.5 %", "none"), ("5 %", "10"), ("10 %", "5")]


@pytest.mark.parametrize(("cell", "text"), [(1, "+14.3 %"), (2, "best mean"), (3, "0.0 %")])
def test_what_a_setting_costs_against_the_best(cell, text):
    best = best_of([1, 2, 3], 2, [20.0, 0.0, 1.0], cost_pct=[14.29, 0.0, 0.02])

    assert cost_text(levels_of(), best, cell) == text


def test_a_knee_by_each_method_with_its_uncertainty():
    assert knee_rows(changed(KNEE, uncertainty=DOUBT), LEVELS) == [
        ("evidence", "strong (AICc better by 4.25)"),
        ("break of a power law", "5"),
        ("interval of the break", "between 5 and 7 (5.21 to 6.79, 95 %)"),
        ("share of resamples", "5 to 7: 96 %, 7 to 10: 4 %"),
        ("L-method", "5"),
        ("slope ratio", "5"),
        ("Kneedle, linear axis", "none found"),
        ("Kneedle, log axis", "5"),
        ("two of three agree on", "5"),
        ("exponent below, above", "−0.8, −0.123"),
    ]


def test_methods_do_not_agree_on_a_knee_of_a_smooth_curve():
    methods = replace(KNEE.methods, consensus=None)
    rows = dict(
        knee_rows(changed(KNEE, strength="smooth", delta_aicc=-1.5, methods=methods), LEVELS)
    )

    assert rows["evidence"] == "none: a smooth curve fits as well (AICc worse by 1.5)"
    assert "two of three agree on" not in rows
