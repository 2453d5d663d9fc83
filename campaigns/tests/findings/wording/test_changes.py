import pytest

from campaigns.findings.wording.changes import change_texts
from campaigns.stats.changes import MISSING, Change

FINDINGS = {
    "cells:duration": {
        "unit": "s",
        "cells": [
            {"cell": 1, "levels": {"concurrency": 5}, "summary": {}},
            {"cell": 2, "levels": {"concurrency": 10, "file_size": "1 MB"},
             "summary": {"mean_ci": [1.0, 2.0]}},
        ],
    },
    "levels": {
        "unit": "s",
        "factor": "concurrency",
        "groups": [
            {"levels": {}, "cells": [1, 2], "values": [5, 10],
             "comparisons": [{"candidate": 2, "baseline": 1, "comparison": {
                 "verdict": {"ci_pct": [-21.0, -9.0]}}}]},
        ],
    },
    "checks": {"checks": [{"name": "interleaving"}, {"name": "block_drift"}]},
    "bare": 1.0,
}  # fmt: skip
CELL, COMPARISON = "cells:duration.cells.1.summary.", "levels.groups.0.comparisons.0.comparison."


@pytest.mark.parametrize(
    ("path", "before", "after", "words"),
    [
        (CELL + "cv", 0.0276867, 0.031, "coefficient of variation: 2.77 % → 3.1 %"),
        (CELL + "n_ok", 3, 2, "runs that count: 3 → 2"),
        (CELL + "mean", 639.0, 647.0, "mean: 10:39 min → 10:47 min"),
        (CELL + "mean_ci.1", 0.05, 0.06, "upper bound of the interval of the mean: 50 ms → 60 ms"),
        (CELL + "mean", 0.1, 0.10000100004, "mean: 0.1 → 0.100001"),
        (CELL + "median", 1.0, MISSING, "median: 1 s → nothing"),
        (CELL + "flags", [], ["two_runs"], "flags: none → two runs"),
    ],
)
def test_a_number_of_a_cell_is_told_with_its_levels(path, before, after, words):
    where, was, now = change_texts(Change(path, before, after), FINDINGS)

    assert f"{where}: {was} → {now}" == f"duration, concurrency 10, file size 1 MB, {words}"


@pytest.mark.parametrize(
    ("path", "before", "after", "words"),
    [
        (COMPARISON + "verdict.word", "better", "not_enough_data",
         "levels, concurrency 10 vs. 5, verdict: better → not enough data"),
        (COMPARISON + "verdict.ci_pct.0", -20.5, -21.0,
         "levels, concurrency 10 vs. 5, lower bound of the 95 % interval of the change: "
         "−20.5 % → −21 %"),
        ("checks.checks.1.value", 0.5, 0.25, "checks, block drift, value: 0.5 → 0.25"),
        ("levels.groups.0.best", {"df": 1}, None, "levels, best: there → none"),
        ("gone.groups.7.l_shares.5.0", 0.5, None, "gone, 7, l shares, 5, 0: 0.5 → none"),
        ("bare", 1.0, True, "bare: 1 → yes"),
    ],
)  # fmt: skip
def test_any_place_is_told_in_words(path, before, after, words):
    where, was, now = change_texts(Change(path, before, after), FINDINGS)

    assert f"{where}: {was} → {now}" == words
