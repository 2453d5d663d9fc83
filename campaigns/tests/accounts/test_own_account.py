"""Names of accounts: no two that look alike, or that differ in case alone."""

import pytest
from django.contrib.auth.models import User

from campaigns.accounts.own_account import NAME, new_user
from campaigns.kit.errors import Invalid
from campaigns.kit.markup import names_in
from campaigns.tests.people import somebody


@pytest.mark.parametrize("name", ["alma", "a.b", "_x", "ann@example.org", "x+y-z", "7", ".a"])
def test_a_name_that_is_allowed_can_be_mentioned(name):
    assert NAME.match(name)
    assert name in names_in(f"@{name} looks")[0]


@pytest.mark.parametrize("name", ["\u0430lma", "a b", ".", "..", "...", "@x", "", "a\n", "é"])
def test_a_name_that_is_not(name):
    assert not NAME.match(name)


@pytest.mark.django_db
def test_a_name_that_differs_in_case_alone_is_taken_whatever_was_looked_at_before():
    somebody("Alma")

    with pytest.raises(Invalid, match="already"):
        new_user("alma", "", None)

    assert not User.objects.filter(username="alma").exists()
