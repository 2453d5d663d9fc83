import pytest

from campaigns.models import Attempt, Exclusion, Phase, Run
from campaigns.tests.findings.compute.conftest import findings, store

pytestmark = pytest.mark.django_db


@pytest.fixture
def told(interleaved):
    """Two levels, three runs each; each tells its steps, and parts of the measured time."""
    campaign = interleaved([2, 4])
    store(campaign, lambda run: 5.0)
    for attempt in Attempt.objects.select_related("run__cell"):
        level = attempt.run.cell.levels_by_factor["concurrency"]
        Phase.objects.create(
            attempt=attempt, of="attempt", name="reset", seconds=attempt.run.position
        )
        Phase.objects.create(attempt=attempt, of="attempt", name="measure", seconds=10 / level)
        if attempt.run.block.number > 1:
            Phase.objects.create(attempt=attempt, of="measure", name="first byte", seconds=3.0)
        Phase.objects.create(attempt=attempt, of="measure", name="save", seconds=1.0)
    return campaign


def test_each_phase_has_its_mean_by_cell_in_the_order_of_the_levels(told):
    found = findings(told)["phases"]["attempt"]

    assert found["names"] == ["reset", "measure"]
    assert [cell["levels"]["concurrency"] for cell in found["cells"]] == [2, 4]
    assert [cell["seconds"]["measure"]["mean"] for cell in found["cells"]] == [5.0, 2.5]
    assert sum(cell["seconds"]["reset"]["mean"] for cell in found["cells"]) == pytest.approx(7.0)
    assert not found["overlap"]


def test_a_part_that_a_run_does_not_have_took_no_time_of_it(told):
    first = findings(told)["phases"]["measure"]["cells"][0]

    assert first["runs"] == 3
    assert first["seconds"]["first byte"]["mean"] == pytest.approx(2.0)
    assert first["seconds"]["first byte"]["sd"] == pytest.approx(3**0.5)


def test_excluded_and_failed_runs_are_left_out(told):
    first, second, third = told.runs.filter(cell=told.cells.first()).order_by("position")
    Exclusion.objects.create(run=first, reason="odd")
    Run.objects.filter(pk=second.pk).update(state="failed", reason="refused")

    cell = findings(told)["phases"]["attempt"]["cells"][0]

    assert cell["runs"] == 1
    assert cell["seconds"]["reset"] == {"mean": third.position, "sd": None}


def test_parts_that_overlap_are_marked(told):
    Phase.objects.filter(name="save").update(started_seconds=0.5)

    assert findings(told)["phases"]["measure"]["overlap"]


def test_runs_without_phases_have_no_finding(interleaved):
    campaign = interleaved([2, 4])
    store(campaign, lambda run: 5.0)

    assert "phases" not in findings(campaign)
