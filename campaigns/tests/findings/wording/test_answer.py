"""The sentences of answers, as a reader sees them."""

import pytest
from msgspec import structs

from campaigns.findings.values import (
    BegunSession,
    BestOverall,
    InvalidRun,
    OrderDrift,
    SessionsFinding,
    ThresholdCell,
    Thresholds,
    ThresholdState,
)
from campaigns.findings.wording.sessions import notes_of_changes, session_notes
from campaigns.stats.paired import OrderEffect
from campaigns.stats.verdict import Word
from campaigns.tests.findings.wording.builders import (
    P95,
    answer,
    answered,
    best_of,
    between_sessions,
    cell,
    change,
    identical_runs,
    knee,
    level_group,
    levels_of,
    of_two_sessions,
    over,
    pairs_of,
    primary,
    step,
    stopped,
    stratum,
    verdict,
    workers,
)

FASTER = verdict(Word.BETTER, -20.0, -24.0, -16.0)
SLOWER = verdict(Word.WORSE, 12.0, 8.0, 16.0)
EQUIVALENT = verdict(Word.EQUIVALENT, 0.2, -1.0, 1.4)
NO_DIFFERENCE = verdict(Word.NO_DIFFERENCE_SHOWN, 1.0, -3.0, 4.5)
NOT_ENOUGH = verdict(Word.NOT_ENOUGH_DATA, 3.0, -9.0, 16.0, more=4)
FAILED = verdict(Word.TOO_MANY_FAILURES)
TWO = (cell(1, 10.0, engine="old"), cell(2, 8.0, engine="new"))
REAL_RUNS = answer(*TWO, order="paired")


def pairs(*rows, **fields):
    return answered(REAL_RUNS, pairs=pairs_of(*rows, **fields))


def levels(*groups, of=None, sessions=None, **fields):
    return answered(of or workers(40.0, 20.0, 10.0), levels=levels_of(*groups, **fields))


def ranked(seen=3, upper=(330.0, 120.0, 0.0), **fields):
    """Three levels of workers of which one is the best."""
    best = {"at_edge": seen == 3, "cost_pct": [300.0, 100.0, 0.0]} | fields.pop("best", {})
    group = {"best": best_of([1, 2, 3], seen, list(upper), **best)}
    return level_group([2, 4, 8], **group | fields)


def cells_of_two_factors(*means):
    names = [("a", 2), ("a", 4), ("b", 2), ("b", 4)]
    return answer(
        *(
            cell(key, mean, engine=engine, workers=number)
            for key, (mean, (engine, number)) in enumerate(zip(means, names, strict=True), 1)
        )
    )


FOUR = cells_of_two_factors(40.0, 20.0, 44.0, 22.0)


def two_groups(first=2, second=4, possibly=((2,), (4,)), of=FOUR, **fields):
    """Engines a and b with 2 or 4 workers each, and the best cell of each engine."""
    groups = [
        level_group(
            [2, 4],
            cells=cells,
            levels={"engine": engine},
            best=best_of(
                cells,
                seen,
                [40.0, 40.0],
                possibly=list(could),
                cost_pct=[0.0 if cell == seen else 30.0 for cell in cells],
            ),
        )
        for engine, cells, seen, could in zip(
            "ab", ([1, 2], [3, 4]), (first, second), possibly, strict=True
        )
    ]
    return answered(of, levels=levels_of(*groups, **fields))


def best_of_all(*possibly, ranked=(1, 2, 3, 4), **fields):
    costs = {1: 30.0, 2: 0.0, 3: 45.0, 4: 12.0}
    best = best_of(
        list(ranked),
        2,
        [60.0] * len(ranked),
        possibly=list(possibly),
        cost_pct=[costs[cell] for cell in ranked],
        **fields,
    )
    return [BestOverall({}, {"engine": "a", "workers": 4}, best)]


SENTENCES = {
    # Pairs at one place
    "pairs, better": (
        pairs(stratum(FASTER)),
        ("new is 20.0 % faster than old.", "16.0 to 24.0 % (95 %), 5 pairs, one session."),
    ),
    "pairs, worse": (
        pairs(stratum(SLOWER)),
        ("new is 12.0 % slower than old.", "8.0 to 16.0 % (95 %), 5 pairs, one session."),
    ),
    "pairs, equivalent": (
        pairs(stratum(EQUIVALENT)),
        ("new and old are equivalent within 2 %.", "−1.0 to +1.4 % (95 %), 5 pairs, one session."),
    ),
    "pairs, no difference": (
        pairs(stratum(NO_DIFFERENCE)),
        (
            "No difference is shown between new and old.",
            "A change of 5 % or more is excluded: −3.0 to +4.5 % (95 %), 5 pairs, one session.",
        ),
    ),
    "pairs, not enough data": (
        pairs(stratum(NOT_ENOUGH)),
        (
            "No difference is shown between new and old: not enough data.",
            "−9.0 to +16.0 % (95 %), 5 pairs, one session. Run about 4 pairs more to detect 5 %.",
        ),
    ),
    "pairs, failures": (
        pairs(stratum(FAILED)),
        ("new and old are not compared: too many failures.", "5 pairs, one session."),
    ),
    "pairs, not comparable": (
        pairs(stratum(verdict(Word.NOT_COMPARABLE))),
        ("new and old are not comparable.", "5 pairs, one session."),
    ),
    "pairs, invalid values": (
        pairs(stratum(verdict(Word.INVALID_VALUES))),
        (
            "new and old are not compared: a value is zero, negative or no number.",
            "5 pairs, one session.",
        ),
    ),
    "pairs of a rate": (
        pairs(stratum(verdict(Word.BETTER, 25.0, 20.0, 30.0)), unit="B/s", lower_is_better=False),
        (
            "new has 25.0 % higher throughput than old.",
            "20.0 to 30.0 % (95 %), 5 pairs, one session.",
        ),
    ),
    "pairs, ten times as fast": (
        pairs(stratum(verdict(Word.BETTER, -90.2, -92.0, -88.0))),
        ("new is 10 times as fast as old.", "8.3 to 12 times (95 %), 5 pairs, one session."),
    ),
    "pairs, many times as long": (
        pairs(stratum(verdict(Word.WORSE, 270.0, 210.0, 340.0))),
        ("new takes 3.7 times as long as old.", "3.1 to 4.4 times (95 %), 5 pairs, one session."),
    ),
    "pairs of a rate, many times as much": (
        pairs(
            stratum(verdict(Word.BETTER, 213.0, 180.0, 250.0)), unit="1/s", lower_is_better=False
        ),
        (
            "new has 3.1 times the throughput of old.",
            "2.8 to 3.5 times (95 %), 5 pairs, one session.",
        ),
    ),
    "pairs of a rate, a fraction": (
        pairs(stratum(verdict(Word.WORSE, -95.0, -96.0, -94.0)), unit="1/s", lower_is_better=False),
        (
            "new has lower throughput by a factor of 20 than old.",
            "A factor of 17 to 25 (95 %), 5 pairs, one session.",
        ),
    ),
    "strata, ten times as fast": (
        pairs(
            stratum(verdict(Word.BETTER, -90.2, -92.0, -88.0), size=1),
            stratum(FASTER, size=2),
            overall=over(2, -95.0),
        ),
        (
            "new is 20 times as fast as old on both sizes.",
            "14 to 33 times (95 %), geometric mean of 10 pairs of 2 sizes, one session.",
        ),
    ),
    "pairs of errors": (
        pairs(stratum(verdict(Word.WORSE, 25.0, 20.0, 30.0)), metric="errors", unit="count"),
        ("new has 25.0 % more failures than old.", "20.0 to 30.0 % (95 %), 5 pairs, one session."),
    ),
    # Pairs at several places
    "strata, all better": (
        pairs(stratum(FASTER, size=1), stratum(FASTER, size=2), overall=over(2, -20.0)),
        (
            "new is 20.0 % faster than old on both sizes.",
            "18.0 to 22.0 % (95 %), geometric mean of 10 pairs of 2 sizes, one session.",
        ),
    ),
    "strata, none decided but their mean": (
        pairs(stratum(NOT_ENOUGH, size=1), stratum(NOT_ENOUGH, size=2), overall=over(2, -20.0)),
        (
            "No difference is shown between new and old on any of 2 sizes: not enough data.",
            "Their mean is −22.0 to −18.0 % (95 %), which only a primary contrast judges; 10 pairs of 2 sizes, one session.",
        ),
    ),
    "strata, mixed": (
        pairs(stratum(SLOWER, size=1), stratum(FASTER, size=2), stratum(NOT_ENOUGH, size=3)),
        (
            "new vs. old, 3 sizes: faster on 1, slower on 1, not enough data on 1.",
            "−20.0 % to +12.0 %; 15 pairs of 3 sizes, one session.",
        ),
    ),
    "strata, by three sessions": (
        pairs(*(stratum(FASTER, between_sessions(3), size=size) for size in (1, 2)), sessions=3),
        (
            "new is faster than old on both sizes.",
            "−20.0 %; 10 pairs of 2 sizes, between 3 sessions.",
        ),
    ),
    # Levels of one factor
    "levels, highest": (
        levels(ranked()),
        (
            "Workers 8 is the fastest; 4 takes 2 times as long, 2 takes 4 times as long.",
            "15 runs, one session.",
        ),
    ),
    "levels, a cheaper one is nearly as good": (
        levels(ranked(upper=(300.0, 4.0, 0.0))),
        (
            "Workers 8 is the fastest; 4 takes 2 times as long, 2 takes 4 times as long.",
            "15 runs, one session.",
        ),
    ),
    "levels, rivals": (
        levels(ranked(upper=(300.0, 9.0, 7.0), best={"possibly": [2, 3]})),
        ("Workers 4 or 8 may be the fastest; 2 is slower.", "15 runs, one session."),
    ),
    "levels, the first is best": (
        levels(
            ranked(seen=1, upper=(0.0, 120.0, 300.0), best={"cost_pct": [0.0, 100.0, 300.0]}),
            of=workers(10.0, 20.0, 40.0),
        ),
        (
            "Workers 2 is the fastest; 4 takes 2 times as long, 8 takes 4 times as long.",
            "15 runs, one session.",
        ),
    ),
    "levels without an order": (
        levels(
            level_group(
                ["a", "b"],
                numeric=False,
                best=best_of([1, 2], 2, [30.0, 0.0], cost_pct=[18.2, 0.0]),
            )
        ),
        ("Workers b is the fastest; a is 18.2 % slower.", "15 runs, one session."),
    ),
    "levels of a rate": (
        levels(ranked(), unit="B/s", lower_is_better=False),
        ("Workers 8 is the best; 4 is 50.0 % lower, 2 is 75.0 % lower.", "15 runs, one session."),
    ),
    "levels, few runs": (
        levels(
            level_group([2, 4, 8], best=best_of([1, 2], 2, [90.0, 0.0], unknown=[3])),
            of=answer(
                cell(1, 40.0, workers=2), cell(2, 20.0, workers=4), cell(3, 10.0, 2, workers=8)
            ),
        ),
        (
            "No setting is called the fastest: workers 8 cannot be judged (it has 2 runs).",
            "12 runs, one session.",
        ),
    ),
    "levels, knee": (
        levels(ranked(knee=knee())),
        (
            "Workers 8 is the fastest; 4 takes 2 times as long, 2 takes 4 times as long.",
            "15 runs, one session.",
        ),
    ),
    "levels, some failed": (
        levels(ranked(), of=answer(*workers(40.0, 20.0).cells, cell(3, 10.0, 4, 1, workers=8))),
        (
            "Workers 8 is the fastest; 4 takes 2 times as long, 2 takes 4 times as long.",
            "14 runs, one session.",
        ),
    ),
    "levels, all may be": (
        levels(ranked(best={"possibly": [1, 2, 3]})),
        ("No setting is shown to be the fastest.", "15 runs, one session."),
    ),
    "levels, equivalent": (
        levels(ranked(best={"possibly": [1, 2, 3], "alike": True})),
        ("Workers 2, 4 and 8 are equivalent within 2 %.", "15 runs, one session."),
    ),
    "levels, two are equivalent": (
        levels(ranked(best={"possibly": [2, 3], "alike": True})),
        ("Workers 4 and 8 are equivalent within 2 %; 2 is slower.", "15 runs, one session."),
    ),
    "levels, the middle ones may be": (
        levels(
            level_group(
                [1, 2, 4, 8, 16],
                best=best_of([1, 2, 3, 4, 5], 3, [9.0] * 5, possibly=[2, 3, 4]),
            ),
            of=workers(5.0, 4.0, 3.0, 4.0, 5.0),
        ),
        ("Workers 2, 4 or 8 may be the fastest; the others are slower.", "25 runs, one session."),
    ),
    "levels, the first four may be": (
        levels(
            level_group(
                [1, 2, 4, 8, 16, 32],
                best=best_of([1, 2, 3, 4, 5, 6], 3, [9.0] * 6, possibly=[1, 2, 3, 4]),
            ),
            of=workers(5.0, 4.0, 3.0, 4.0, 5.0, 6.0),
        ),
        ("Workers 1 to 8 may be the fastest; 16 and above are slower.", "30 runs, one session."),
    ),
    "levels, one fails": (
        levels(
            level_group(
                [2, 4, 8], best=best_of([1, 2], 2, [90.0, 0.0], cost_pct=[18.2, 0.0], failing=[3])
            ),
            of=answer(
                cell(1, 40.0, workers=2),
                cell(2, 20.0, workers=4),
                cell(3, 10.0, 5, 1, too_many_failures=True, workers=8),
                failing=[3],
            ),
        ),
        (
            "Of those that pass, workers 4 is the fastest; 2 is 18.2 % slower, 8 fails too often.",
            "Each other one that passes is slower (95 %); 15 runs, one session.",
        ),
    ),
    "levels, one lost its runs": (
        levels(
            level_group([2, 4, 8], best=best_of([1, 2], 2, [90.0, 0.0], unknown=[3])),
            of=answer(
                cell(1, 40.0, workers=2),
                cell(2, 20.0, workers=4),
                cell(3, 10.0, 4, n_lost=6, workers=8),
            ),
        ),
        (
            "No setting is called the fastest: workers 8 cannot be judged (6 of 10 runs were lost).",
            "14 runs, one session.",
        ),
    ),
    "two levels, one lost its runs": (
        levels(
            level_group(["a", "b"], numeric=False),
            of=answer(cell(1, 40.0, workers="a"), cell(2, 20.0, 4, n_lost=6, workers="b")),
        ),
        (
            "No setting is ranked: workers b cannot be judged (6 of 10 runs were lost).",
            "Duration is 20 s to 40 s on average, 9 runs.",
        ),
    ),
    # Levels of several factors
    "groups, one level everywhere": (
        two_groups(),
        (
            "Workers 4 is the fastest in both combinations of the other factors.",
            "20 runs, one session.",
        ),
    ),
    "groups, undecided ones": (
        two_groups(possibly=((1, 2), (4,))),
        ("The fastest workers: none shown (engine a); 4 (engine b).", "20 runs, one session."),
    ),
    "groups, other levels": (
        two_groups(2, 3, ((2,), (3,))),
        ("The fastest workers: 4 (engine a); 2 (engine b).", "20 runs, one session."),
    ),
    "groups, shared rival": (
        two_groups(2, 3, ((2,), (3, 4))),
        ("The fastest workers: 4 (engine a); none shown (engine b).", "20 runs, one session."),
    ),
    "groups, best of all": (
        two_groups(overall=best_of_all(2)),
        (
            "Engine a with workers 4 is the fastest; engine b with workers 4 is 12.0 % slower.",
            "20 runs, one session.",
        ),
    ),
    "groups, rival of the best of all": (
        two_groups(overall=best_of_all(2, 4)),
        (
            "Engine a with workers 4 or engine b with workers 4 may be the fastest; the others are slower.",
            "20 runs, one session.",
        ),
    ),
    "groups, undecided overall": (
        two_groups(overall=best_of_all(1, 2, 3, 4)),
        ("No setting is shown to be the fastest.", "20 runs, one session."),
    ),
    "groups, some not ranked": (
        two_groups(overall=best_of_all(2, ranked=(1, 2, 4), failing=[3])),
        (
            "Of those that pass, engine a with workers 4 is the fastest; engine b with workers 2 fails too often.",
            "20 runs, one session.",
        ),
    ),
    # The primary contrast
    "primary, better": (
        levels(ranked(), primary=primary(FASTER)),
        ("Workers 8 is 20.0 % faster than 2.", "16.0 to 24.0 % (95 %), 5 blocks, one session."),
    ),
    "primary, over several": (
        levels(ranked(), primary=primary(FAILED, over=3)),
        (
            "Workers 8 and 2 are not compared: too many failures over 3 combinations.",
            "5 blocks, one session.",
        ),
    ),
    # Timeouts and failures
    "timeouts": (
        answered(
            answer(
                cell(1, 20.0, workers=2),
                cell(
                    2,
                    None,
                    3,
                    2,
                    n_censored=2,
                    lowest_limit=60.0,
                    highest_limit=60.0,
                    at_least=39.0,
                    workers=4,
                ),
            )
        ),
        (
            "Duration is 20 s on average at workers 2; workers 4 timed out.",
            "19 s to 21 s (95 %), 5 runs.",
        ),
    ),
    "failures": (
        answered(
            answer(cell(1, 20.0, workers=2), cell(2, None, 0, 5, too_many_failures=True, workers=4))
        ),
        (
            "Duration is 20 s on average at workers 2; workers 4 fails too often.",
            "19 s to 21 s (95 %), 5 runs.",
        ),
    ),
    "failed work in every run": (
        answered(
            answer(
                cell(1, 20.0, workers=2),
                cell(2, 30.0, too_many_failures=True, units=100, units_failed=57, workers=4),
                cell(3, 40.0, too_many_failures=True, units=100, units_failed=76, workers=8),
                failing=frozenset({2, 3}),
            )
        ),
        (
            "Duration is 20 s on average at workers 2; 2 other settings fail too often.",
            "19 s to 21 s (95 %), 5 runs.",
        ),
    ),
    "all failed": (
        answered(answer(cell(1, None, 0, 6, n_lost=1))),
        ("No run came through: 6 failed, 1 was void, lost or cancelled.", ""),
    ),
    "no value": (
        answered(answer(cell(1, None, 0, n_lost=8), unobserved=8, values_needed=200)),
        (
            "The runs that were done have no value of duration.",
            "It takes 200 samples in a run. Measure longer, or judge by the mean.",
        ),
    ),
    "no value, no percentile": (
        answered(answer(cell(1, None, 0, n_lost=1), unobserved=1)),
        ("The runs that were done have no value of duration.", ""),
    ),
    "no value, and lost": (
        answered(answer(cell(1, None, 0, 2, n_lost=3), unobserved=1, values_needed=200)),
        ("No run came through: 2 failed, 2 were void, lost or cancelled, 1 has no value.", ""),
    ),
    "all timed out": (
        answered(
            answer(
                cell(1, None, 0, 3, n_censored=3, at_least=60, lowest_limit=60, highest_limit=60)
            )
        ),
        (
            "No run came through: 3 timed out.",
            "Duration: at least 60 s (3 of 3 runs timed out at 60 s).",
        ),
    ),
    "too much of the work failed": (
        answered(workers(20.0, 10.0, failing=[1, 2])),
        ("No setting can be called best: too much failed in every cell.", ""),
    ),
    "levels that are no texts": (
        answered(
            workers(5.0, 8.0, 8.0),
            levels=levels_of(
                level_group(
                    [None, True, 1234.5],
                    numeric=False,
                    best=best_of([1, 2, 3], 1, [0.0, 50.0, 90.0], possibly=[1, 2, 3]),
                ),
                primary=primary(verdict(Word.BETTER, -5.0, -7.0, -3.0), cache=False, engine=[1, 2]),
            ),
        ),
        (
            "Workers 8 is 5.0 % faster than 2 at cache off, engine 1, 2.",
            "3.0 to 7.0 % (95 %), 5 blocks, one session.",
        ),
    ),
    "sides and strata that are no texts": (
        answered(
            workers(5.0, 8.0),
            pairs=pairs_of(
                stratum(verdict(Word.BETTER, -5.0, -7.0, -3.0)), baseline=None, candidate=True
            ),
        ),
        ("on is 5.0 % faster than none.", "3.0 to 7.0 % (95 %), 5 pairs, one session."),
    ),
    # Without comparisons
    "nothing yet": (answered(answer(cell(1, None, 0))), ("No run has ended yet.", "")),
    "one cell": (
        answered(answer(cell(1, 20.0))),
        ("Duration is 20 s on average.", "19 s to 21 s (95 %), 5 runs."),
    ),
    "one run": (
        answered(answer(cell(1, 20.0, 1))),
        ("Duration is 20 s in one run.", "1 run, too few for an interval."),
    ),
    "one run, others failed": (
        answered(answer(cell(1, 20.0, 1, 2))),
        ("Duration is 20 s in 1 of 3 runs.", "1 run, too few for an interval."),
    ),
    "few runs of one": (
        answered(answer(cell(1, 20.0, 2, workers=2), cell(2, 10.0, workers=4))),
        (
            "No setting is ranked: 1 of 2 settings has fewer than 3 runs.",
            "Duration is 10 s to 20 s on average, 7 runs.",
        ),
    ),
    "at a load a setting is a cell, and failed runs are runs": (
        answered(
            answer(
                cell(1, 20.0, 1, 2, hosts=5, workers=2),
                cell(2, 10.0, hosts=5, workers=4),
                work=["hosts"],
                loads=["hosts"],
            ),
            levels=levels_of(),
        ),
        (
            "No setting is ranked: 1 of 2 cells has fewer than 3 runs that came through.",
            "Duration is 10 s to 20 s on average, 6 runs.",
        ),
    ),
    "one value of zero": (
        answered(
            answer(
                cell(1, 0.0, flags=("not_positive",), median=0.0),
                label="CPU time",
                invalid=[InvalidRun(1, 1, "")],
            )
        ),
        (
            "No setting is ranked: 1 of 5 runs has a CPU time of zero or below.",
            "A value of zero has no ratio to another one.",
        ),
    ),
    "few runs everywhere": (
        answered(answer(cell(1, 20.0, 2, workers=2), cell(2, 10.0, 2, workers=4))),
        (
            "No setting is ranked: 2 of 2 settings have fewer than 3 runs.",
            "Duration is 10 s to 20 s on average, 4 runs.",
        ),
    ),
    "cancelled": (
        answered(workers(20.0, 10.0, cancelled=True)),
        (
            "No setting is ranked: the campaign was cancelled before its stop rule was met.",
            "Duration is 10 s to 20 s on average, 10 runs.",
        ),
    ),
    "too many cells": (
        answered(answer(*(cell(key, 10.0, n=key) for key in range(401)))),
        (
            "No setting is ranked: 401 settings are more than can be compared (400).",
            "Duration is 10 s on average, 2,005 runs.",
        ),
    ),
    "other work in each cell": (
        answered(answer(cell(1, 20.0, test="a"), cell(2, 1.5, test="b"), work=["test"])),
        (
            "Test a: 20 s; test b: 1.5 s.",
            "10 runs; each setting did other work, so none is ranked.",
        ),
    ),
    "values of zero": (
        answered(
            answer(
                cell(1, 0.0, flags=("not_positive",), median=0.0),
                invalid=[InvalidRun(1, 1, ""), InvalidRun(1, 4, "")],
            )
        ),
        (
            "No setting is ranked: 2 of 5 runs have a duration of zero or below.",
            "A value of zero has no ratio to another one.",
        ),
    ),
    # A/A
    "identical runs": (
        answered(REAL_RUNS, pairs=pairs_of(stratum(EQUIVALENT)), calibration=identical_runs()),
        (
            "Identical runs differ by up to about 4.2 %: a smaller difference of two single runs may be noise.",
            "19 of 20 pairs differ by less, estimated from 10 pairs.",
        ),
    ),
    "identical runs, false alarm": (
        answered(REAL_RUNS, pairs=pairs_of(stratum(FASTER)), calibration=identical_runs(alarms=1)),
        (
            "Identical runs differ by up to about 4.2 %: a smaller difference of two single runs may be noise.",
            "19 of 20 pairs differ by less, estimated from 10 pairs.",
        ),
    ),
    # Sessions
    "two sessions": (
        pairs(stratum(FASTER, of_two_sessions(-21.0, -19.0)), sessions=2),
        ("new is 20.0 % faster than old.", "16.0 to 24.0 % (95 %), 5 pairs, 2 sessions."),
    ),
    "three sessions": (
        pairs(stratum(FASTER, between_sessions(3)), sessions=3),
        ("new is 20.0 % faster than old.", "16.0 to 24.0 % (95 %), 5 pairs, between 3 sessions."),
    ),
    "level after level": (
        levels(ranked(), drift=OrderDrift(known=False, shown=False)),
        (
            "Workers 8 is the fastest, if nothing else changed meanwhile; 4 takes 2 times as long, 2 takes 4 times as long.",
            "15 runs, level after level.",
        ),
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_the_sentence_of_an_answer(name):
    text, lines = SENTENCES[name]

    assert (text.sentence, text.certainty) == lines


CAVEATS = {
    "one session": (
        pairs(stratum(FASTER)),
        ["Seen in one session: repeat it on another day before calling it confirmed."],
    ),
    "confirmed by sessions": (
        pairs(stratum(FASTER, of_two_sessions(-21.0, -19.0)), sessions=2),
        [],
    ),
    "sessions that differ": (
        pairs(stratum(NOT_ENOUGH, between_sessions(3, confirmed=False, differ=True)), sessions=3),
        ["3 sessions do not confirm a verdict; the sessions differ by more than their noise."],
    ),
    "some confirmed": (
        pairs(
            stratum(FASTER, of_two_sessions(-21.0, -19.0), size=1),
            stratum(SLOWER, of_two_sessions(1.0, 20.0, confirmed=False), size=2),
            sessions=2,
        ),
        ["1 of 2 comparisons are confirmed by 2 sessions (faster: 1)."],
    ),
    "order of pairs": (
        pairs(stratum(FASTER), order_effect=OrderEffect(3, 3, 6.0, 3.0, 4, 0.01, flagged=True)),
        [
            "Who ran first in a pair made a difference of +6.0 %; look at the order before trusting the change.",
            "Seen in one session: repeat it on another day before calling it confirmed.",
        ],
    ),
    "strata differ": (
        pairs(
            stratum(FASTER, size=1),
            stratum(SLOWER, size=2),
            overall=over(2, -4.0, heterogeneous=True, i2=0.96),
        ),
        [
            "The change is not the same everywhere (I² 96 %), so one number does not fit all: read the rows first.",
            "Seen in one session: repeat it on another day before calling it confirmed.",
        ],
    ),
    "level after level": (
        answered(workers(20.0, 10.0, order="blocked")),
        [
            "All runs of a level were made one after the other: what differs may be the hour, and the intervals do not cover that.",
            "Each interval is its cell's own; whether two cells differ is not judged by comparing their intervals.",
        ],
    ),
    "level after level, first of all caveats": (
        answered(
            workers(
                20.0,
                10.0,
                order="blocked",
                simulators=["simulated Pulp"],
                changes=[change("version")],
            )
        ),
        [
            "All runs of a level were made one after the other: what differs may be the hour, and the intervals do not cover that.",
            "Measured on a simulated Pulp, not on a real server.",
            "The environment changed during the campaign: version (target); runs before and after it are not comparable as they are.",
            "Each interval is its cell's own; whether two cells differ is not judged by comparing their intervals.",
        ],
    ),
    "level after level, drift unknown": (
        levels(
            of=workers(40.0, 20.0, 10.0, order="blocked"),
            drift=OrderDrift(known=False, shown=False),
        ),
        [
            "All runs of a level were made one after the other: what differs may be the hour, and the intervals do not cover that.",
            "Whether the target drifted cannot be determined in this order.",
            "Seen in one session: repeat it on another day before calling it confirmed.",
        ],
    ),
    "level after level, drift shown": (
        levels(
            of=workers(40.0, 20.0, 10.0, order="blocked"),
            drift=OrderDrift(known=True, shown=True, slope_pct=-2.0, hours=3.0),
        ),
        [
            "All runs of a level were made one after the other: what differs may be the hour, and the intervals do not cover that.",
            "Runs of one level drift (−2 % an hour): a difference between levels measured one after the other cannot be distinguished from this drift.",
            "Seen in one session: repeat it on another day before calling it confirmed.",
        ],
    ),
    "level after level, drift of runs without times": (
        levels(
            of=workers(40.0, 20.0, 10.0, order="blocked"),
            drift=OrderDrift(known=True, shown=False, slope_pct=0.2, missed_pct=1.0),
        ),
        [
            "All runs of a level were made one after the other: what differs may be the hour, and the intervals do not cover that.",
            "Drift: none shown within levels (at most ±1 % a run would have been missed); between levels it cannot be determined in this order.",
            "Seen in one session: repeat it on another day before calling it confirmed.",
        ],
    ),
    "simulated": (
        answered(answer(cell(1, 20.0), simulators=["simulated Pulp"])),
        ["Measured on a simulated Pulp, not on a real server."],
    ),
    "environment changed": (
        answered(
            answer(cell(1, 20.0), changes=[change("version")]),
            sessions=SessionsFinding(
                [BegunSession(2, 7, None, [change("version")])], 1, paired=True
            ),
        ),
        [
            "The environment changed during the campaign: version (target); runs before and after it are not comparable as they are.",
            "A new session begins at run 7: version (target) 3.1 → 3.2.",
            "1 pair with runs on both sides of a border is left out.",
        ],
    ),
    "few runs": (
        answered(answer(cell(1, 20.0, 2), cell(2, 20.0))),
        [
            "Each interval is its cell's own; whether two cells differ is not judged by comparing their intervals."
        ],
    ),
    "some failed": (
        answered(answer(cell(1, 20.0, 4, 1))),
        ["1 of 5 runs failed; means are those of the runs that came through."],
    ),
    "timed out": (
        answered(answer(cell(1, None, 4, 1, n_censored=1))),
        [
            "1 of 5 runs timed out: its cell has a lower bound in the place of a mean, and is not compared."
        ],
    ),
    "lost": (
        answered(answer(cell(1, 20.0, n_lost=2))),
        ["2 of 7 runs were void, lost or cancelled and are not in the numbers."],
    ),
    "some without a value": (
        answered(answer(cell(1, 20.0, n_lost=3), unobserved=2, values_needed=200)),
        [
            "2 of 8 runs have no value of duration: it takes 200 samples in a run. Measure longer, or judge by the mean.",
            "1 of 8 runs was void, lost or cancelled and is not in the numbers.",
        ],
    ),
    "saturated": (
        answered(answer(cell(1, 20.0, n_saturated=2, n_lost=2))),
        ["In 2 of 7 runs the generator was saturated: their values are bounds."],
    ),
    "values of zero": (
        answered(
            answer(
                cell(1, 0.0, flags=("not_positive",)),
                invalid=[InvalidRun(1, 4, ""), InvalidRun(1, 1, "Measure more finely.")],
            )
        ),
        [
            "In 1 of 1 cells a value is zero, negative or no number (runs 1, 4): this cell is not compared with others. Measure more finely."
        ],
    ),
    "one lost": (
        answered(answer(cell(1, 20.0, n_lost=1))),
        ["1 of 6 runs was void, lost or cancelled and is not in the numbers."],
    ),
    "one saturated": (
        answered(answer(cell(1, 20.0, n_saturated=1, n_lost=1))),
        ["In 1 of 6 runs the generator was saturated: its value is a bound."],
    ),
    "all timed out": (
        answered(answer(cell(1, None, 0, 3, n_censored=3))),
        [],
    ),
    "all timed out or failed": (
        answered(answer(cell(1, None, 0, 3, n_censored=2))),
        [],
    ),
}


@pytest.mark.parametrize("name", CAVEATS)
def test_the_caveats_of_an_answer_the_worst_first(name):
    text, caveats = CAVEATS[name]

    assert [*filter(None, [text.caveat, *text.further])] == caveats


ENDED = {
    "precise": (
        stopped("precise"),
        "Ended after 8 of at most 30 blocks: the widest interval is ±2.4 %, within the target of ±3 %. "
        "Because it could end early, each interval called 95 % is computed as one of 97.5 %.",
    ),
    "most blocks": (
        stopped("most_blocks", 8.0, primary=True),
        "Ended after 8 of at most 30 blocks: that is the maximum; the interval of the primary contrast is "
        "±8.0 %, the target was ±3 %. "
        "Because it could end early, each interval called 95 % is computed as one of 97.5 %.",
    ),
    "out of time": (
        stopped("out_of_time", None),
        "Ended after 8 of at most 30 blocks: the time budget is used up; the widest interval is not known, "
        "the target was ±3 %. "
        "Because it could end early, each interval called 95 % is computed as one of 97.5 %.",
    ),
    "goes on": (stopped(""), ""),
}


@pytest.mark.parametrize("name", ENDED)
def test_why_an_adaptive_campaign_ended(name):
    outlook, ended = ENDED[name]

    assert answered(REAL_RUNS, outlook=outlook).ended == ended


def test_a_cancelled_campaign_did_not_end_by_its_rule():
    cancelled = workers(20.0, 10.0, cancelled=True)

    assert answered(cancelled, outlook=stopped("precise")).ended == ""


STATEMENTS = {
    "step": (
        levels(ranked(comparisons=[step(1, 2, FASTER)])),
        "4 vs. 2: faster, −20.0 % (−24.0 … −16.0 %).",
    ),
    "step with advice": (
        levels(ranked(comparisons=[step(2, 3, NO_DIFFERENCE)])),
        "8 vs. 4: no difference shown, +1.0 % (−3.0 … +4.5 %). "
        "A change of 5 % or more is excluded with 95 % confidence.",
    ),
    "step without numbers": (
        levels(ranked(comparisons=[step(1, 2, FAILED)])),
        "4 vs. 2: too many failures.",
    ),
    "knee": (
        levels(ranked(knee=knee(consensus=4))),
        "The knee lies between 4 and 8 (95 %). Staying at 4, where two of three methods put it, "
        "costs +100.0 % compared with 8 (up to +120.0 % with 95 % confidence).",
    ),
    "no knee": (
        levels(ranked(knee=knee("smooth"))),
        "Diminishing returns, without a distinct knee.",
    ),
    "edge": (
        levels(ranked()),
        "The fastest may lie above 8, the highest level tested: measure higher ones, too.",
    ),
}


def test_that_the_best_may_lie_above_one_level_is_told_once_for_all_groups():
    groups = [structs.replace(ranked(), levels={"hosts": hosts}) for hosts in (5, 10, 20)]

    said = [each.text for each in levels(*groups).statements if "may lie above" in each.text]

    assert said == [
        "The fastest may lie above 8, the highest level tested, in 3 of 3 tables: measure higher ones, too."
    ]


def test_nothing_is_said_to_lie_above_a_level_that_is_not_shown_to_be_the_best():
    text = levels(ranked(best={"possibly": [1, 2, 3]}))

    assert not [each for each in text.statements if "may lie above" in each.text]


@pytest.mark.parametrize("name", STATEMENTS)
def test_the_details_of_an_answer(name):
    text, statement = STATEMENTS[name]

    assert statement in [each.text for each in text.statements]


def test_badges_count_verdicts():
    strata = [stratum(FASTER, size=1), stratum(FASTER, size=2), stratum(EQUIVALENT, size=3)]
    simulated = answer(*TWO, simulators=["simulated Pulp"])

    text = answered(simulated, pairs=pairs_of(*strata))

    assert [badge.word for badge in text.badges] == [
        "simulated",
        "faster: 2 of 3",
        "equivalent within 2 %: 1 of 3",
    ]


def test_the_cost_of_slower_settings_is_beside_the_best():
    facts = levels(ranked()).facts

    assert [(fact.label, fact.value, fact.note) for fact in facts] == [
        ("workers 8", "10 s", "the fastest"),
        ("workers 4", "+100.0 %", "20 s; up to 120.0 % slower (95 %)"),
        ("workers 2", "4 times as long", "40 s; up to 4.3 times (95 %)"),
    ]


def test_of_a_rate_the_value_is_beside_the_best():
    facts = levels(ranked(), unit="B/s", lower_is_better=False).facts

    assert facts[1].note == "workers 8 is 100.0 % above it; the best up to 120.0 % (95 %)"


GAP = BegunSession(2, 7, 20.2, [])
UPGRADE = BegunSession(3, 9, None, [change("version"), change("storage", "x" * 50, "y")])
NOTES = {
    "none": (None, [], []),
    "gap": (
        SessionsFinding([GAP], 0),
        ["A new session begins at run 7: 20 h after the run before it."],
        [],
    ),
    "upgrade": (
        SessionsFinding([GAP, UPGRADE], 2),
        [
            "A new session begins at run 7: 20 h after the run before it.",
            "A new session begins at run 9: version (target) 3.1 → 3.2, storage (target) is another one.",
            "2 blocks lie on both sides of a border: runs are compared within each part only.",
        ],
        [
            "A new session begins at run 9: version (target) 3.1 → 3.2, storage (target) is another one.",
            "2 blocks lie on both sides of a border: runs are compared within each part only.",
        ],
    ),
    "many": (
        SessionsFinding([GAP] * 5, 0),
        ["A new session begins at run 7: 20 h after the run before it."] * 3
        + ["2 more begin later."],
        [],
    ),
}


@pytest.mark.parametrize("name", NOTES)
def test_notes_on_sessions(name):
    sessions, every, of_changes = NOTES[name]

    assert session_notes(sessions) == every
    assert notes_of_changes(sessions) == of_changes


def test_the_levels_of_cells_and_strata_are_written_as_on_pages():
    cells = answered(answer(cell(1, 1.0, cache=True), cell(2, 2.0, cache=None))).facts
    strata = answered(
        workers(5.0),
        pairs=pairs_of(*(stratum(verdict(Word.BETTER), cache=on) for on in (True, None))),
    ).facts

    assert [fact.label for fact in cells] == ["cache on", "cache none"]
    assert [fact.label for fact in strata] == ["on", "none"]


def test_a_verdict_on_one_place_names_it_or_says_that_it_is_one():
    contrast = primary(
        FASTER,
        operating_system="CentOS Stream 9",
        content="rpm with modules and sources",
        policy="on demand, cached",
        engine="asyncio",
        proxy="a proxy with a login",
    )

    text = levels(ranked(), primary=contrast)

    assert text.sentence == "Workers 8 is 20.0 % faster than 2 at one combination of the others."


@pytest.mark.parametrize(
    ("judged", "interval"),
    [
        (verdict(Word.NOT_ENOUGH_DATA, -20.0, -34.0, -4.0), "−34.0 to −4.0 % (95 %)"),
        (verdict(Word.EQUIVALENT, -1.0, -1.5, -0.5), "−1.5 to −0.5 % (95 %)"),
        (verdict(Word.NO_DIFFERENCE_SHOWN, 2.0, 1.0, 3.0), "+1.0 to +3.0 % (95 %)"),
        (FASTER, "16.0 to 24.0 % (95 %)"),
    ],
)
def test_an_interval_has_signs_where_the_verdict_has_no_direction(judged, interval):
    assert interval in pairs(stratum(judged)).certainty


def test_no_caveat_on_runs_hides_another_one():
    text = answered(answer(cell(1, 10.0, 10, 2, n_lost=5, n_saturated=2)))

    assert [text.caveat, *text.further] == [
        "2 of 17 runs failed; means are those of the runs that came through.",
        "In 2 of 17 runs the generator was saturated: their values are bounds.",
        "3 of 17 runs were void, lost or cancelled and are not in the numbers.",
    ]


@pytest.mark.parametrize("word", ["not_decided", "not_contradicted", "does_not_pass"])
def test_where_nothing_came_through_no_criterion_hides_that(word):
    state = ThresholdState(name="p95", word=word, value=None, interval=None)
    judged = ThresholdCell(cell=1, levels={}, word=word, states=[state])
    thresholds = Thresholds(word=word, conditions=[P95], cells=[judged])

    text = answered(answer(cell(1, None, 0, 5)), thresholds=thresholds)

    assert text.sentence == "No run came through: 5 failed."


def test_a_criterion_that_is_not_shown_to_be_kept_is_a_caveat_beside_a_comparison():
    state = ThresholdState(name="p95", word="not_decided", value=170.0, interval=None)
    judged = ThresholdCell(cell=1, levels={}, word="not_decided", states=[state])
    thresholds = Thresholds(word="not_decided", conditions=[P95], cells=[judged])

    text = answered(REAL_RUNS, pairs=pairs_of(stratum(FASTER)), thresholds=thresholds)

    assert text.sentence == "new is 20.0 % faster than old."
    assert text.caveat == "Whether p95 of a registration stays within 3:00 min is not decided."


def test_where_no_group_shows_a_best_level_that_is_said_once():
    text = two_groups(possibly=((1, 2), (3, 4)))
    assert text.sentence == "No setting is shown to be the fastest in any of 2 combinations."


def alike_but(*winners):
    """Engines a and b; of each, the cell that is the fastest, or None where both levels are equivalent."""
    groups = []
    for engine, cells, winner in zip("ab", ([1, 2], [3, 4]), winners, strict=True):
        could, cost = (cells, [0.0, 0.0]) if winner is None else ([winner], [30.0, 0.0])
        best = best_of(
            cells, could[-1], [1.0, 1.0], possibly=could, cost_pct=cost, alike=winner is None
        )
        groups.append(level_group([2, 4], cells=cells, levels={"engine": engine}, best=best))
    return answered(FOUR, levels=levels_of(*groups)).sentence


def test_levels_that_are_alike_in_each_group_are_said_to_be_so_and_within_what():
    assert alike_but(None, None) == (
        "All levels of workers are equivalent within 2 % in both combinations of the other factors."
    )


def test_levels_that_are_alike_in_one_of_the_groups_are_named():
    assert alike_but(2, None) == (
        "The fastest workers: 4 (engine a); all equivalent within 2 % (engine b)."
    )
