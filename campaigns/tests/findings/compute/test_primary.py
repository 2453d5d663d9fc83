"""What the analysis makes of the primary contrast of a campaign."""

import math
import re

import numpy as np
import pytest

from campaigns.planning import checking, drafts, lifecycle
from campaigns.stats.stopping import half_width
from campaigns.stats.verdict import Contrast
from campaigns.tests.findings.compute.conftest import findings, store

pytestmark = pytest.mark.django_db


NEARLY_EQUAL = {2: 10.0, 4: 9.61, 8: 9.8, 16: 9.8}


def make(target, contrast, seconds=None, **changes):
    data = {
        "question": "How many connections?",
        "kind": "downloader",
        "target": target.pk,
        "factors": {"concurrency": [2, 4, 8], "engine": ["futures", "asyncio"]},
        "repetitions": 8,
        "seed": 1,
        "primary_contrast": contrast,
    }
    campaign = lifecycle.launch(drafts.create(checking.check(data | changes), None), None)
    rng = np.random.default_rng(3)

    def value_of(run):
        levels = run.cell.levels_by_factor
        if seconds:
            return seconds[levels["concurrency"]] * math.exp(rng.normal(0, 0.012))
        speed = 2.0 if levels.get("engine") == "asyncio" else 1.0
        noise = 0.05 if levels.get("concurrency") == 8 else 0.01
        return float(80 / levels.get("concurrency", 4) / speed * math.exp(rng.normal(0, noise)))

    store(campaign, value_of)
    return campaign


def rows(levels):
    return [row for group in levels["groups"] for row in group["comparisons"]]


def test_a_neighbour_that_is_named_is_one_test_and_changes_no_other(target):
    named = {"factor": "concurrency", "candidate": 4, "baseline": 2, "at": {"engine": "asyncio"}}
    plain = findings(make(target, None))["levels"]

    found = findings(make(target, named))["levels"]

    assert plain["primary"] is None
    others, before = ([row["comparison"] for row in rows(each)] for each in (found, plain))
    named_row = others.pop(2)["verdict"]
    assert named_row["p_adjusted"] == named_row["p"] < before.pop(2)["verdict"]["p_adjusted"]
    assert others == before
    primary = found["primary"]
    assert (primary["candidate"], primary["baseline"], primary["over"]) == (4, 2, 1)
    assert primary["comparison"].items() <= rows(found)[2]["comparison"].items()
    assert primary["standing"] == rows(found)[2]["standing"]


def test_the_other_way_round_is_the_same_p_with_the_other_sign(target):
    named = {"factor": "concurrency", "candidate": 2, "baseline": 4, "at": {"engine": "asyncio"}}

    found = findings(make(target, named))["levels"]

    primary, row = (
        found["primary"]["comparison"]["verdict"],
        rows(found)[2]["comparison"]["verdict"],
    )
    assert primary["p_adjusted"] == pytest.approx(row["p_adjusted"])
    assert primary["ratio"] == pytest.approx(1 / row["ratio"])
    assert (primary["word"], row["word"]) == ("worse", "better")


def test_one_that_is_no_neighbour_joins_the_family(target):
    named = {"factor": "concurrency", "candidate": 8, "baseline": 2, "at": {"engine": "futures"}}
    plain = findings(make(target, None))["levels"]

    found = findings(make(target, named))["levels"]

    assert len(rows(found)) == len(rows(plain)) == 4
    verdict = found["primary"]["comparison"]["verdict"]
    assert verdict["pct_change"] == pytest.approx(-75, abs=3)
    before = max(row["comparison"]["verdict"]["p_adjusted"] for row in rows(plain))
    after = max(row["comparison"]["verdict"]["p_adjusted"] for row in rows(found))
    assert after >= before


def test_over_all_combinations_it_is_the_mean_change(target):
    named = {"factor": "engine", "candidate": "asyncio", "baseline": "futures"}
    found = findings(
        make(target, named, factors={"concurrency": [2, 4], "engine": ["futures", "asyncio"]})
    )

    primary = found["levels"]["primary"]

    assert primary["over"] == 2
    verdict = primary["comparison"]["verdict"]
    assert verdict["word"] == "better"
    logs = {}
    for run in found["cells"]["cells"]:
        logs[run["levels"]["concurrency"], run["levels"]["engine"]] = math.log(
            run["summary"]["gmean"]
        )
    by_hand = np.mean([logs[level, "asyncio"] - logs[level, "futures"] for level in (2, 4)])
    assert verdict["pct_change"] == pytest.approx(100 * math.expm1(by_hand))
    noise = math.log1p(found["levels"]["noise"]["sd_pct"] / 100)
    assert primary["comparison"]["standard_error"] == pytest.approx(noise * math.sqrt(2 / 2 / 8))
    assert primary["comparison"]["df"] == 3 * 7
    assert primary["at"] == {}


def test_the_answer_begins_with_it(target):
    named = {"factor": "engine", "candidate": "asyncio", "baseline": "futures"}

    answer = findings(make(target, named))["answer"]

    assert re.fullmatch(
        r"Engine asyncio is \d\S* % faster than futures over 3 combinations\.", answer["sentence"]
    )
    assert any("is the fastest" in each["text"] for each in answer["statements"])
    assert answer["badges"][0]["word"] == "primary contrast: faster"
    assert answer["tone"] == "better"
    assert answer["facts"][0]["label"] == "engine asyncio vs. futures"


def test_a_stop_by_precision_waits_for_it_alone(target):
    rule = {"stop_rule": "precision", "stop_width_percent": 3}
    noisy = findings(make(target, None, **rule))["outlook"]
    named = {"factor": "concurrency", "candidate": 4, "baseline": 2, "at": {"engine": "asyncio"}}

    found = findings(make(target, named, **rule))

    comparison = found["levels"]["primary"]["comparison"]
    contrast = Contrast(
        math.log(comparison["verdict"]["ratio"]), comparison["standard_error"], comparison["df"], 8
    )
    assert found["outlook"]["primary"]
    assert not noisy["primary"]
    assert found["outlook"]["half_width_pct"] == pytest.approx(100 * half_width(contrast, 0.05))
    assert found["outlook"]["half_width_pct"] < noisy["half_width_pct"]


def test_one_that_is_not_known_yet_lets_it_go_on(target):
    named = {"factor": "concurrency", "candidate": 4, "baseline": 2, "at": {"engine": "asyncio"}}
    campaign = make(target, named, stop_rule="precision", stop_width_percent=50)
    campaign.runs.filter(cell__levels_by_factor={"concurrency": 4, "engine": "asyncio"}).update(
        state="failed"
    )

    found = findings(campaign)

    assert found["outlook"]["half_width_pct"] is None
    assert found["outlook"]["stop"] == ""
    assert found["levels"]["primary"]["comparison"]["verdict"]["word"] == "too_many_failures"
    assert (
        found["answer"]["sentence"]
        == "Concurrency 4 and 2 are not compared: too many failures at engine asyncio."
    )


def paired(target, at, **changes):
    return make(
        target,
        {"factor": "engine", "at": at},
        order="paired",
        paired_factor="engine",
        baseline="futures",
        **changes,
    )


def test_of_pairs_it_is_a_stratum_or_the_mean_of_all(target):
    one = findings(paired(target, {"concurrency": 4}))["pairs"]
    everywhere = findings(paired(target, {}))["pairs"]

    assert one["primary"]["comparison"]["verdict"] == one["strata"][1]["comparison"]["verdict"]
    assert everywhere["primary"]["over"] == 3
    verdict = everywhere["primary"]["comparison"]["verdict"]
    assert verdict["pct_change"] == pytest.approx(everywhere["overall"]["geometric_pct"])
    assert verdict["word"] == "better"


def test_a_stop_of_pairs_waits_for_the_stratum_that_is_named(target):
    rule = {"stop_rule": "precision"}
    found = findings(paired(target, {"concurrency": 4}, **rule))

    stratum = found["pairs"]["strata"][1]["comparison"]
    contrast = Contrast(0, stratum["sd_log"] / math.sqrt(8), 7, 8)
    assert found["outlook"]["half_width_pct"] == pytest.approx(100 * half_width(contrast, 0.035))


def test_the_pair_of_the_primary_contrast_has_one_word_everywhere(target):
    """One test shows what the family of all pairs does not: then nothing says that the worse side may be the best."""
    values = {"factors": {"concurrency": [2, 4, 8, 16]}, "repetitions": 4, "seconds": NEARLY_EQUAL}
    plain = findings(make(target, None, **values))["levels"]
    found = findings(
        make(target, {"factor": "concurrency", "candidate": 4, "baseline": 2, "at": {}}, **values)
    )["levels"]

    step = rows(found)[0]
    cells = {step["baseline"], step["candidate"]}
    (pair,) = (each for each in found["pairs"] if {each["baseline"], each["candidate"]} == cells)
    assert plain["pairs"][0]["word"] != "better"
    assert found["primary"]["comparison"]["verdict"]["word"] == "better"
    assert step["comparison"]["verdict"]["word"] == pair["word"] == "better"
    assert step["baseline"] not in found["groups"][0]["best"]["possibly"]
