"""Answers from data in which runs timed out, were not observed, or are missing."""

from dataclasses import asdict

import numpy as np
import pytest

from campaigns.findings import compute
from campaigns.findings.answers import answers_of
from campaigns.findings.compared import sides_of
from campaigns.findings.compute.compared import compare_campaigns
from campaigns.findings.recommended import favoured_by
from campaigns.findings.store import findings_of
from campaigns.findings.wording.compare import answer_of
from campaigns.models import Campaign, Run
from campaigns.results.importing.document import read_submission
from campaigns.results.importing.files import About, import_file
from campaigns.results.importing.receiving import create
from campaigns.tests.findings.spoken import caveats_of, details_of
from campaigns.tests.results.readers.files import DATA

pytestmark = pytest.mark.django_db
ABOVE_60 = {"value": 60, "censored": True}
NUMBERS = ("pct_change", "ci_pct", "ci90_pct", "ratio", "p")


def received(*cases, **definition):
    """Store (tags, values) as a submission, each value a run in the next block, and analyse it."""
    runs = []
    for tags, values in cases:
        for block, value in enumerate(values, 1):
            run = {"tags": tags, "values": {"duration": value}, "block": block}
            if isinstance(value, dict):
                run |= {"state": "failed", "reason": "killed after 60 s"}
            runs.append(run)
    document = {
        "campaign": {"question": "Which w?", "order": "interleaved", **definition},
        "metrics": {"duration": {"unit": "s", "lower_is_better": True}},
        "runs": runs,
    }
    campaign = create(read_submission(document), None).campaign
    compute.analyse(campaign)
    return campaign


def found_in(campaign):
    stored = {finding.name: finding.result for finding in campaign.findings.all()}
    return {**stored, "answer": asdict(answers_of([campaign.pk])[campaign.pk])}


def about(mean, n=8, sd=0.02, seed=1):
    return (mean * np.exp(np.random.default_rng(seed).normal(0, sd, n))).tolist()


def test_runs_that_timed_out_are_in_the_sentence_and_make_no_mean():
    values = [*about(30.2, 5), ABOVE_60, ABOVE_60, ABOVE_60]

    found = found_in(received(({"w": 5}, about(50.0, seed=2)), ({"w": 10}, values)))

    answer = found["answer"]
    assert "w 10 timed out" in answer["sentence"]
    assert "W 10: at least 39.2 s (3 of 8 runs timed out at 60 s)." in details_of(answer)
    assert "fastest" not in answer["sentence"]
    assert "30.2 s" not in str(answer)
    assert answer["caveat"].startswith("3 of 16 runs timed out")
    cell = found["cells"]["cells"][1]
    assert (cell["summary"]["mean"], cell["summary"]["gmean"]) == (None, None)
    assert cell["counts"]["at_least"] == pytest.approx(39.1, abs=0.1)
    assert "within_blocks" not in found or not found["within_blocks"]["comparisons"]


def test_a_setting_that_may_be_faster_than_the_best_ranked_one_is_told():
    slow, odd = about(50.0, seed=2), [*about(5.0, 5, seed=3), ABOVE_60, ABOVE_60, ABOVE_60]

    found = found_in(received(({"w": 2}, slow), ({"w": 5}, about(45.0)), ({"w": 10}, odd)))

    sentence = found["answer"]["sentence"]
    assert sentence == "Of those that pass, w 5 is the fastest; 2 is 10.7 % slower, 10 timed out."
    told = "W 10: at least 12.7 s (3 of 8 runs timed out at 60 s)."
    assert told in details_of(found["answer"])


def test_one_timeout_of_eight_leaves_no_contrast_of_the_survivors():
    slow, fast = about(30.0), [*about(20.0, 7, seed=2), ABOVE_60]

    found = found_in(received(({"w": "old"}, slow), ({"w": "new"}, fast)))

    (row,) = found["levels"]["groups"][0]["comparisons"]
    verdict = row["comparison"]["verdict"]
    assert (verdict["word"], verdict["reason"]) == ("too_many_failures", "timed_out")
    assert [verdict[name] for name in NUMBERS] == [None] * len(NUMBERS)
    assert "faster" not in str(found["answer"])
    assert "w new timed out" in found["answer"]["sentence"]
    assert "at least 22.9 s (1 of 8 runs timed out at 60 s)" in details_of(found["answer"])


def test_a_pair_that_timed_out_leaves_no_change_of_the_other_pairs():
    slow, fast = about(30.0), [*about(20.0, 7, seed=2), ABOVE_60]

    found = found_in(
        received(
            ({"w": "old"}, slow),
            ({"w": "new"}, fast),
            order="paired",
            paired_factor="w",
            baseline="old",
        )
    )

    (stratum,) = found["pairs"]["strata"]
    verdict = stratum["comparison"]["verdict"]
    assert (verdict["word"], verdict["reason"]) == ("too_many_failures", "timed_out")
    assert stratum["comparison"]["pct_change_of_means"] is None
    assert "faster" not in found["answer"]["sentence"]
    told = "W new: at least 22.9 s (1 of 8 runs timed out at 60 s)."
    assert told in details_of(found["answer"])


def test_campaigns_are_not_compared_by_the_runs_that_did_not_time_out():
    old = received(({"w": 5}, about(30.0)))
    new = received(({"w": 5}, [*about(20.0, 7, seed=2), ABOVE_60]))

    sides = sides_of([old.pk, new.pk], {old.team_id, new.team_id})
    answer = answer_of(compare_campaigns(sides))

    assert "too many failures" in answer.sentence
    assert "at least 22.9 s (1 of 8 runs timed out at 60 s)" in details_of(answer)
    assert "faster" not in str(answer)
    assert not answer.facts


def test_where_every_run_timed_out_the_limit_is_the_answer():
    found = found_in(received(({"w": 5}, [ABOVE_60] * 3), ({"w": 10}, [ABOVE_60] * 3)))

    sentence = found["answer"]["sentence"]
    assert sentence == "No run came through: 6 timed out."
    assert "W 5: at least 60 s (3 of 3 runs timed out at 60 s)" in details_of(found["answer"])


def test_a_lower_limit_is_no_value_even_of_a_run_that_is_not_called_failed():
    document = {
        "campaign": {"question": "Which w?"},
        "metrics": {"duration": {"unit": "s", "lower_is_better": True}},
        "runs": [
            {"tags": {"w": w}, "values": {"duration": [30, 31, 29, limit]}}
            for w, limit in ((5, 30), (10, ABOVE_60))
        ],
    }
    campaign = create(read_submission(document), None).campaign
    compute.analyse(campaign)

    cells = found_in(campaign)["cells"]["cells"]

    assert [cell["summary"]["n_censored"] for cell in cells] == [0, 1]
    assert cells[1]["summary"]["gmean"] is None


@pytest.mark.parametrize("values", [{"duration": None}, {"duration": [None, None]}])
def test_null_is_a_lost_run_that_has_neither_failed_nor_succeeded(values):
    document = {
        "campaign": {"question": "Which w?"},
        "metrics": {"duration": {"unit": "s", "lower_is_better": True}},
        "runs": [
            {"tags": {"w": 5}, "values": {"duration": [30, 31, 29]}},
            {"tags": {"w": 10}, "values": values},
        ],
    }
    campaign = create(read_submission(document), None).campaign
    compute.analyse(campaign)

    found = found_in(campaign)
    one, other = found["cells"]["cells"]
    count = 1 if values["duration"] is None else 2
    stored = campaign.runs.filter(cell=other["cell"])
    assert set(stored.values_list("state", "reason")) == {(Run.State.VOID, "not observed")}
    assert (other["summary"]["n_failed"], other["summary"]["n_lost"]) == (0, count)
    assert "failed" not in found["answer"]["sentence"]
    assert one["summary"]["n_ok"] == 3


def test_a_metric_that_one_run_lacks_is_lost_there():
    document = {
        "campaign": {"question": "Which w?", "primary_metric": "duration"},
        "metrics": {name: {"unit": "s", "lower_is_better": True} for name in ("duration", "wait")},
        "runs": [{"values": {"duration": [30, None, 29, 31], "wait": [1, 2, 3, 4]}}],
    }
    campaign = create(read_submission(document), None).campaign
    compute.analyse(campaign)

    summary = found_in(campaign)["cells:duration"]["cells"][0]["summary"]

    assert (summary["n_ok"], summary["n_failed"], summary["n_lost"]) == (3, 0, 1)


def test_a_missing_cell_does_not_make_the_best_differ():
    found = found_in(
        received(
            ({"engine": "a", "w": 2}, about(40.0, 5)),
            ({"engine": "a", "w": 4}, about(20.0, 5, seed=2)),
            ({"engine": "a", "w": 8}, about(10.0, 5, seed=3)),
            ({"engine": "b", "w": 2}, about(44.0, 5, seed=4)),
            ({"engine": "b", "w": 4}, about(22.0, 5, seed=5)),
        )
    )

    assert found["answer"]["sentence"].startswith(
        "W 8 with engine a is the fastest; w 4 with engine a "
    )


def test_noise_does_not_make_the_best_differ():
    found = found_in(
        received(
            ({"engine": "a", "w": 2}, [10.0, 10.4, 9.8, 10.1]),
            ({"engine": "a", "w": 4}, [10.1, 10.2, 10.0, 10.2]),
            ({"engine": "b", "w": 2}, [10.2, 10.1, 10.3, 10.0]),
            ({"engine": "b", "w": 4}, [10.0, 10.3, 9.9, 10.1]),
            ({"engine": "c", "w": 2}, [20.2, 20.1, 20.3, 20.0]),
            ({"engine": "c", "w": 4}, [20.0, 20.3, 19.9, 20.1]),
        )
    )

    assert found["answer"]["sentence"] == (
        "4 of 6 settings may be the fastest; the others are slower."
    )


@pytest.mark.parametrize("order", ["interleaved", "blocked"])
def test_of_two_factors_the_best_cell_of_all_comes_first(order):
    means = {("a", 2): 40.0, ("a", 4): 21.0, ("b", 2): 30.0, ("b", 4): 35.0}
    campaign = received(
        *(
            ({"engine": engine, "w": w}, about(mean, 5, seed=w + len(engine + str(mean))))
            for (engine, w), mean in means.items()
        ),
        order=order,
    )

    found = found_in(campaign)

    meanwhile = ", if nothing else changed meanwhile" if order == "blocked" else ""
    assert found["answer"]["sentence"].startswith(
        f"W 4 with engine a is the fastest{meanwhile}; w 2 with engine b is 42.3 % slower."
    )
    assert found["answer"]["facts"][0]["label"] == "w 4, engine a"
    assert found["answer"]["facts"][0]["note"] == "the fastest"
    (overall,) = found["levels"]["overall"]
    assert overall["setting"] == {"engine": "a", "w": 4}
    favoured = favoured_by(findings_of(campaign, "", brief=True))
    assert favoured[0].levels == {"engine": "a", "w": 4}


def test_of_two_factors_rivals_of_the_best_cell_are_named():
    found = found_in(
        received(
            ({"engine": "a", "w": 2}, about(40.0, 4)),
            ({"engine": "a", "w": 4}, [20.0, 20.5, 19.8, 20.2]),
            ({"engine": "b", "w": 2}, [20.1, 20.4, 19.9, 20.3]),
            ({"engine": "b", "w": 4}, about(60.0, 4)),
        )
    )

    assert found["answer"]["sentence"] == (
        "W 4 with engine a or w 2 with engine b may be the fastest; the others are slower."
    )


def test_where_each_setting_may_be_the_best_none_is_called_so():
    found = found_in(
        received(
            *(
                ({"engine": engine, "w": w}, about(20.0, 5, seed=w + len(engine)))
                for engine in ("a", "bb")
                for w in (2, 4)
            )
        )
    )

    assert found["answer"]["sentence"] == "No setting is shown to be the fastest."


def test_the_best_cell_is_named_apart_for_each_work():
    found = found_in(
        received(
            *(
                ({"test": test, "engine": engine, "w": w}, about(mean * factor, 4, seed=w))
                for test, factor in (("small", 1), ("large", 10))
                for (engine, w), mean in {
                    ("a", 2): 4.0,
                    ("a", 4): 2.0,
                    ("b", 2): 6.0,
                    ("b", 4): 5.0,
                }.items()
            ),
            work=["test"],
        )
    )

    assert len(found["levels"]["overall"]) == 2
    assert found["answer"]["sentence"] == (
        "The fastest setting for each test: small: w 4 with engine a; large: w 4 with engine a."
    )


@pytest.fixture
def imported():
    """Import a file that a real tool wrote, and analyse it."""

    def read(name):
        with (DATA / name).open("rb") as content:
            campaign = import_file(content, About(filename=name), None).campaign
        compute.analyse(campaign)
        return found_in(campaign)["answer"]

    return read


def test_times_of_0_are_counted_and_the_remedy_is_named(imported):
    answer = imported("hyperfine-zeros.json")

    assert answer["sentence"].startswith(
        "No setting is ranked: 30 of 180 runs have a duration of zero or below."
    )
    assert answer["certainty"].startswith("In 3 of 3 settings.")
    assert [fact["note"] for fact in answer["facts"]] == ["median of 60 runs"] * 3
    assert "In 3 of 3 cells a value is zero, negative or no number (runs " in caveats_of(answer)
    assert "and 25 more)" in caveats_of(answer)
    assert "measure again with --shell=none (-N)" in caveats_of(answer)


def test_settings_without_times_of_0_are_still_told(imported):
    answer = imported("hyperfine-some-zeros.json")

    assert answer["sentence"].startswith("Duration is 22.4 ms")
    assert "at seconds 0.02" in answer["sentence"]
    assert "fastest" not in answer["sentence"]
    assert "--shell=none (-N)" in caveats_of(answer)


def test_a_benchmark_of_one_run_each_has_its_values_and_no_rank(imported):
    answer = imported("pytest-benchmark-default.json")

    assert "Benchmark test_add: 0.0584 µs; benchmark test_join" in answer["sentence"]
    assert "fastest" not in str(answer)


def test_a_campaign_that_goes_on_has_no_favoured_setting_of_all():
    campaign = received(
        *(
            ({"engine": engine, "w": w}, about(10.0 * w, 3, seed=w))
            for engine in "ab"
            for w in (2, 4)
        )
    )
    Campaign.objects.update(state=Campaign.State.CANCELLED)
    compute.analyse(campaign)

    assert found_in(campaign)["levels"]["overall"] == []
