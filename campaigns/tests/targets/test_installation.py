"""The identifier of this perfdash, which is in the names of what it makes on targets."""

import re
from importlib import import_module

import pytest

from campaigns.kinds.base import Target as TargetView
from campaigns.kinds.base.naming import INSTALLATION, own_prefix
from campaigns.models import Installation, Target
from campaigns.targets.saving import as_driver_sees_it, installation_name


@pytest.mark.django_db
def test_it_is_made_once_and_drivers_of_every_target_are_told_it():
    first, second = Target(name="a"), Target(name="b")

    names = {as_driver_sees_it(first).installation, as_driver_sees_it(second).installation}

    assert names == {installation_name()} == {Installation.objects.get().name}
    assert re.fullmatch(INSTALLATION, names.pop())


@pytest.mark.django_db
def test_two_databases_have_different_ones():
    mine = installation_name()
    Installation.objects.all().delete()

    assert installation_name() != mine


def test_a_name_without_it_is_never_given():
    with pytest.raises(ValueError, match="was not given the installation"):
        own_prefix(TargetView("t", "pulp", "http://p"))


def test_a_database_is_made_by_who_has_no_key(settings):
    """Django refuses to return an empty SECRET_KEY; a migration needs none where nothing was measured."""
    migration = import_module("campaigns.migrations.0031_installation")
    settings.SECRET_KEY = ""

    assert migration._secret_key() == ""
