"""What is carried, as a reader sees it: of one setting, of several, and in the worst data."""

import re

import pytest
from msgspec import structs

from campaigns.findings.most_carried import most_carried
from campaigns.findings.values import ConditionTerms, Confirmation, Estimate, MostCarried, OverLoads
from campaigns.findings.wording.at_loads import all_loads
from campaigns.findings.wording.capacity import beside_limit, metric_phrase
from campaigns.findings.wording.capacity_answer import CapacityAnswer, capacity_texts
from campaigns.findings.wording.loads import LoadWords, named, plural, setting_name
from campaigns.stats.capacity import Advice, CapacityWord, Held
from campaigns.stats.interval import Interval
from campaigns.stats.verdict import Word
from campaigns.tests.findings.wording.builders import (
    FAILURE_LIMIT,
    FAILURES,
    LOADS,
    ONE_SESSION,
    P95,
    answer,
    answered,
    best_of,
    capacities,
    capacity,
    carried_by,
    cell,
    condition,
    level_group,
    levels_of,
    load_state,
    primary,
    ratio,
    step,
    verdict,
)

RISING = condition(
    "p95",
    load_state(60.0, 20.0, state=Held.HELD),
    load_state(240.0, 90.0, state=Held.HELD),
    load_state(960.0, 420.0, state=Held.FAILED),
)
FEW_HOSTS = (5.0, 15.0, 40.0)
RATE = {"load": "rate", "load_label": "Offered rate"}
THROUGHPUT = ConditionTerms(
    name="throughput", metric="throughput", label="Throughput", unit="1/s", at_least=50.0
)
LEVELS = {"badges": ["levels_only"], "binding": "failed_share"}
BETWEEN, AT_LEAST = CapacityWord.BETWEEN, CapacityWord.AT_LEAST
FEWER_THAN, NOT_MONOTONE = CapacityWord.FEWER_THAN, CapacityWord.NOT_MONOTONE
NOT_ENOUGH = CapacityWord.NOT_ENOUGH_DATA
FORBIDDEN = re.compile(r"fastest|\bbest\b|slower than|faster than|[+−]\d[\d.]* %|\bcosts?\b")


def failing(load, share, low, high, state=Held.FAILED):
    """The share of failures at one load."""
    return condition(
        "failed_share",
        load_state(load, share=share, share_interval=Interval(low, high), state=state),
    )


def one(carried, loads=LOADS, means=None, values_needed=None, unobserved=0, target="", **fields):
    """The answer of a campaign of one setting over loads; means: of its cells, 10 s at the first load, 20 s at the next.

    values_needed, unobserved: of a percentile, and how many runs have too few.
    """
    means = means or [10.0 * (place + 1) for place in range(len(loads))]
    cells = [
        cell(key, mean, hosts=load)
        for key, (load, mean) in enumerate(zip(loads, means, strict=True), 1)
    ]
    finding = capacities(carried_by(carried, loads), **fields)
    told = answer(
        *cells,
        loads=["hosts"],
        values_needed=values_needed,
        unobserved=unobserved,
        target=target,
    )
    return answered(told, capacity=finding)


def several(*carried, levels=None, **fields):
    """The answer of settings of 2, 4, 8 workers."""
    levels = levels or [{"workers": 2**k} for k in range(1, len(carried) + 1)]
    settings = [
        carried_by(each, first_cell=10 * place, **of)
        for place, (each, of) in enumerate(zip(carried, levels, strict=True))
    ]
    cells = [cell(1, 10.0, workers=2)]
    return answered(answer(*cells, loads=["hosts"]), capacity=capacities(*settings, **fields))


def about(estimate, spread=0.04, **fields):
    """A capacity with an interval around it."""
    low, high = estimate * (1 - spread), estimate * (1 + spread)
    return capacity(BETWEEN, low, estimate, high, **fields)


KEPT = "p95 of a registration stays within 3:00 min"
AT_MOST = "at most 5 % fail"
TOP = "the highest number measured"
CURVE = "Duration is 50 s at 960 hosts, 5 times that of 60 hosts."
FEW_CURVE = "Duration is 30 s at 40 hosts, 3 times that of 5 hosts."
NO_NUMBER = "What is carried is not shown:"

ONE = {
    "interpolated": (
        lambda: one(capacity(BETWEEN, 388.4, 402.9, 415.2, RISING)),
        "Carries 388 to 416 hosts.",
    ),
    "a wide interval has two figures": (
        lambda: one(capacity(BETWEEN, 347.7, 402.9, 471.2, RISING)),
        "Carries 340 to 480 hosts.",
    ),
    "an end that is a measured load is not rounded": (
        lambda: one(capacity(BETWEEN, 125.0, 127.9, 163.0), loads=(125.0, 250.0)),
        "Carries 125 to 170 hosts.",
    ),
    "hosts are whole": (
        lambda: one(capacity(BETWEEN, 4.7, 5.6, 5.71), loads=(2.0, 8.0)),
        "Carries 4 to 6 hosts.",
    ),
    "one host": (
        lambda: one(capacity(BETWEEN, 1.0, 1.2, 1.4), loads=(1.0, 2.0)),
        "Carries 1 to 2 hosts.",
    ),
    "ties without noise": (
        lambda: one(capacity(BETWEEN, 400.0, 400.0, 400.0), loads=(100.0, 1000.0)),
        "Carries 400 hosts.",
    ),
    "huge numbers": (
        lambda: one(capacity(BETWEEN, 1.2345e6, 1.2399e6, 1.2501e6), loads=(1e6, 2e6)),
        "Carries 1,230,000 to 1,260,000 hosts.",
    ),
    "a rate that is no whole number": (
        lambda: one(capacity(BETWEEN, 1.234, 1.277, 1.311), loads=(0.5, 2.5), **RATE),
        "Carries offered rate 1.23 to 1.32.",
    ),
    "below one": (
        lambda: one(capacity(BETWEEN, 0.51, 0.55, 0.59), loads=(0.5, 1.5), **RATE),
        "Carries offered rate 0.51 to 0.59.",
    ),
    "stricter than usual": (
        lambda: one(capacity(BETWEEN, 388.4, 402.9, 415.2, RISING), alpha=0.01),
        "Carries 388 to 416 hosts.",
    ),
    "two conditions": (
        lambda: one(capacity(BETWEEN, 388.4, 402.9, 415.2, RISING), conditions=[P95, FAILURES]),
        "Carries 388 to 416 hosts.",
    ),
    "failures break first": (
        lambda: one(
            capacity(
                BETWEEN,
                240.0,
                None,
                300.0,
                RISING,
                failing(960.0, 0.42, 0.38, 0.46),
                **LEVELS,
            ),
            loads=(240.0, 300.0, 960.0),
            conditions=[P95, FAILURES],
        ),
        "Carries at least 240 hosts, fewer than 300.",
    ),
    "levels": (
        lambda: one(
            capacity(BETWEEN, 480.0, None, 960.0, failing(960.0, 0.42, 0.38, 0.46), **LEVELS),
            conditions=[FAILURES],
        ),
        "Carries at least 480 hosts, fewer than 960.",
    ),
    "5.01 % is not written as the limit": (
        lambda: one(
            capacity(BETWEEN, 480.0, None, 960.0, failing(960.0, 0.0501, 0.05, 0.06), **LEVELS),
            conditions=[FAILURES],
        ),
        "Carries at least 480 hosts, fewer than 960.",
    ),
    "a metric that should be high": (
        lambda: one(
            capacity(
                BETWEEN,
                388.4,
                402.9,
                415.2,
                condition("throughput", load_state(960.0, 31.0, state=Held.FAILED)),
                binding="throughput",
            ),
            conditions=[THROUGHPUT],
        ),
        "Carries 388 to 416 hosts.",
    ),
    "a percentile that is judged as a share": (
        lambda: one(
            capacity(
                BETWEEN,
                480.0,
                None,
                960.0,
                condition("p95", load_state(960.0, share=0.31, state=Held.FAILED)),
                badges=["levels_only"],
            ),
            conditions=[structs.replace(P95, as_share=True, failed_share=0.05)],
        ),
        "Carries at least 480 hosts, fewer than 960.",
    ),
    "nobody stated a condition": (
        lambda: one(
            capacity(AT_LEAST, 40.0, binding="", loads=FEW_HOSTS),
            FEW_HOSTS,
            [12.0, 18.0, 31.0],
            conditions=[FAILURE_LIMIT],
            stated=False,
        ),
        "Carries at least 40 hosts, the highest number measured.",
    ),
    "a flat curve": (
        lambda: one(
            capacity(AT_LEAST, 40.0, binding="", loads=FEW_HOSTS),
            FEW_HOSTS,
            [12.0, 12.0, 12.1],
        ),
        "Carries at least 40 hosts, the highest number measured.",
    ),
    "values of zero have no ratio": (
        lambda: one(
            capacity(AT_LEAST, 40.0, binding="", loads=FEW_HOSTS), FEW_HOSTS, [0.0, 0.0, 3.0]
        ),
        "Carries at least 40 hosts, the highest number measured.",
    ),
    "the highest load is open": (
        lambda: one(capacity(AT_LEAST, 700.0, binding="")),
        "Carries at least 700 hosts.",
    ),
    "at least, between loads": (
        lambda: one(capacity(AT_LEAST, 703.9, binding="")),
        "Carries at least 703 hosts.",
    ),
    "at least a rate": (
        lambda: one(capacity(AT_LEAST, 2.5, loads=(0.5, 2.5)), loads=(0.5, 2.5), **RATE),
        "Carries at least offered rate 2.5, the highest load measured.",
    ),
    "all fail": (
        lambda: one(
            capacity(
                FEWER_THAN,
                None,
                None,
                60.0,
                condition("p95", load_state(60.0, 240.0, state=Held.FAILED)),
            )
        ),
        "Carries fewer than 60 hosts, the lowest number measured.",
    ),
    "just above the limit": (
        lambda: one(
            capacity(
                FEWER_THAN,
                None,
                None,
                60.0,
                condition("p95", load_state(60.0, 180.2, state=Held.FAILED)),
            )
        ),
        "Carries fewer than 60 hosts, the lowest number measured.",
    ),
    "no run came through at the lowest load": (
        lambda: one(capacity(FEWER_THAN, None, None, 60.0, condition("p95", load_state(60.0)))),
        "Carries fewer than 60 hosts, the lowest number measured.",
    ),
    "the lowest load is open": (
        lambda: one(
            capacity(FEWER_THAN, None, None, 235.3, condition("p95", load_state(60.0, 170.0)))
        ),
        "Carries fewer than 236 hosts.",
    ),
    "more blocks": (
        lambda: one(capacity(BETWEEN, 240.0, None, 960.0, RISING, advice=Advice(blocks=4))),
        "Carries at least 240 hosts, fewer than 960.",
    ),
    "about one more block": (
        lambda: one(
            capacity(BETWEEN, 240.0, None, 960.0, RISING, advice=Advice(blocks=1, rough=True))
        ),
        "Carries at least 240 hosts, fewer than 960.",
    ),
    "loads in between": (
        lambda: one(
            capacity(BETWEEN, 240.0, None, 960.0, RISING, advice=Advice(loads=[340.0, 680.0]))
        ),
        "Carries at least 240 hosts, fewer than 960.",
    ),
    "a rate that is not decided": (
        lambda: one(capacity(BETWEEN, 0.5, None, 2.5, loads=(0.5, 2.5)), loads=(0.5, 2.5), **RATE),
        "Carries at least offered rate 0.5, below 2.5.",
    ),
    "not monotone": (
        lambda: one(
            capacity(
                NOT_MONOTONE,
                None,
                None,
                None,
                condition("p95", load_state(240.0, 90.0), not_monotone=[(240.0, 480.0)]),
            )
        ),
        "Not monotone: p95 of a registration is higher at 240 hosts than at 480, so no number is made of it.",
    ),
    "not monotone in throughput": (
        lambda: one(
            capacity(
                NOT_MONOTONE,
                None,
                None,
                None,
                condition("throughput", not_monotone=[(240.0, 480.0)]),
            ),
            conditions=[THROUGHPUT],
        ),
        "Not monotone: throughput is lower at 240 hosts than at 480, so no number is made of it.",
    ),
    "not monotone in failures": (
        lambda: one(
            capacity(
                NOT_MONOTONE,
                None,
                None,
                None,
                condition("failed_share", not_monotone=[(240.0, 480.0)]),
            ),
            conditions=[FAILURES],
        ),
        "Not monotone: more fail at 240 hosts than at 480, so no number is made of it.",
    ),
    "one block": (
        lambda: one(capacity(NOT_ENOUGH, reason="blocks", blocks=1, about=402.9)),
        "What is carried is not shown: there is 1 block, and it takes at least 3.",
    ),
    "two blocks": (
        lambda: one(capacity(NOT_ENOUGH, reason="blocks", blocks=2)),
        "What is carried is not shown: there are 2 blocks, and it takes at least 3.",
    ),
    "one load": (
        lambda: one(capacity(NOT_ENOUGH, reason="loads", loads=(60.0,)), loads=(60.0,)),
        "What is carried is not shown: fewer than two loads were measured.",
    ),
    "loads in blocks of their own": (
        lambda: one(capacity(NOT_ENOUGH, reason="not_connected")),
        "What is carried is not shown: no block holds several loads, so loads and time cannot be told apart.",
    ),
    "lost runs": (
        lambda: one(capacity(NOT_ENOUGH, reason="lost_runs")),
        "What is carried is not shown: too many runs have no value.",
    ),
    "too few samples for p95": (
        lambda: one(capacity(NOT_ENOUGH, reason="lost_runs"), values_needed=200, unobserved=9),
        "What is carried is not shown: 9 runs have fewer than the 200 samples that duration takes.",
    ),
    "too few units to show a share": (
        lambda: one(
            capacity(
                NOT_ENOUGH,
                None,
                None,
                None,
                failing(40.0, 0.0, 0.0, 0.09213, Held.UNDECIDED),
                reason="no_bound",
                binding="",
                loads=FEW_HOSTS,
                advice=Advice(blocks=6),
            ),
            FEW_HOSTS,
            conditions=[FAILURE_LIMIT],
            stated=False,
        ),
        "No criterion was set, so how many hosts are carried is not stated.",
    ),
    "5.01 % that shows nothing is not written as the limit": (
        lambda: one(
            capacity(
                NOT_ENOUGH,
                None,
                None,
                None,
                failing(40.0, 0.0501, 0.045, 0.0556),
                reason="no_bound",
            ),
            FEW_HOSTS,
            conditions=[FAILURES],
        ),
        "What is carried is not shown: no number of hosts is shown to hold or to fail.",
    ),
    "values without a logarithm": (
        lambda: one(
            capacity(
                NOT_ENOUGH,
                None,
                None,
                None,
                condition("p95", reason="invalid_values"),
                reason="invalid_values",
            ),
            FEW_HOSTS,
        ),
        "What is carried is not shown: a value of p95 of a registration is zero, negative or no number.",
    ),
    "no criterion": (
        lambda: one(
            capacity(NOT_ENOUGH, reason="no_bound", binding="", loads=FEW_HOSTS),
            FEW_HOSTS,
            conditions=[],
            stated=False,
        ),
        "No criterion was set, so how many hosts are carried is not stated.",
    ),
}
BETTER = {"ratios": [ratio(Word.BETTER, 1.69, 1.62, 1.77)]}
LONG = "connections that a proxy lets in (0: no limit)"
SEVERAL = {
    "two": (
        lambda: several(about(204.6), about(348.3), **BETTER),
        "4 workers carry 334 to 363 hosts, 2 workers 196 to 213: 1.7 times as many (1.6 to 1.8).",
    ),
    "no bound of the ratio of failures": (
        lambda: several(
            capacity(BETWEEN, 50.0, None, 62.0, **LEVELS),
            capacity(BETWEEN, 100.0, None, 125.0, **LEVELS),
            ratios=[ratio(Word.NOT_ENOUGH_DATA, None, None, None, reason="no_bound")],
        ),
        "4 workers carry at least 100 hosts, 2 workers at least 50.",
    ),
    "the baseline carries more": (
        lambda: several(about(348.3), about(204.6), ratios=[ratio(Word.WORSE, 0.59, 0.56, 0.62)]),
        "2 workers carry 334 to 363 hosts, 4 workers 196 to 213: 1.7 times as many (1.6 to 1.8).",
    ),
    "as many": (
        lambda: several(
            about(348.3), about(351.0), ratios=[ratio(Word.EQUIVALENT, 1.008, 0.981, 1.036)]
        ),
        "4 workers carry 336 to 366 hosts, 2 workers 334 to 363: as many within 5 % (0.98 to 1.04 times).",
    ),
    "no difference shown": (
        lambda: several(
            about(348.3),
            about(351.0),
            ratios=[ratio(Word.NO_DIFFERENCE_SHOWN, 1.008, 0.93, 1.09)],
        ),
        "4 workers carry 336 to 366 hosts, 2 workers 334 to 363: no difference is shown.",
    ),
    "not enough data for the ratio": (
        lambda: several(
            about(348.3), about(351.0), ratios=[ratio(Word.NOT_ENOUGH_DATA, 1.008, 0.76, 1.34)]
        ),
        "4 workers carry 336 to 366 hosts, 2 workers 334 to 363: which carries more is not shown.",
    ),
    "no ratio": (
        lambda: several(about(204.6), about(348.3)),
        "2 workers carry 196 to 213 hosts, 4 workers 334 to 363.",
    ),
    "bounds only": (
        lambda: several(
            capacity(FEWER_THAN, None, None, 500.0),
            capacity(AT_LEAST, 1000.0),
            ratios=[ratio(Word.BETTER, None, 2.0, None, bounds_only=True)],
        ),
        "4 workers carry at least 1,000 hosts, 2 workers fewer than 500: at least twice as many.",
    ),
    "bounds of both sides": (
        lambda: several(
            capacity(BETWEEN, 240.0, None, 300.0, **LEVELS),
            capacity(BETWEEN, 480.0, None, 600.0, **LEVELS),
            ratios=[ratio(Word.BETTER, None, 1.6, 2.5, bounds_only=True)],
        ),
        "4 workers carry at least 480 hosts, 2 workers at least 240: at least 1.6 times as many.",
    ),
    "bounds on both sides of 1": (
        lambda: several(
            capacity(BETWEEN, 240.0, None, 300.0, **LEVELS),
            capacity(BETWEEN, 240.0, None, 300.0, **LEVELS),
            ratios=[ratio(Word.NOT_ENOUGH_DATA, None, 0.8, 1.25, bounds_only=True)],
        ),
        "4 workers carry at least 240 hosts, 2 workers at least 240: which carries more is not shown.",
    ),
    "levels that are no numbers": (
        lambda: several(
            about(204.6), about(348.3), levels=[{"maxconn": 3}, {"maxconn": None}], **BETTER
        ),
        "Maxconn none carries 334 to 363 hosts, maxconn 3 carries 196 to 213: 1.7 times as many (1.6 to 1.8).",
    ),
    "names that are too long for both": (
        lambda: several(
            about(204.6),
            about(348.3),
            levels=[{LONG: 3}, {LONG: 5}],
        ),
        f"5 {LONG} carry 334 to 363 hosts; the table has the other setting.",
    ),
    "three": (
        lambda: several(
            about(204.6),
            about(348.3),
            about(470.0),
            ratios=[
                ratio(Word.BETTER, 1.69, 1.62, 1.77),
                ratio(Word.BETTER, 1.35, 1.2, 1.5, sides=(1, 2)),
            ],
        ),
        "8 workers carry 451 to 489 hosts, the most of 3 settings.",
    ),
    "three, undecided": (
        lambda: several(
            about(204.6),
            capacity(BETWEEN, 240.0, None, 960.0, advice=Advice(blocks=4)),
            about(470.0),
            ratios=[ratio(Word.NOT_ENOUGH_DATA, 1.3, 0.9, 1.9, sides=(1, 2))],
        ),
        "8 workers carry 451 to 489 hosts, 4 workers at least 240, 2 workers 196 to 213.",
    ),
    "another condition breaks first": (
        lambda: several(
            about(204.6, binding="failed_share"),
            about(348.3, binding="p95"),
            conditions=[P95, FAILURES],
            ratios=[ratio(Word.BETTER, None, 1.6, 1.9, bounds_only=True)],
        ),
        "4 workers carry 334 to 363 hosts, 2 workers 196 to 213: at least 1.6 times as many.",
    ),
    "two factors of load are a frontier": (
        lambda: several(
            about(204.6),
            about(348.3),
            levels=[{"users": 5}, {"users": 10}],
            others=["users"],
            **BETTER,
        ),
        "5 users carry 196 to 213 hosts, 10 users 334 to 363.",
    ),
    "none is decided": (
        lambda: several(
            capacity(NOT_ENOUGH, reason="blocks", blocks=1, about=204.6),
            capacity(NOT_MONOTONE),
        ),
        "What is carried is not shown of any of 2 settings.",
    ),
    "many": (
        lambda: several(*[about(200.0 + 10 * place) for place in range(6)]),
        "64 workers carry 240 to 260 hosts, 32 workers 230 to 250; 4 more settings are in the table.",
    ),
}


@pytest.mark.parametrize("name", ONE)
def test_what_one_setting_carries(name):
    written, expected = ONE[name]
    assert written().sentence == expected


@pytest.mark.parametrize("name", SEVERAL)
def test_what_several_settings_carry(name):
    written, expected = SEVERAL[name]
    assert written().sentence == expected


@pytest.mark.parametrize("name", ONE)
def test_no_load_is_ranked(name):
    text = ONE[name][0]()
    said = [text.sentence, text.caveat, *(badge.word for badge in text.badges)]
    said += [f"{fact.label} {fact.value} {fact.note}" for fact in text.facts]
    said += [each.text for each in text.statements]
    assert not [each for each in said if FORBIDDEN.search(each)]


@pytest.mark.parametrize(
    ("low", "estimate", "high"),
    [(0.3, 0.9, 1.1), (99.99, 100.0, 100.01), (1234.5, 1300.0, 1999.9), (9.5, 10.5, 11.5)],
)
@pytest.mark.parametrize("exact", [(1.0, 2.0), (0.5, 1.5)])
def test_rounding_claims_nothing(low, estimate, high, exact):
    first, middle, last = (
        float(text.replace(",", ""))
        for text in LoadWords("Hosts", exact).within(low, estimate, high)
    )
    assert first <= low
    assert first <= middle <= estimate
    assert last >= high


def test_loads_and_settings_have_names():
    assert [named("hosts", "1"), named("hosts", "40"), named("repositories", "1")] == [
        "1 host",
        "40 hosts",
        "1 repository",
    ]
    assert [named("users at once", "1"), named("rps", "1"), named("rate", "5")] == [
        "1 user at once",
        "1 rps",
        "rate 5",
    ]
    assert setting_name({"puma_workers": 4, "mode": "fast"}) == "4 puma workers, mode fast"
    assert setting_name({"optimize": True}) == "optimize on"


def test_a_badge_and_a_fact_have_the_number():
    text = one(capacity(BETWEEN, 388.4, 402.9, 415.2, RISING, safe_load=371.9))

    assert [badge.word for badge in text.badges] == ["carries 388 to 416 hosts"]
    assert [(fact.label, fact.value, fact.note) for fact in text.facts] == [
        ("carried", "388 to 416 hosts", "95 %")
    ]
    assert [each.text for each in text.statements] == [
        "P95 of a registration stays within 3:00 min: 95 %, 15 runs.",
        "At 960 hosts p95 of a registration is 7:00 min.",
        "Safe load: 371 hosts. There a single further run keeps every condition with 95 % confidence.",
    ]
    assert (
        text.caveat == "Seen in one session: repeat it on another day before calling it confirmed."
    )


def test_texts_of_rest_are_those_of_each_setting():
    settings = [carried_by(about(204.6), workers=2), carried_by(about(348.3), workers=4)]
    texts = capacity_texts(capacities(*settings, **BETTER))

    assert [each.short for each in texts.settings] == [
        "196 to 213 hosts",
        "334 to 363 hosts",
    ]
    assert [(each.larger, each.smaller, each.label.word) for each in texts.ratios] == [
        ("4 workers", "2 workers", "carries more")
    ]


def test_the_most_is_carried_only_where_every_other_setting_is_beaten():
    settings = [carried_by(about(load), workers=load) for load in (200, 300, 400)]
    first, second = ratio(Word.BETTER, 1.5, 1.4, 1.6), ratio(Word.BETTER, 1.3, 1.2, 1.4, (1, 2))

    assert most_carried(capacities(*settings, ratios=[first, second])) == 2
    assert most_carried(capacities(*settings, ratios=[first])) is None
    assert CapacityAnswer(capacities()).headline() == ""


def test_the_first_setting_near_the_most_is_named_with_its_bound():
    settings = [carried_by(about(load), workers=load) for load in (2, 4, 6)]
    near = MostCarried(possibly=[1, 2], more_pct=[80.2, 7.2, 3.0], within_pct=10.0, recommended=1)
    none = structs.replace(near, recommended=None)

    texts = [
        [line.text for line in CapacityAnswer(capacities(*settings, most=most)).statements()]
        for most in (near, none)
    ]

    assert (
        "First setting that carries within 10 % of the most: 4 workers. No other one carries more than 8 % more, with 95 %"
        " confidence." in texts[0]
    )
    assert (
        "No setting is shown to carry within 10 % of the most. It may be carried by 4 workers or 6 workers."
        in texts[1]
    )


def at_loads(*changes, differs_p=None, left_out=(), named_before=False):
    """4 workers against 2 at 5, 15, 40 hosts."""
    groups = [
        level_group(
            [2, 4],
            cells=[2 * place + 1, 2 * place + 2],
            levels={"hosts": load},
            comparisons=[step(2 * place + 1, 2 * place + 2, change)],
        )
        for place, (load, change) in enumerate(zip(FEW_HOSTS, changes, strict=False))
    ]
    mean = OverLoads(
        factor="workers",
        candidate=4,
        baseline=2,
        at={},
        over=len(changes),
        left_out=left_out,
        comparison=Estimate(verdict=verdict(Word.BETTER, -20.1, -25.0, -15.0)),
        confirmation=ONE_SESSION,
        differs_p=differs_p,
    )
    named = structs.replace(primary(mean.comparison.verdict, over=len(changes)), candidate=4)
    levels = levels_of(
        *groups, loads=["hosts"], over_loads=[mean], primary=named if named_before else None
    )
    cells = [
        cell(key, 10.0, hosts=load, workers=workers)
        for key, (load, workers) in enumerate(
            ((load, workers) for load in FEW_HOSTS for workers in (2, 4)), 1
        )
    ]
    finding = capacities(
        carried_by(about(204.6), workers=2), carried_by(about(348.3), workers=4), **BETTER
    )
    return answered(answer(*cells, loads=["hosts"]), levels=levels, capacity=finding)


FASTER = verdict(Word.BETTER, -31.0, -35.0, -27.0)
SAME = verdict(Word.NO_DIFFERENCE_SHOWN, -1.0, -3.0, 1.0)
LEAD = "4 workers carry 334 to 363 hosts, 2 workers 196 to 213: 1.7 times as many (1.6 to 1.8)."


def at_each_load(text):
    """What is said of settings at each load: a detail, after the verdict."""
    assert text.sentence == LEAD
    (said,) = [
        each.text for each in text.statements if "over" in each.text and "loads" in each.text
    ]
    return said


def test_settings_are_compared_at_each_load_after_what_is_carried():
    assert at_each_load(at_loads(SAME, FASTER, FASTER)) == (
        "4 workers vs. 2 workers: faster, −20.1 % (−25.0 … −15.0 %), mean over 3 loads; at 5 "
        "hosts no difference shown (−1.0 %), at 15 hosts faster (−31.0 %), at 40 hosts faster (−31.0 %)."
    )


def test_rows_come_first_where_the_change_differs_by_load():
    text = at_loads(SAME, FASTER, differs_p=0.001, left_out=[{"hosts": 40}])

    assert at_each_load(text) == (
        "4 workers vs. 2 workers differs by load: at 5 hosts no difference shown (−1.0 %), at "
        "15 hosts faster (−31.0 %); mean over 2 loads, without 40 hosts, where too much failed: "
        "faster, −20.1 % (−25.0 … −15.0 %)."
    )
    assert text.facts[-1].note == "−25.0 … −15.0 %, mean over 2 loads, differs by load"


def test_a_primary_contrast_over_loads_is_named_once():
    text = at_loads(SAME, FASTER, FASTER, differs_p=0.001, named_before=True)

    assert text.sentence == LEAD
    said = [
        each.text
        for each in text.statements
        if "Workers 4" in each.text or "At 5 hosts no" in each.text
    ]
    assert said == [
        "Workers 4 is 20.1 % faster than 2 over 3 loads.",
        "At 5 hosts no difference shown (−1.0 %), at 15 hosts faster (−31.0 %), at 40 hosts faster (−31.0 %).",
    ]
    assert (
        text.caveat
        == "How the settings compare differs by load, so read each load before the mean."
    )


def test_loads_of_which_nothing_is_known_are_only_described():
    cells = [cell(1, 12.0, hosts=5), cell(2, 31.0, hosts=40)]

    text = answered(answer(*cells, loads=["hosts"]))

    assert text.sentence == "Duration by load: hosts 5: 12 s; hosts 40: 31 s."


@pytest.mark.parametrize(
    ("judged", "sentence"),
    [
        (
            verdict(Word.EQUIVALENT, 0.2, -1.0, 1.4),
            "2 generators and 1 generator measure the same, within 2 %.",
        ),
        (
            verdict(Word.WORSE, 5.0, 3.0, 7.0),
            "2 generators and 1 generator do not measure the same: +5.0 % (+3.0 … "
            "+7.0 %). Their results must not be mixed.",
        ),
        (
            verdict(Word.NOT_ENOUGH_DATA, 1.0, -9.0, 12.0, more=4),
            "That 2 generators and 1 generator measure the same is not shown.",
        ),
    ],
)
def test_instruments_should_measure_the_same(judged, sentence):
    group = level_group([1, 2], comparisons=[step(1, 2, judged)])
    levels = levels_of(group, factor="generators", instrument=True)
    cells = [cell(1, 10.0, generators=1), cell(2, 10.0, generators=2)]

    text = answered(answer(*cells, instruments=["generators"]), levels=levels)

    assert text.sentence == sentence


def test_metrics_are_written_inside_a_sentence():
    assert [
        metric_phrase(label)
        for label in (
            "Duration",
            "Time of a registration, mean",
            "Time of a registration, p95",
            "Latency, 95th percentile",
            "Registrations per second, middle 80 %",
        )
    ] == [
        "duration",
        "mean time of a registration",
        "p95 of the time of a registration",
        "p95 of the latency",
        "registrations per second, middle 80 %",
    ]


def test_the_best_setting_of_a_load_is_named_at_this_load():
    best = {"best": best_of([1, 2], 2, [30.0, 0.0], cost_pct=[28.0, 0.0])}
    groups = [
        level_group([2, 4], levels={"hosts": load}, cells=[1, 2], numeric=False, **best)
        for load in (5, 40)
    ]
    cells = [cell(1, 12.0, hosts=5, workers=2), cell(2, 9.0, hosts=5, workers=4)]

    text = answered(answer(*cells, loads=["hosts"]), levels=levels_of(*groups, loads=["hosts"]))

    assert text.statements[0].text == "At 5 hosts: workers 4 is the fastest; 2 is 28.0 % slower."


@pytest.mark.parametrize(
    ("word", "why"),
    [
        (Word.TOO_MANY_FAILURES, "too much failed"),
        (Word.NOT_ENOUGH_DATA, "no run of a setting counts"),
    ],
)
def test_why_a_mean_is_without_a_load_is_told(word, why):
    text = at_loads(FASTER, FASTER, verdict(word), left_out=[{"hosts": 40.0}])

    assert re.search(f"without 40 hosts, where {why}[:;]", at_each_load(text))


def test_loads_that_are_left_out_are_listed_with_one_name():
    several_loads = [{"hosts": 600}, {"hosts": 700}, {"hosts": 800}]

    assert all_loads(several_loads, ["hosts"]) == "600, 700 and 800 hosts"
    assert all_loads(several_loads[:1], ["hosts"]) == "600 hosts"
    assert all_loads([{"hosts": 800}, {"hosts": 1000}], ["hosts"]) == "800 and 1,000 hosts"
    assert (
        all_loads([{"rate": 1000, "hosts": 2000.0}], ["rate", "hosts"]) == "rate 1,000, 2,000 hosts"
    )


def test_steps_say_at_which_load_they_are():
    groups = [
        level_group(
            [2, 4],
            levels={"hosts": load, "path": "/a"},
            comparisons=[step(1, 2, verdict(Word.BETTER))],
        )
        for load in (5, 1000)
    ]

    cells = [cell(1, 12.0, hosts=5, workers=2), cell(2, 9.0, hosts=5, workers=4)]

    text = answered(answer(*cells, loads=["hosts"]), levels=levels_of(*groups, loads=["hosts"]))

    assert [each.text.partition(": ")[0] for each in text.statements] == [
        "At 5 hosts, path /a",
        "At 1,000 hosts, path /a",
    ]
    assert all_loads([{"hosts": 5, "rate": 2}], ["hosts", "rate"]) == "5 hosts, rate 2"


@pytest.mark.parametrize(("cut_short", "share"), [(0, "42 % fail"), (4, "at least 42 % fail")])
def test_that_a_load_fails_is_what_was_found_and_no_caveat(cut_short, share):
    carried = capacity(
        BETWEEN,
        40.0,
        None,
        50.0,
        condition(
            "failed_share",
            load_state(40.0, share=0.0, state=Held.HELD),
            load_state(50.0, share=0.42, state=Held.FAILED),
        ),
        loads=(40.0, 50.0),
        **LEVELS,
    )
    setting = carried_by(carried, (40.0, 50.0))
    failed = structs.replace(setting.cells[1], held=Held.FAILED, cut_short=cut_short)
    setting = structs.replace(setting, cells=[setting.cells[0], failed])
    cells = [cell(1, 10.0, 4), cell(2, None, 0, 4)]

    text = answered(
        answer(*cells, loads=["hosts"]), capacity=capacities(setting, conditions=[FAILURES])
    )

    assert text.sentence == "Carries at least 40 hosts, fewer than 50."
    assert [each.text for each in text.statements] == [
        "At most 5 % fail: 95 %, 6 runs.",
        f"At 50 hosts, {share}.",
    ]
    assert "no verdict" not in text.caveat
    assert "runs failed" not in text.caveat


@pytest.mark.parametrize(
    ("target", "sentence"),
    [
        ("Staging API", "Staging API carries 388 to 416 hosts."),
        ("", "Carries 388 to 416 hosts."),
        ("a name of " + "very " * 22 + "many words", "Carries 388 to 416 hosts."),
    ],
)
def test_the_target_is_the_subject_where_its_name_is_short(target, sentence):
    carried = capacity(BETWEEN, 388.4, 402.9, 415.2, RISING)

    assert one(carried, target=target).sentence == sentence
    undecided = capacity(CapacityWord.NOT_ENOUGH_DATA, None, None, None, reason="no_bound")
    assert one(undecided, target=target).sentence.startswith("What is carried is not shown")


def undecided(confirmation=None, **fields):
    carried = capacity(BETWEEN, 240.0, None, 960.0, RISING, advice=Advice(blocks=47))
    setting = structs.replace(carried_by(carried), confirmation=confirmation)
    return " ".join(
        each.text for each in CapacityAnswer(capacities(setting, **fields)).statements()
    )


def test_a_cancelled_campaign_says_so_and_advises_no_blocks():
    text = undecided(cancelled=True)

    assert "47" not in text
    assert text.endswith("The campaign was cancelled, so this rests on fewer runs than planned.")
    assert "47 more blocks would narrow it" in undecided()


@pytest.mark.parametrize(
    ("confirmation", "advice"),
    [
        (
            Confirmation("not_confirmed", "sessions_disagree", 2),
            "Both sessions disagree, so another session would decide; more blocks in these would not.",
        ),
        (
            Confirmation("not_confirmed", "not_enough_sessions", 3, between=True),
            "Another session would narrow it; more blocks in the same sessions would not.",
        ),
    ],
)
def test_where_sessions_differ_another_one_is_advised(confirmation, advice):
    text = undecided(confirmation)

    assert advice in text
    assert "47" not in text


def test_a_value_at_the_limit_is_not_above_it_by_how_it_was_computed():
    assert beside_limit(100.00000000000001, 100.0, "%") == "100 %"
    assert beside_limit(100.00001, 100.0, "%") == "just above 100 %"


@pytest.mark.parametrize(
    ("levels", "text"),
    [
        ({"timeout_seconds": 30}, "timeout in seconds 30"),
        ({"memory_gib": 8, "cpus": 4}, "memory in GiB 8, 4 CPUs"),
        ({"requests in flight": 10}, "10 requests in flight"),
        ({"puma_workers": 1}, "1 puma worker"),
    ],
)
def test_a_setting_is_called_as_in_the_form(levels, text):
    assert setting_name(levels) == text


def test_a_name_with_its_unit_has_a_plural():
    assert plural("timeout in seconds") == "timeouts in seconds"
