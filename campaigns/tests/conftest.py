from collections.abc import Iterator

import pytest

from campaigns.models import Campaign, Team
from campaigns.models.teams import default_team
from campaigns.tests import remembered
from sandbox.process import Sandbox, running


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """A target for tests of drivers and engines; it counts what it is asked."""
    with running() as process:
        yield process


@pytest.fixture
def what_is_patched(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Let rows that were made under other patches not be taken for the same."""
    remembered.patched_by = monkeypatch
    yield
    remembered.patched_by = None


@pytest.fixture(autouse=True)
def few_resamples_of_a_knee(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, what_is_patched: None
) -> None:
    """Draw fewer resamples of a knee, but for tests of `stats/`, which need no database, and `all_resamples`."""
    if request.node.get_closest_marker("db") and "all_resamples" not in request.fixturenames:
        monkeypatch.setattr("campaigns.stats.knee.RESAMPLES", 199)


@pytest.fixture
def all_resamples() -> None:
    """Draw as many resamples as perfdash does: the test compares an interval with a published one."""


@pytest.fixture
def team(db: None) -> Team:
    """The team that everything belongs to, unless it says another."""
    return Team.objects.get(pk=default_team())


@pytest.fixture
def campaign(team: Team) -> Campaign:
    """One of the team, without any run."""
    return Campaign.objects.create(name="Faster?", question="Is it?", kind="external", team=team)
