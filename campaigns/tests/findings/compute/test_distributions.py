import numpy as np
import pytest

from campaigns.kit import histogram
from campaigns.models import Attempt, Distribution, Run
from campaigns.tests.findings.compute.conftest import findings, store

pytestmark = pytest.mark.django_db


def add(campaign, name="file_time", count=1000):
    """Give each accepted run a histogram: level x 1..count µs, and a little more run by run."""
    for attempt in Attempt.objects.filter(run__campaign=campaign).select_related("run__cell"):
        scale = attempt.run.cell.levels_by_factor["concurrency"] * (1 + attempt.run.position / 100)
        code = histogram.encode([round(scale * value) for value in range(1, count + 1)])
        Distribution.objects.create(
            attempt=attempt, name=name, encoded=code.encoded, count=code.count, dropped=2
        )


def test_few_runs_have_no_density(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, lambda run: 5.0)

    found = findings(campaign)["density:duration"]

    assert found["fewest"] == 20
    assert [(cell["n"], cell["density"]) for cell in found["cells"]] == [(3, None), (3, None)]


def test_two_modes_are_stored_with_their_shares(interleaved):
    campaign = interleaved([2], hashing=["loop"])
    campaign.runs.all().delete()
    cell, block = campaign.cells.get(), campaign.blocks.first()
    Run.objects.bulk_create(
        Run(campaign=campaign, cell=cell, block=block, position=p) for p in range(1, 31)
    )
    rng = np.random.default_rng(1)
    store(
        campaign,
        lambda run: float((10 if run.position <= 18 else 13) * np.exp(rng.normal(0, 0.01))),
    )

    (found,) = findings(campaign)["density:duration"]["cells"]

    assert [mode["at"] for mode in found["density"]["modes"]] == pytest.approx([10, 13], rel=0.01)
    assert [mode["share"] for mode in found["density"]["modes"]] == pytest.approx([0.6, 0.4])
    assert len(found["density"]["heights"]) == 128
    assert np.exp(found["density"]["low"]) < 10 < 13 < np.exp(found["density"]["high"])


def test_each_runs_percentiles_are_one_observation(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, lambda run: 5.0)
    add(campaign)

    found = findings(campaign)["percentiles:file_time"]

    assert [cell["cell"] for cell in found["cells"]] == [cell.pk for cell in campaign.cells.all()]
    first = found["cells"][0]
    median = first["shares"].index(0.5)
    positions = [run.position for run in campaign.runs.filter(cell=first["cell"])]
    expected = np.exp(
        np.mean(np.log([2 * (1 + position / 100) * 500e-6 for position in positions]))
    )
    assert first["values"][median] == pytest.approx(expected, rel=2e-3)
    assert first["low"][median] < first["values"][median] < first["high"][median]
    assert (first["runs"], first["counts"], first["fewest"], first["dropped"]) == (3, 3000, 1000, 6)
    assert first["shares"][-1] == 0.99
    assert first["together"]["shares"][-1] > 0.99


def test_excluded_runs_and_other_quantities_are_apart(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, lambda run: 5.0, failing=(1,))
    add(campaign)
    add(campaign, "first_byte", 30)

    found = findings(campaign)

    assert sum(cell["runs"] for cell in found["percentiles:file_time"]["cells"]) == 5
    assert found["percentiles:first_byte"]["cells"][0]["shares"][-1] == 0.625


def test_no_histogram_is_no_finding(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, lambda run: 5.0)

    assert not any(name.startswith("percentiles") for name in findings(campaign))
