"""A metric is stored once, whoever stores values of it."""

import pytest
from django.db import IntegrityError, connection, transaction
from django.test.utils import CaptureQueriesContext

from campaigns.models import MetricOfValues, StoredMetric

pytestmark = pytest.mark.django_db
SECONDS = MetricOfValues("duration", "s", True)
SIZE = MetricOfValues("size", "B")


def test_known_metrics_take_one_query_and_new_ones_get_a_key():
    first = StoredMetric.objects.keys_of([SECONDS])
    both = StoredMetric.objects.keys_of([SIZE, SECONDS, SIZE])

    with CaptureQueriesContext(connection) as queries:
        again = StoredMetric.objects.keys_of([SIZE, SECONDS])
    assert len(queries) == 1
    assert again == both
    assert both[SECONDS] == first[SECONDS] != both[SIZE]


def test_metrics_that_differ_in_anything_are_others():
    others = [
        SECONDS,
        SECONDS._replace(unit="ms"),
        SECONDS._replace(lower_is_better=False),
        SECONDS._replace(lower_is_better=None),
        SECONDS._replace(fidelity="rounded"),
    ]

    assert len(set(StoredMetric.objects.keys_of(others).values())) == len(others)


@pytest.mark.parametrize("metric", [SECONDS, SIZE])
def test_a_metric_is_stored_once_with_a_direction_and_without(metric):
    StoredMetric.objects.keys_of([metric])

    with pytest.raises(IntegrityError, match="once"), transaction.atomic():
        StoredMetric.objects.create(**metric._asdict())


def test_no_values_need_no_metric(django_assert_max_num_queries):
    with django_assert_max_num_queries(0):
        assert StoredMetric.objects.keys_of([]) == {}
