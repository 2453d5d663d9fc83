from dataclasses import replace

import pytest

from campaigns.findings.values import Confirmation, Within
from campaigns.findings.wording.remarks import (
    confirmation_text,
    interaction_remark,
    order_remark,
    session_remarks,
    verdict_remarks,
)
from campaigns.stats.interval import Interval
from campaigns.stats.matrix import Interaction
from campaigns.stats.paired import OrderEffect
from campaigns.stats.verdict import Verdict, Word
from campaigns.tests.findings.wording.builders import pairs_of

EFFECT = OrderEffect(
    candidate_first=7, baseline_first=6, difference_pct=3.04, t=2.0, df=11, p=0.03, flagged=True
)


def refused(word, reason, share=None, side="", *, pairs=False, **fields):
    verdict = Verdict(word, 5, reason=reason, share=share, side=side, **fields)
    return verdict_remarks(verdict, pairs=pairs)


@pytest.mark.parametrize(
    ("badge", "text"),
    [
        ("real_below_margin", "real, but below the margin"),
        ("no_worse_than_m", "not worse by more than the margin"),
        ("lost_in_family", "not significant among all comparisons"),
        ("tests_disagree", "rank test disagrees"),
        ("zero_variance", "no variance: suspect the clock"),
        ("pooled_noise", "noise of all strata pooled"),
        ("unequal_noise", "a noisy level: judged by the two alone"),
        ("two_sessions", "holds for these two sessions"),
    ],
)
def test_badges_of_a_verdict(badge, text):
    assert verdict_remarks(Verdict(Word.BETTER, 5, badges=(badge,))) == (text,)


@pytest.mark.parametrize(
    ("remarks", "text"),
    [
        (
            refused(Word.TOO_MANY_FAILURES, "failed_runs", 0.3, "candidate"),
            "30 % of the runs failed in the candidate",
        ),
        (
            refused(Word.TOO_MANY_FAILURES, "timed_out", 0.125, "baseline"),
            "12.5 % of the runs timed out in the baseline",
        ),
        (
            refused(Word.NOT_ENOUGH_DATA, "lost_runs", 1.0, "candidate"),
            "100 % of the runs have no value in the candidate",
        ),
        (
            refused(Word.TOO_MANY_FAILURES, "failed_units", 0.0123, "baseline", pairs=True),
            "1.2 % of the work failed in the baseline",
        ),
        (
            refused(Word.TOO_MANY_FAILURES, "failed_runs", 0.4, pairs=True),
            "40 % of the pairs have a failed run",
        ),
        (
            refused(Word.TOO_MANY_FAILURES, "timed_out", 0.4, pairs=True),
            "40 % of the pairs have a run that timed out",
        ),
        (
            refused(Word.NOT_ENOUGH_DATA, "lost_runs", 0.4, pairs=True),
            "40 % of the pairs have a run without a value",
        ),
        (
            refused(Word.TOO_MANY_FAILURES, "timed_out", 1.0),
            "100 % of the runs timed out",
        ),
        (
            refused(Word.NOT_COMPARABLE, "", fields=("memory", "kernel")),
            "differs in memory, kernel",
        ),
    ],
)
def test_why_a_comparison_is_refused(remarks, text):
    assert remarks == (text,)


def test_a_verdict_that_stands_has_no_remark():
    assert refused(Word.NOT_ENOUGH_DATA, "n_below_minimum") == ()
    assert refused(Word.BETTER, "") == ()


@pytest.mark.parametrize(
    ("confirmation", "text"),
    [
        (Confirmation("one_session", "", 1), "one session"),
        (Confirmation("confirmed", "", 3), "confirmed"),
        (
            Confirmation("not_confirmed", "sessions_disagree", 2),
            "not confirmed: the sessions disagree",
        ),
        (
            Confirmation("not_confirmed", "not_enough_sessions", 1),
            "not confirmed: not enough sessions",
        ),
        (
            Confirmation("not_confirmed", "across_sessions", 0),
            "not confirmed: measured in different sessions",
        ),
    ],
)
def test_whether_sessions_confirm_a_verdict(confirmation, text):
    assert confirmation_text(confirmation) == text


WITHIN = Within(-12.34, Interval(-15.0, -9.5), 20.0)


@pytest.mark.parametrize(
    ("confirmation", "remarks"),
    [
        (Confirmation("one_session", "", 1), ()),
        (
            Confirmation("confirmed", "", 2, each_pct=[-24.04, 0.3]),
            ("each session: −24.0 %, +0.3 %",),
        ),
        (
            Confirmation("confirmed", "", 3, between=True, within=WITHIN),
            ("within these sessions: −12.3 % (−15.0 … −9.5 %)",),
        ),
        (Confirmation("not_confirmed", "", 3, within=WITHIN), ()),
    ],
)
def test_the_change_in_each_session_or_within_them(confirmation, remarks):
    assert session_remarks(confirmation) == remarks


@pytest.mark.parametrize(
    ("effect", "text", "tone"),
    [
        (None, "", ""),
        (
            EFFECT,
            "new ran first in 7 pairs, old in 6; the order matters (+3.0 %, p 0.030): read the change with care.",
            "warn",
        ),
        (
            replace(EFFECT, candidate_first=1, baseline_first=2, p=0.8, flagged=False),
            "new ran first in 1 pair, old in 2; no effect of the order was found (+3.0 %, p 0.800).",
            "pass",
        ),
    ],
)
def test_whether_it_mattered_who_ran_first(effect, text, tone):
    assert order_remark(pairs_of(order_effect=effect), "old", "new") == (text, tone)


@pytest.mark.parametrize(
    ("interaction", "text", "tone"),
    [
        (None, "", ""),
        (
            Interaction(7.312, 4, 18, 0.0012),
            "The rows differ: what a column brings depends on the row (F 7.31 on 4 and 18 df, p 0.001).",
            "warn",
        ),
        (
            Interaction(1.2, 4, 18, 0.3),
            "No interaction is shown (F 1.2 on 4 and 18 df, p 0.300): that is not a proof of none.",
            "thin",
        ),
    ],
)
def test_whether_the_rows_of_a_matrix_differ(interaction, text, tone):
    assert interaction_remark(interaction) == (text, tone)
