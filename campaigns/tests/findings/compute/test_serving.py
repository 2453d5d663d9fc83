"""In which cells of a closed loop not everybody got an answer."""

import pytest

from campaigns.findings import compute
from campaigns.models import Target
from campaigns.planning import checking, drafts, lifecycle
from campaigns.results.storing import Value
from campaigns.tests.findings.compute.conftest import START
from campaigns.tests.stored import import_run

pytestmark = pytest.mark.django_db


@pytest.fixture
def launch(settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:9"
    target = Target.objects.create(
        name="database",
        family="postgresql",
        base_url="postgresql://127.0.0.1:9/bench",
        address="127.0.0.1:9",
    )

    def launched(factors, **parameters):
        data = {
            "question": "Whom does it serve?",
            "kind": "sql",
            "target": target.pk,
            "parameters": parameters,
            "factors": factors,
            "repetitions": 2,
            "seed": 1,
        }
        return lifecycle.launch(drafts.create(checking.check(data), None), None)

    return launched


def store(campaign, served_of):
    """Give each run 1,000 transactions a second, and the clients that it served: None where that is not known."""
    for run in campaign.runs.select_related("cell", "block").order_by("position"):
        served = served_of(run)
        clients = (run.cell.levels_by_factor | campaign.parameters)["clients"]
        values = [
            Value("tps", 1000.0, "1/s", lower_is_better=False),
            Value("response_mean", 3.0, "ms", lower_is_better=True),
            Value("end_to_end_time", float(clients), "ms", lower_is_better=True),
        ]
        if served is not None:
            values.append(Value("clients_served", served, "count", lower_is_better=False))
        import_run(run, values, started_at=START, finished_at=START)


def level(run):
    return run.cell.levels_by_factor["clients"]


def unserved(campaign):
    compute.analyse(campaign)
    return campaign.findings.get(name="answer").result["unserved"]


def test_the_cells_that_served_fewer_are_found_with_what_each_waits(launch):
    campaign = launch({"clients": [2, 8]})
    store(campaign, lambda run: min(level(run), run.block.number + 2))

    assert unserved(campaign) == [
        {
            "cell": campaign.cells.get(levels_by_factor={"clients": 8}).pk,
            "parameter": "clients",
            "number": 8,
            "fewest": 3,
            "most": 4,
            "response": 3,
            "end_to_end": 8,
            "unit": "ms",
        }
    ]


def test_clients_that_do_not_vary_are_counted_too(launch):
    campaign = launch({"protocol": ["simple", "prepared"]}, clients=8)
    store(campaign, lambda run: 3)

    assert [each["number"] for each in unserved(campaign)] == [8, 8]


def test_what_is_unknown_is_not_called_unserved(launch):
    campaign = launch({"clients": [2, 8]})
    store(campaign, lambda run: None)

    assert unserved(campaign) == []


def test_an_open_loop_has_no_turns_to_wait_for(launch):
    campaign = launch({"rate": [50, 100]}, clients=8, loop="open")
    store(campaign, lambda run: 3)

    assert unserved(campaign) == []
