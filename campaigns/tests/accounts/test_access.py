"""Keys of people: what pages and REST tests do not see."""

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection, transaction

from campaigns.accounts import access
from campaigns.tests.people import somebody


@pytest.mark.django_db(transaction=True)
def test_a_link_that_is_just_being_used_signs_nobody_else_in():
    user = somebody("owner")
    text = access.make_sign_in_link(user)

    def use():
        try:
            return access.redeem(text)
        finally:
            connection.close()

    with ThreadPoolExecutor() as pool:
        with transaction.atomic():
            assert access.redeem(text) == user
            second = pool.submit(use)
            with pytest.raises(TimeoutError):
                second.result(timeout=0.5)  # it waits to see what becomes of the first
        with pytest.raises(access.LinkRefused, match="used already"):
            second.result(timeout=10)
