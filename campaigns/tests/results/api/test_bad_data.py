"""What is said of bad data that is submitted: each sentence is to be read alone, by somebody who has not seen the data."""

import numpy as np
import pytest

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.tests.results.api.documents import made

pytestmark = pytest.mark.django_db


def about(mean, n=6, sd=0.01, seed=1):
    """Values around a mean, to four digits."""
    values = mean * np.exp(np.random.default_rng(seed).normal(0, sd, n))
    return [float(f"{value:.4g}") for value in values]


def levels(values, factor="workers", unit="s", *, lower=True, metric="duration", **campaign):
    """Runs by level, one of each in a block."""
    return {
        "campaign": {"question": "Which one?", "order": "interleaved", **campaign},
        "metrics": {metric: {"unit": unit, "lower_is_better": lower}},
        "runs": [
            {"tags": {factor: level}, "block": block, **_run(metric, value)}
            for level, own in values.items()
            for block, value in enumerate(own, 1)
        ],
    }


def pairs(old, new, **fields):
    """Runs of two builds, in pairs."""
    return levels(
        {"old": old, "new": new},
        "build",
        order="paired",
        paired_factor="build",
        baseline="old",
        **fields,
    )


def _run(metric, value):
    if value == "lost":
        return {"values": {metric: None}}
    if value == "failed":
        return {"state": "failed", "reason": "exit status 1"}
    return {"values": {metric: value}}


def in_sessions(document, changes):
    """The same blocks on as many days as there are changes; on each the second level differs by its own one."""
    second = document["runs"][-1]["tags"]
    return {
        **document,
        "runs": [
            {
                "tags": run["tags"],
                "values": {
                    name: value * (change if run["tags"] == second else 1)
                    for name, value in run["values"].items()
                },
                "block": run["block"] + 10 * day,
                "started_at": f"2026-05-{day:02}T10:{run['block']:02}:00Z",
                "finished_at": f"2026-05-{day:02}T10:{run['block']:02}:10Z",
            }
            for day, change in enumerate(changes, 4)
            for run in document["runs"]
        ],
    }


def strata(changes, values):
    return {
        "campaign": {
            "question": "Which one?",
            "order": "paired",
            "paired_factor": "build",
            "baseline": "old",
            "work": ["size"],
        },
        "metrics": {"duration": {"unit": "s", "lower_is_better": True}},
        "runs": [
            {
                "tags": {"build": build, "size": size},
                "values": {"duration": value * (change if build == "new" else 1)},
                "block": 10 * place + block,
            }
            for place, (size, change) in enumerate(changes.items())
            for block, both in enumerate(values, 1)
            for build, value in zip(("old", "new"), both, strict=True)
        ],
    }


TWO = {2: about(20.0), 4: about(10.0, seed=2)}
NEAR = [*zip(about(10.0, seed=3), about(10.0, seed=4), strict=True)]

DOCUMENTS = {
    "pairs: zeros": pairs([0.0] * 6, about(10.0)),
    "pairs: negative": pairs([-1.0, *about(10.0, 5)], about(9.0)),
    "pairs: one value": pairs([10.0], [9.0]),
    "pairs: all equal": pairs([10.0] * 6, [10.0] * 6),
    "pairs: each side equal": pairs([10.0] * 6, [9.0] * 6),
    "pairs: two clusters": pairs(
        [10.0, 20.1, 10.1, 20.0, 10.2, 19.9], [20.2, 10.0, 20.1, 10.2, 19.9, 10.1]
    ),
    "pairs: tiny against huge": pairs(about(1e-9), about(1e9, seed=2)),
    "pairs: huge against tiny": pairs(about(1e12), about(1.0, seed=2)),
    "pairs: near 100 %": pairs(
        [99.991, 99.989, 99.99, 99.992, 99.988, 99.99],
        [99.90, 99.901, 99.899, 99.902, 99.90, 99.898],
        unit="%",
        lower=False,
        metric="availability",
    ),
    "pairs: counts": pairs(
        [3, 4, 3, 5, 4, 3], [30, 33, 31, 29, 32, 30], unit="count", metric="errors"
    ),
    "pairs: higher is better": pairs(
        about(10.0), about(14.0, seed=2), unit="1/s", lower=False, metric="throughput"
    ),
    "pairs: milliseconds": pairs(about(0.002), about(0.0018, seed=2)),
    "pairs: one lost of three": pairs(about(10.0, 3), ["lost", *about(8.0, 2, seed=2)]),
    "pairs: one failed of three": pairs(about(10.0, 3), ["failed", *about(8.0, 2, seed=2)]),
    "pairs: one failed of twelve": pairs(about(10.0, 12), ["failed", *about(8.0, 11, seed=2)]),
    "pairs: sessions that contradict": in_sessions(
        pairs(about(10.0), about(10.0, seed=2)), (0.8, 1.25)
    ),
    "pairs: three sessions that contradict": in_sessions(
        pairs(about(10.0), about(10.0, seed=2)), (0.8, 1.25, 1.0)
    ),
    "pairs: strata that contradict": strata({"small": 0.8, "large": 1.25}, NEAR),
    "levels: zeros": levels({2: [0.0] * 6, 4: about(10.0)}),
    "levels: negative": levels({2: [-1.0, *about(20.0, 5)], 4: about(10.0), 8: about(9.0, seed=3)}),
    "levels: one value": levels({2: [20.0], 4: [10.0]}),
    "levels: all equal": levels({2: [10.0] * 6, 4: [10.0] * 6}),
    "levels: each equal": levels({2: [20.0] * 6, 4: [10.0] * 6}),
    "levels: two clusters": levels(
        {2: [10.0, 20.1, 10.1, 20.0, 10.2, 19.9], 4: [20.2, 10.0, 20.1, 10.2, 19.9, 10.1]}
    ),
    "levels: tiny to huge": levels({1: about(1e-9), 2: about(1.0, seed=2), 3: about(1e9, seed=3)}),
    "levels: near 100 %": levels(
        {
            2: [99.991, 99.989, 99.99, 99.992, 99.988, 99.99],
            4: [99.90, 99.901, 99.899, 99.902, 99.90, 99.898],
        },
        unit="%",
        lower=False,
        metric="availability",
    ),
    "levels: counts": levels(
        {2: [3, 4, 3, 5, 4, 3], 4: [30, 33, 31, 29, 32, 30]}, unit="count", metric="errors"
    ),
    "levels: higher is better": levels(
        {2: about(100.0), 4: about(1100.0, seed=2)}, unit="1/s", lower=False, metric="throughput"
    ),
    "levels: level after level, no times": levels(TWO, order="blocked"),
    "levels: milliseconds": levels({2: about(0.002), 4: about(0.001, seed=2)}),
    "levels: 30 of them": levels(
        {level: about(100.0 / level, seed=level) for level in range(1, 31)}
    ),
    "levels: numbers as names": levels(
        {"10": about(20.0), "9": about(10.0, seed=2), "8": about(15.0, seed=3)}, "version"
    ),
    "levels: one lost of three": levels({2: about(20.0, 3), 4: ["lost", *about(10.0, 2, seed=2)]}),
    "levels: one failed of three": levels(
        {2: about(20.0, 3), 4: ["failed", *about(10.0, 2, seed=2)], 8: about(15.0, 3, seed=3)}
    ),
    "levels: sessions that contradict": in_sessions(
        levels({2: about(10.0), 4: about(10.0, seed=2)}), (0.8, 1.25)
    ),
    "levels: hosts without a role": levels({5: about(12.0), 15: about(18.0, seed=2)}, "hosts"),
}


SENTENCES = {
    "pairs: zeros": (
        "new vs. old: invalid values. A value is zero or below, or no number: it has no ratio to another "
        "one."
    ),
    "pairs: negative": (
        "new vs. old: invalid values. A value is zero or below, or no number: it has no ratio to another "
        "one."
    ),
    "pairs: one value": ("new vs. old: not enough data. Run 2 pairs more at least."),
    "pairs: all equal": (
        "new vs. old: not enough data. All values are equal, so how much they vary is unknown: measure "
        "more finely."
    ),
    "pairs: each side equal": (
        "new vs. old: not enough data. All values are equal, so how much they vary is unknown: measure "
        "more finely."
    ),
    "pairs: two clusters": (
        "new vs. old: not enough data. It would take about 1,853 pairs more to detect 5 %: make runs vary "
        "less, or ask for a larger change."
    ),
    "pairs: tiny against huge": ("new is slower than old: over a billion times as long."),
    "pairs: huge against tiny": ("new is faster than old: over a billion times as fast."),
    "pairs: near 100 %": (
        "new is lower than old: −0.09 points (−0.092 … −0.088 points), 10 times the failures."
    ),
    "pairs: counts": ("new has more failures than old: 8.6 times the failures (6.8 … 11 times)."),
    "pairs: higher is better": ("new has higher throughput than old: +39.6 % (+38.2 … +41.0 %)."),
    "pairs: milliseconds": ("new is faster than old: −10.3 % (−11.1 … −9.4 %)."),
    "pairs: one lost of three": (
        "new vs. old: not enough data. Too many runs have no value; see why before running more."
    ),
    "pairs: one failed of three": (
        "new vs. old: too many failures. Build new: fails too often (1 of 3 runs failed)."
    ),
    "pairs: one failed of twelve": (
        "new vs. old: too many failures. Build new: fails too often (1 of 12 runs failed)."
    ),
    "pairs: sessions that contradict": (
        "new vs. old: not enough data. The sessions contradict each other: run another one, to judge by "
        "all of them. First session −20.2 %, second +24.7 %."
    ),
    "pairs: three sessions that contradict": (
        "new vs. old: not enough data. It would take about 164 sessions more to detect 5 %: make runs "
        "vary less, or ask for a larger change. Between 3 sessions: −0.3 % (−42.7 … +73.6 %)."
    ),
    "pairs: strata that contradict": (
        "new vs. old: +0.2 % (0.059 … 17 times), geometric mean over 2; faster on 1 of 2 (−19.8 %), "
        "slower on 1 of 2 (+25.3 %)."
    ),
    "levels: zeros": ("Duration is 10 s on average at workers 4."),
    "levels: negative": (
        "No setting is called the fastest: workers 2 cannot be judged (a value is zero or below)."
    ),
    "levels: one value": (
        "No setting is ranked: 2 of 2 settings have fewer than 3 runs. Duration is 10 s to 20 s."
    ),
    "levels: all equal": ("No setting is shown to be the fastest."),
    "levels: each equal": ("No setting is shown to be the fastest."),
    "levels: two clusters": ("No setting is shown to be the fastest."),
    "levels: tiny to huge": (
        "Workers 1 is the fastest; 2 takes 997,000,000 times as long, 3 takes over a billion times as "
        "long."
    ),
    "levels: near 100 %": ("Workers 2 is the best; 4 is 0.09 points lower."),
    "levels: counts": ("Workers 2 is the best; 4 has 8.6 times the failures."),
    "levels: higher is better": ("Workers 4 is the best; 2 is lower by a factor of 11."),
    "levels: level after level, no times": (
        "Workers 4 is the fastest, if nothing else changed meanwhile; 2 takes 2 times as long."
    ),
    "levels: milliseconds": ("Workers 4 is the fastest; 2 takes 2 times as long."),
    "levels: 30 of them": (
        "Workers 30 is the fastest; 29 is 2.76 % slower, 1 takes 30 times as long."
    ),
    "levels: numbers as names": (
        "Version 9 is the fastest; 8 is 49.7 % slower, 10 takes 2 times as long."
    ),
    "levels: one lost of three": (
        "No setting is ranked: 1 of 2 settings has fewer than 3 runs. Duration is 9.98 s to 20.1 s on "
        "average."
    ),
    "levels: one failed of three": (
        "Of those that pass, workers 8 is the fastest; 2 is 34.1 % slower. Workers 4: fails too often (1 "
        "of 3 runs failed)."
    ),
    "levels: sessions that contradict": (
        "No setting is shown to be the fastest. First session −20.2 %, second +24.7 %."
    ),
    "levels: hosts without a role": (
        "Is “hosts” a load? Its role is not stated, so its levels are not ranked. Duration by hosts: "
        "hosts 5: 12 s; hosts 15: 18 s."
    ),
}


def test_each_has_its_sentence():
    assert [*SENTENCES] == [*DOCUMENTS]


@pytest.mark.parametrize("name", SENTENCES)
def test_what_is_said_of_it(send, name):
    campaign = made(send(DOCUMENTS[name]))
    compute.analyse(campaign)

    assert answers_of([campaign.pk])[campaign.pk].sentence == SENTENCES[name]
