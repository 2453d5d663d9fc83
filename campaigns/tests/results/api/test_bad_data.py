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
        "new and old are not compared: a value is zero, negative or no number.",
        "6 pairs, one session.",
    ),
    "pairs: negative": (
        "new and old are not compared: a value is zero, negative or no number.",
        "6 pairs, one session.",
    ),
    "pairs: one value": (
        "No difference is shown between new and old: not enough data.",
        "1 pair, one session. Run 2 pairs more at least.",
    ),
    "pairs: all equal": (
        "No difference is shown between new and old: not enough data.",
        "0.0 % (95 %), 6 pairs, one session. All values are equal, so how much they vary is unknown: measure more finely.",
    ),
    "pairs: each side equal": (
        "No difference is shown between new and old: not enough data.",
        "−10.0 % (95 %), 6 pairs, one session. All values are equal, so how much they vary is unknown: measure more finely.",
    ),
    "pairs: two clusters": (
        "No difference is shown between new and old: not enough data.",
        "It would take about 1,853 pairs more to detect 5 %: reduce the noise, or accept a larger smallest effect.",
    ),
    "pairs: tiny against huge": (
        "new takes over a billion times as long as old.",
        "Over a billion times (95 %), 6 pairs, one session.",
    ),
    "pairs: huge against tiny": (
        "new is over a billion times as fast as old.",
        "Over a billion times (95 %), 6 pairs, one session.",
    ),
    "pairs: near 100 %": (
        "new is 0.09 points lower than old, 10 times the failures.",
        "0.088 to 0.092 points (95 %), 6 pairs, one session.",
    ),
    "pairs: counts": (
        "new has 8.6 times the failures of old.",
        "6.8 to 11 times (95 %), 6 pairs, one session.",
    ),
    "pairs: higher is better": (
        "new has 39.6 % higher throughput than old.",
        "38.2 to 41.0 % (95 %), 6 pairs, one session.",
    ),
    "pairs: milliseconds": (
        "new is 10.3 % faster than old.",
        "9.4 to 11.1 % (95 %), 6 pairs, one session.",
    ),
    "pairs: one lost of three": (
        "No difference is shown between new and old: not enough data.",
        "−21.7 to −19.5 % (95 %), 2 pairs, one session. Too many runs have no value; see why before running more.",
    ),
    "pairs: one failed of three": (
        "new and old are not compared: too many failures.",
        "2 pairs, one session.",
    ),
    "pairs: one failed of twelve": (
        "new and old are not compared: too many failures.",
        "11 pairs, one session.",
    ),
    "pairs: sessions that contradict": (
        "No difference is shown between new and old: not enough data.",
        "−14.0 to +15.7 % (95 %), 12 pairs, 2 sessions. The sessions contradict each other: run another one, to judge by all of them.",
    ),
    "pairs: three sessions that contradict": (
        "No difference is shown between new and old: not enough data.",
        "It would take about 164 sessions more to detect 5 %: reduce the noise, or accept a larger smallest effect.",
    ),
    "pairs: strata that contradict": (
        "new vs. old, 2 sizes: faster on 1, slower on 1.",
        "Geometric mean +0.2 % (0.059 … 17 times); 12 pairs of 2 sizes, one session.",
    ),
    "levels: zeros": (
        "Duration is 10 s on average at workers 4; workers 2 has a value of zero or below.",
        "9.94 s to 10.1 s (95 %), 6 runs.",
    ),
    "levels: negative": (
        "No setting is called the fastest: workers 2 cannot be judged (a value is zero or below).",
        "Each step is shown but 2 → 4; 18 runs, one session.",
    ),
    "levels: one value": (
        "No setting is ranked: 2 of 2 settings have fewer than 3 runs.",
        "Duration is 10 s to 20 s, 2 runs.",
    ),
    "levels: all equal": (
        "No difference is shown between workers 4 and 2: not enough data.",
        "0.0 % (95 %), 12 runs, one session. All values are equal, so how much they vary is unknown: measure more finely.",
    ),
    "levels: each equal": (
        "No difference is shown between workers 4 and 2: not enough data.",
        "−50.0 % (95 %), 12 runs, one session. All values are equal, so how much they vary is unknown: measure more finely.",
    ),
    "levels: two clusters": (
        "No difference is shown between workers 4 and 2: not enough data.",
        "It would take about 1,853 blocks more to detect 5 %: reduce the noise, or accept a larger smallest effect.",
    ),
    "levels: tiny to huge": (
        "Workers 1 is the fastest; 2 takes 997,000,000 times as long, 3 takes over a billion times as long.",
        "Each step is shown; 18 runs, one session.",
    ),
    "levels: near 100 %": (
        "Workers 4 is 0.09 points lower than 2, 10 times the failures.",
        "0.088 to 0.092 points (95 %), 12 runs, one session.",
    ),
    "levels: counts": (
        "Workers 4 has 8.6 times the failures of 2.",
        "6.8 to 11 times (95 %), 12 runs, one session.",
    ),
    "levels: higher is better": (
        "Workers 4 has 11 times the throughput of 2.",
        "10.9 to 11.1 times (95 %), 12 runs, one session.",
    ),
    "levels: level after level, no times": (
        "Workers 4 is 50.1 % faster than 2, if nothing else changed meanwhile.",
        "49.3 to 50.9 % (95 %), 12 runs, level after level.",
    ),
    "levels: milliseconds": (
        "Workers 4 is 50.1 % faster than 2.",
        "49.6 to 50.6 % (95 %), 12 runs, one session.",
    ),
    "levels: 30 of them": (
        "Workers 30 is the fastest; 29 is 2.8 % slower, 1 takes 30 times as long.",
        "Each step is shown; 180 runs, one session.",
    ),
    "levels: numbers as names": (
        "Version 9 is the fastest; 8 is 49.7 % slower, 10 takes 2 times as long.",
        "Each comparison is shown; 18 runs, one session.",
    ),
    "levels: one lost of three": (
        "No setting is ranked: 1 of 2 settings has fewer than 3 runs.",
        "Duration is 9.98 s to 20.1 s on average, 5 runs.",
    ),
    "levels: one failed of three": (
        "Of those that pass, workers 8 is the fastest; 2 is 34.1 % slower, 4 fails too often.",
        "Each other one that passes is slower (95 %); 8 runs, one session.",
    ),
    "levels: sessions that contradict": (
        "No difference is shown between workers 4 and 2: not enough data.",
        "−14.0 to +15.7 % (95 %), 24 runs, 2 sessions. The sessions contradict each other: run another one, to judge by all of them.",
    ),
    "levels: hosts without a role": (
        "Is “hosts” a load? Its role is not stated, so its levels are not ranked.",
        "Amend the campaign to state it: a load is carried, a setting is ranked.",
    ),
}


def test_each_has_its_sentence():
    assert [*SENTENCES] == [*DOCUMENTS]


@pytest.mark.parametrize("name", SENTENCES)
def test_what_is_said_of_it(send, name):
    campaign = made(send(DOCUMENTS[name]))
    compute.analyse(campaign)

    answer = answers_of([campaign.pk])[campaign.pk]
    assert (answer.sentence, answer.certainty) == SENTENCES[name]
