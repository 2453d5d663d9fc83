import pickle
from collections.abc import Iterator
from typing import Any

import pytest

from campaigns.findings.compute import compared, statistics_input
from campaigns.models import Campaign, Team
from campaigns.models.teams import default_team
from campaigns.stats.comparisons import compare_cells
from sandbox.process import Sandbox, running

MOST_REMEMBERED = 3000


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Sandbox]:
    """A target for tests of drivers and engines; it counts what it is asked."""
    with running() as process:
        yield process


@pytest.fixture(autouse=True)
def few_resamples_of_a_knee(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Draw fewer resamples of a knee, but for tests of `stats/`, which need no database, and `all_resamples`."""
    if request.node.get_closest_marker("db") and "all_resamples" not in request.fixturenames:
        monkeypatch.setattr("campaigns.stats.knee.RESAMPLES", 199)


@pytest.fixture(scope="session", autouse=True)
def comparisons_are_computed_once() -> Iterator[None]:
    """Compare the same values once, by the same criteria: most campaigns of tests have the same few.

    `compare_cells` is pure, and is asked again for each run that is left out. Tests of `stats/` call it directly.
    """
    known: dict[bytes, Any] = {}

    def remembered(*arguments: Any, **options: Any) -> Any:
        key = pickle.dumps((arguments, options))
        if key not in known:
            if len(known) >= MOST_REMEMBERED:
                del known[next(iter(known))]
            known[key] = compare_cells(*arguments, **options)
        return known[key]

    with pytest.MonkeyPatch.context() as patch:
        for module in (compared, statistics_input):
            patch.setattr(module, "compare_cells", remembered)
        yield


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
