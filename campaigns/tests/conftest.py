from collections.abc import Iterator

import pytest

from campaigns.models import Campaign, Team
from campaigns.models.teams import default_team
from sandbox.process import Sandbox, running


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """A target for tests of drivers and engines; it counts what it is asked."""
    with running() as process:
        yield process


@pytest.fixture
def team(db: None) -> Team:
    """The team that everything belongs to, unless it says another."""
    return Team.objects.get(pk=default_team())


@pytest.fixture
def campaign(team: Team) -> Campaign:
    """One of the team, without any run."""
    return Campaign.objects.create(name="Faster?", question="Is it?", kind="external", team=team)
