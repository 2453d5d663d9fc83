"""Three generators in three processes measure what one does at the same load."""

import pytest

from sandbox.process import running

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(300)]

PATH = "/repo/files=4,size=200/latency=40/PULP_MANIFEST"
HOSTS, ITERATIONS = 30, 15
VALUES = """
    SELECT run.position, metric.name, measurement.value
    FROM campaigns_measurement measurement
    JOIN campaigns_storedmetric metric ON metric.id = measurement.metric_id
    JOIN campaigns_attempt attempt ON attempt.id = measurement.attempt_id
    JOIN campaigns_run run ON run.id = attempt.run_id
    WHERE run.campaign_id = %s AND attempt.state = 'accepted'
"""
ROWS = """
    SELECT generator.number, generator.state, generator.host, generator.clock_uncertainty_seconds,
        generator.start_at, generator.health, generator.request
    FROM campaigns_generator generator
    JOIN campaigns_attempt attempt ON attempt.id = attempt_id
    JOIN campaigns_run run ON run.id = attempt.run_id
    WHERE run.campaign_id = %s AND attempt.state = 'accepted'
"""


@pytest.fixture
def sandbox():
    with running() as started:
        yield started


def test_three_generators_measure_what_one_does(perfdash, sandbox):
    target = perfdash.api(
        "POST",
        "targets",
        {
            "name": "loaded by generators",
            "family": "http",
            "base_url": sandbox.base_url,
            "confirm_address": True,
        },
    )
    campaign = perfdash.api(
        "POST",
        "campaigns",
        {
            "question": "Does the number of generators change the answer?",
            "kind": "loads",
            "target": target["id"],
            "parameters": {"path": PATH, "hosts": HOSTS, "iterations": ITERATIONS},
            "factors": {"generators": [1, 3]},
            "order": "interleaved",
            "repetitions": 2,
            "seed": 1,
            "launch": True,
        },
    )["id"]
    perfdash.until(campaign, "finished")

    generators = {
        run["position"]: run["cell"]["levels"]["generators"]
        for run in perfdash.api("GET", f"campaigns/{campaign}/runs")["results"]
    }
    values: dict = {1: {}, 3: {}}
    for position, metric, value in perfdash.rows(VALUES, campaign):
        values[generators[position]].setdefault(metric, []).append(value)
    assert values[1]["requests"] == values[3]["requests"] == [HOSTS * ITERATIONS] * 2
    for metric, tolerance in (("p50", 0.25), ("p95", 0.6)):
        one, three = (min(values[number][metric]) for number in (1, 3))
        assert one >= 40
        assert abs(three / one - 1) < tolerance, values

    rows = perfdash.rows(ROWS, campaign)
    assert sorted(row[0] for row in rows) == [1, 1, 2, 2, 3, 3]
    assert {row[1] for row in rows} == {"done"}
    assert len({row[4] for row in rows}) == 2  # one start for each of two runs
    assert all(0 < row[3] < 0.5 for row in rows)
    assert all(row[5] and not row[6] for row in rows)
