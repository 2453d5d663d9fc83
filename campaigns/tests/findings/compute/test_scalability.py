import json
from pathlib import Path

import pytest

from campaigns.findings.compute import scalability
from campaigns.kit import histogram
from campaigns.models import Attempt, Campaign, Distribution, Measurement, Run, Series
from campaigns.results.importing import demonstration
from campaigns.results.storing import Value
from campaigns.tests.findings.compute.conftest import START, findings
from campaigns.tests.stored import import_run

pytestmark = pytest.mark.django_db

GOLDEN = json.loads((Path(__file__).parents[2] / "stats/golden/d_usl.json").read_text())
LEVELS = GOLDEN["levels"]


@pytest.fixture(autouse=True)
def few_resamples(monkeypatch):
    monkeypatch.setattr(scalability, "RESAMPLES", 50)


@pytest.fixture
def closed_loop(interleaved):
    """The published noisy data of a closed loop: three runs of each of eight levels."""
    campaign = interleaved(LEVELS)
    left = dict(zip(LEVELS, zip(*[iter(GOLDEN["noisy"]["X"])] * 3, strict=True), strict=True))
    for run in campaign.runs.select_related("cell", "block").order_by("position"):
        n = run.cell.levels_by_factor["concurrency"]
        rate = left[n][run.block.number - 1]
        import_run(
            run,
            [
                Value("duration", 1e4 / rate, "s", lower_is_better=True),
                Value("file_rate", rate, "files/s", lower_is_better=False),
            ],
            started_at=START,
            finished_at=START,
        )
    return campaign


def answered_in(campaign, seconds_of):
    """Give every run a histogram of one response time."""
    for attempt in Attempt.objects.filter(run__campaign=campaign).select_related("run__cell"):
        value = round(1e6 * seconds_of(attempt.run.cell.levels_by_factor["concurrency"]))
        code = histogram.encode([value] * 100)
        Distribution.objects.create(
            attempt=attempt, name="file_time", encoded=code.encoded, count=100
        )


def group(campaign):
    (found,) = findings(campaign)["usl"]["groups"]
    return found


def near(value):
    return pytest.approx(value, rel=GOLDEN["tolerance"]["noisy_rel"])


def test_the_law_of_a_closed_loop_is_the_published_one(closed_loop):
    expected = GOLDEN["noisy"]["expected"]

    law = group(closed_loop)["law"]

    assert (law["g"], law["s"], law["k"]) == (
        near(expected["gamma"]),
        near(expected["sigma"]),
        near(expected["kappa"]),
    )
    assert (law["peak"], law["most"]) == (near(expected["n_star"]), near(expected["x_max"]))
    assert law["power_point"] == near(expected["n_power"])
    assert law["throttle"] == expected["recommended"] == 5
    assert law["rule_of_thumb"] == near(expected["rule75_of_n_star"])
    assert law["rule_agrees"]
    assert not law["extrapolated"]


def test_its_intervals_hold_what_was_found(closed_loop):
    found = group(closed_loop)

    for name in ("g", "s", "k", "peak", "most", "power_point"):
        low, high = found["bounds"][name]
        assert low < found["law"][name] < high
    assert found["bounds"]["with_peak"] == 1.0


def test_equal_data_have_equal_intervals(closed_loop):
    assert group(closed_loop) == group(closed_loop)


def test_response_times_that_hold_all_of_the_waiting_agree_with_the_number(closed_loop):
    mean = {n: sum(GOLDEN["noisy"]["X"][3 * i : 3 * i + 3]) / 3 for i, n in enumerate(LEVELS)}
    answered_in(closed_loop, lambda n: n / mean[n])

    rows = group(closed_loop)["levels_measured"]

    assert [row["n"] for row in rows] == LEVELS
    assert all(row["consistent"] for row in rows)
    assert rows[3]["ratio"] == pytest.approx(1, abs=2e-3)


def test_waiting_that_nobody_timed_is_seen(closed_loop):
    answered_in(closed_loop, lambda n: 0.001)

    rows = group(closed_loop)["levels_measured"]

    assert [row["consistent"] for row in rows] == [True] + [False] * 7
    assert rows[-1]["effective"] == pytest.approx(3.24, abs=0.01)


def test_four_levels_have_no_law(interleaved, closed_loop):
    for run in closed_loop.runs.select_related("cell"):
        if run.cell.levels_by_factor["concurrency"] > 4:
            Attempt.objects.filter(run=run).update(units_done=10, units_failed=1)

    found = group(closed_loop)

    assert (found["missing"], found["law"], found["curve"]) == ("not_enough_levels", None, [])
    assert found["left_out"] == {"bound": 0, "not_steady": 0, "failures": 12}


def test_a_level_of_which_runs_failed_is_in_no_fit_with_those_that_came_through(closed_loop):
    (level,) = closed_loop.cells.filter(levels_by_factor__concurrency=2)
    lost = closed_loop.runs.filter(cell=level).values_list("pk", flat=True)[:2]
    Attempt.objects.filter(run__in=list(lost)).update(state=Attempt.State.FAILED)
    Measurement.objects.filter(attempt__run__in=list(lost)).delete()
    Run.objects.filter(pk__in=list(lost)).update(state=Run.State.FAILED)

    found = group(closed_loop)

    assert found["left_out"]["failures"] == 1
    assert 2 not in [row["n"] for row in found["levels_measured"]]


def test_no_limit_is_recommended_from_levels_of_two_runs(closed_loop):
    (level,) = closed_loop.cells.filter(levels_by_factor__concurrency=2)
    one = closed_loop.runs.filter(cell=level).first()
    Run.objects.filter(pk=one.pk).update(state=Run.State.VOID)

    found = group(closed_loop)

    assert found["unranked"] == {"cancelled": False, "few": 1, "levels": 8, "fewest": 3}
    assert (found["law"]["throttle"], found["bounds"]["throttle"]) == (None, None)
    assert "recommended limit" not in found["places"]


def test_levels_of_one_run_have_no_interval(closed_loop):
    closed_loop.runs.exclude(block__number=1).update(state=Run.State.VOID)

    found = group(closed_loop)

    assert found["law"]["peak"]
    assert found["bounds"] is None


def test_no_limit_is_recommended_from_a_cancelled_campaign(closed_loop):
    Campaign.objects.update(state=Campaign.State.CANCELLED)

    assert group(closed_loop)["law"]["throttle"] is None


def test_saturated_runs_and_those_that_were_not_steady_are_in_no_fit(closed_loop):
    first, second = Attempt.objects.order_by("run__position")[:2]
    Measurement.objects.filter(attempt=first).update(bound=True)
    Series.objects.create(
        attempt=second,
        name="throughput",
        unit="MB/s",
        step_seconds=0.25,
        values=[1.0] * 6 + [2.0] * 6,
    )

    found = group(closed_loop)

    assert found["left_out"] == {"bound": 1, "not_steady": 1, "failures": 0}
    assert sum(row["runs"] for row in found["levels_measured"]) == 22
    assert {run["position"]: run["left_out"] for run in found["runs"]}[
        first.run.position
    ] == "bound"


def test_each_work_has_its_own_law(interleaved):
    campaign = interleaved([1, 2], manifest=["a/PULP_MANIFEST", "b/PULP_MANIFEST"])

    found = findings(campaign)["usl"]["groups"]

    assert [each["levels"]["manifest"] for each in found] == ["a/PULP_MANIFEST", "b/PULP_MANIFEST"]
    assert [each["missing"] for each in found] == ["not_enough_levels"] * 2


def test_what_is_no_closed_loop_has_no_finding(paired):
    campaign, _ = demonstration.published_campaign(None)

    assert "usl" not in findings(campaign)
    assert "usl" not in findings(paired(["a/PULP_MANIFEST"], 3))
