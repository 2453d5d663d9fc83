"""Shipped recipes on the simulated Katello: the settings that it has are imported by HTTP, set, read back and put back.

An operator adapts a recipe to the server: here its commands become requests, since the simulator has no shell.
"""

import pytest

from campaigns.models import Target
from campaigns.results.importing.simulated_katello import katello_target
from campaigns.targets.actions import PLACE, Role, parse, perform, read_value
from campaigns.targets.reaching import apply_of, read_of, server_of
from campaigns.targets.recipes.importing import import_recipe
from campaigns.targets.recipes.reading import shipped
from campaigns.targets.variables import as_read
from campaigns.tests.people import somebody
from sandbox.katello.machine import NAMES
from sandbox.process import running

pytestmark = [pytest.mark.system, pytest.mark.django_db]

RECIPES = sorted(
    name for name, recipe in shipped().items() if recipe.name in NAMES and recipe.fits("katello")
)


@pytest.fixture(scope="module")
def simulator():
    with running(katello={}) as sandbox:
        yield sandbox.katello


@pytest.fixture
def target(simulator, settings, db):
    """The simulator as a target without settings, with the tuning profile of a server that has one."""
    settings.ALLOWED_ADDRESSES = "127.0.0.1:*"
    simulator.set("installer_profile", "default")
    assert katello_target(simulator.tls_url, simulator.ca(), somebody())
    found = Target.objects.get(family="katello")
    found.setting_rows.all().delete()
    return found


def by_requests(recipe):
    """The setting of a recipe whose commands are requests to the simulator."""
    url = f"/simulator/settings/{recipe.name}"
    return {
        **recipe.setting,
        "apply": {"way": "http", "method": "PUT", "url": url, "body": {"value": PLACE}},
        "read_back": {"way": "http", "method": "GET", "url": url, "at": "value"},
    }


def other_value(setting, value):
    """Another value that a setting takes."""
    return setting.choices[-1] if setting.choices else value + 1


def test_the_simulator_has_settings_of_most_recipes_of_a_katello():
    assert {shipped()[name].name for name in RECIPES} == {
        *("db_pool", "dynflow_threads", "dynflow_workers", "httpd_limit", "installer_profile"),
        *(
            "max_connections",
            "mqtt_rate_limit",
            "mqtt_resend_interval",
            "mqtt_ttl",
            "proxy_timeout",
        ),
        *("puma_threads", "puma_threads_min", "puma_workers"),
    }


@pytest.mark.parametrize("name", RECIPES)
def test_a_recipe_is_imported_set_read_back_and_put_back(name, simulator, target):
    recipe, before = shipped()[name], simulator.setting(shipped()[name].name)

    setting = import_recipe(recipe, by_requests(recipe), target, target.team.memberships.get().user)

    server = server_of(target)

    def in_force():
        return as_read(setting, read_value(read_of(setting), server, lambda: None))

    assert in_force() == before
    for value in (other_value(setting, before), before):
        perform(apply_of(setting), server, lambda: None, value=value)
        for ready in recipe.readiness:
            perform(parse(ready.action, Role.READY), server, lambda: None)
        assert in_force() == value == simulator.setting(setting.name)
    assert target.steps.count() == len(recipe.readiness)
