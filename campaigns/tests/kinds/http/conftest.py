import pytest

from campaigns.kinds.base import Target
from campaigns.kinds.http.driver import driver
from campaigns.tests.kinds.http.api import PASSWORD, USER, running_api


@pytest.fixture
def api():
    with running_api() as running:
        yield running


@pytest.fixture
def target(api):
    return Target("api", "http", api.base_url, username=USER, password=PASSWORD)


def parameters(scenario, **changes):
    """Give valid parameters of a short run in a closed loop, unless changed."""
    short = {"hosts": 2, "iterations": 3, "duration_seconds": None, "warm_up_seconds": 0}
    fields = driver.parameters.base_fields
    given = {name: field.initial for name, field in fields.items()}
    form = driver.parameters(given | short | {"scenario": scenario} | changes)
    assert form.is_valid(), form.errors
    return form.cleaned_data
