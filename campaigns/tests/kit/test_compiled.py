"""Queries that are compiled once, and sent with other arguments from then on."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now

from campaigns.kit.compiled import Compiled
from campaigns.models import Worker

pytestmark = pytest.mark.django_db


@pytest.fixture
def asked():
    """A query of workers, and how often it was made."""
    made = []

    def of(name, host, age):
        made.append(name)
        return Worker.objects.filter(name=name, host=host, seen_at__gt=Now() - age).values_list(
            "name", "host"
        )

    return Compiled(of), made


def test_a_query_is_compiled_once_for_all_arguments(asked):
    query, made = asked
    for name in ("one", "100%", "it's"):
        Worker.objects.create(name=name, host=f"of {name}", pools=[], seen_at=Now())

    minute = timedelta(minutes=1)
    assert query.rows("one", "of one", minute) == [("one", "of one")]
    assert query.rows("100%", "of 100%", minute) == [("100%", "of 100%")]
    assert query.rows("it's", "of it's", minute) == [("it's", "of it's")]
    assert query.rows("one", "of it's", minute) == []
    assert query.rows("one", "of one", -minute) == []
    assert len(made) == 1


def test_an_argument_that_the_query_does_not_hold_as_it_is_is_refused():
    query = Compiled(lambda name: Worker.objects.filter(name__contains=name).values_list("pk"))

    with pytest.raises(ValueError, match="as it was passed"):
        query.rows("one")
