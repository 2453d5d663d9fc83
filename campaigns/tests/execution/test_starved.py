"""A campaign whose generator is really starved, from the engine's own measurement to the answer."""

import pytest

from campaigns.execution.progress import forget
from campaigns.findings.answers import answers_of
from campaigns.kinds.downloader.driver import driver
from campaigns.models import Attempt, Target
from campaigns.planning import checking, drafts, lifecycle
from campaigns.results.closing import close
from campaigns.results.storing import Outcome
from campaigns.tests.busy import one_busy_cpu
from campaigns.tests.kinds.conftest import Keeper
from campaigns.tests.measured import begin, finish
from sandbox.grammar import manifest_path

FILES = 20
pytestmark = [pytest.mark.django_db, pytest.mark.system, pytest.mark.timeout(240)]


@pytest.fixture
def campaign(sandbox, settings):
    """A campaign of one setting and three runs, launched; nothing runs."""
    place = sandbox.base_url.removeprefix("http://")
    settings.ALLOWED_ADDRESSES = place
    target = Target.objects.create(
        name="sandbox", family="http", base_url=sandbox.base_url, address=place
    )
    data = {
        "question": "How long does it take?",
        "kind": "downloader",
        "target": target.pk,
        # It computes much, so that it wants the CPU however slow the server is on a busy machine.
        "parameters": {"manifest": manifest_path(files=FILES, size=4_000_000), "concurrency": 4},
        "factors": {"engine": ["asyncio"]},
        "repetitions": 3,
        "order": "interleaved",
        "seed": 1,
    }
    return lifecycle.launch(drafts.create(checking.check(data), None), None)


def measure(run, context):
    """Measure one run by its driver, and store it as the keeper does."""
    target, parameters = run.campaign.target, run.campaign.parameters | run.cell.levels_by_factor
    form = driver.parameters(
        {name: field.initial for name, field in driver.parameters.base_fields.items()} | parameters
    )
    assert form.is_valid(), form.errors
    driver.reset(target, form.cleaned_data, context)
    measured = driver.measure(target, form.cleaned_data, context)
    attempt = begin(run)
    close(attempt, Outcome(Attempt.State.ACCEPTED, measured=measured))
    forget(attempt.pk)
    return measured


def test_a_generator_that_is_really_starved_is_not_judged(campaign, tmp_path):
    context = Keeper(tmp_path / "attempt", deadline_seconds=120.0).context()
    runs = list(campaign.runs.select_related("cell", "campaign__target"))
    with one_busy_cpu():
        every = [measure(run, context) for run in runs]

    assert [each.health.verdict for each in every] == ["starved"] * 3
    assert [each.units_done for each in every] == [FILES] * 3
    finish(campaign)

    answer = answers_of([campaign.pk])[campaign.pk]
    assert answer.sentence == (
        "Not judged: other programs kept the load generator waiting in 3 of 3 runs."
    )
    assert answer.certainty == "Run it on a quiet machine, or from another one."
    assert answer.facts == ()
    checks = {each["name"]: each for each in campaign.findings.get(name="checks").result["checks"]}
    assert (checks["starved"]["outcome"], checks["starved"]["value"]) == ("warn", 3.0)
