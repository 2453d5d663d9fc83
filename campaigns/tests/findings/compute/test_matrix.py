import pytest

from campaigns.findings import compute
from campaigns.models import Run
from campaigns.tests.findings.compute.conftest import store

pytestmark = pytest.mark.django_db

ENGINES = ["asyncio", "futures"]


def matrix_of(campaign):
    compute.analyse(campaign)
    return campaign.findings.get(name="matrix").result


def noisy(run, seconds):
    return seconds * (1 + 0.004 * ((run.position * 7) % 5 - 2))


def row(found, engine):
    return next(r for r in found["rows"] if r["levels"] == {"engine": engine})


@pytest.fixture
def crossed(interleaved):
    campaign = interleaved([1, 2, 4], engine=ENGINES)
    seconds = {
        ("asyncio", 1): 10.0, ("asyncio", 2): 6.0, ("asyncio", 4): 5.99,
        ("futures", 1): 12.0, ("futures", 2): 11.0, ("futures", 4): 14.0,
    }  # fmt: skip
    store(
        campaign,
        lambda run: noisy(
            run,
            seconds[run.cell.levels_by_factor["engine"], run.cell.levels_by_factor["concurrency"]],
        ),
    )
    return campaign


def test_each_cell_improves_on_the_first_of_its_row(crossed):
    found = matrix_of(crossed)["factors"]["concurrency"]
    fast, slow = row(found, "asyncio"), row(found, "futures")

    assert found["columns"] == [1, 2, 4]
    assert [c["state"] for c in fast["cells"]] == ["baseline", "ok", "ok"]
    assert [c["improvement_pct"] for c in fast["cells"]] == [
        0.0,
        pytest.approx(40, abs=1),
        pytest.approx(40, abs=1),
    ]
    assert slow["cells"][2]["improvement_pct"] == pytest.approx(-16.7, abs=1)
    low, high = fast["cells"][1]["ci_pct"]
    assert low < fast["cells"][1]["improvement_pct"] < high


def test_the_cheapest_setting_that_may_be_the_best_is_recommended(crossed):
    fast = row(matrix_of(crossed)["factors"]["concurrency"], "asyncio")

    cells = [cell["cell"] for cell in fast["cells"]]
    assert fast["ties"] == cells[1:]
    assert fast["recommended"] == cells[1]


def test_rows_that_differ_interact(crossed):
    found = matrix_of(crossed)["factors"]

    assert found["concurrency"]["interaction"]["p"] < 0.001
    assert found["engine"]["interaction"]["f"] == pytest.approx(
        found["concurrency"]["interaction"]["f"]
    )


def test_words_have_a_best_and_no_recommendation(crossed):
    found = matrix_of(crossed)["factors"]["engine"]

    assert found["columns"] == ENGINES
    assert all(r["recommended"] is None and r["best"] for r in found["rows"])


def test_a_failing_cell_has_no_value_and_a_failing_first_cell_takes_that_of_its_row(crossed):
    def fail(engine, concurrency):
        runs = [
            run.pk
            for run in crossed.runs.select_related("cell")
            if run.cell.levels_by_factor == {"engine": engine, "concurrency": concurrency}
        ]
        Run.objects.filter(pk__in=runs[:2]).update(state=Run.State.FAILED)

    fail("asyncio", 4)
    fail("futures", 1)
    found = matrix_of(crossed)["factors"]["concurrency"]
    fast, slow = row(found, "asyncio"), row(found, "futures")

    assert fast["cells"][2]["state"] == "too_many_failures"
    assert fast["cells"][2]["improvement_pct"] is None
    assert fast["cells"][2]["cell"] not in fast["ties"]
    assert slow["no_baseline"]
    assert [c["improvement_pct"] for c in slow["cells"]] == [None] * 3
    assert slow["recommended"] is None


def test_work_is_never_a_column_and_has_no_interaction(interleaved):
    campaign = interleaved([1, 2], manifest=["http://127.0.0.1:9/a", "http://127.0.0.1:9/b"])
    store(campaign, lambda run: noisy(run, 10.0))
    found = matrix_of(campaign)["factors"]

    assert list(found) == ["concurrency"]
    assert found["concurrency"]["interaction"] is None


def test_one_factor_is_no_matrix(interleaved):
    campaign = interleaved([1, 2, 4])
    store(campaign, lambda run: noisy(run, 10.0))
    compute.analyse(campaign)

    assert not campaign.findings.filter(name="matrix").exists()
