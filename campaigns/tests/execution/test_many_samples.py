"""A run of very many files: what its keeper holds, cleans and stores stays bounded."""

import tracemalloc

import pytest

from campaigns.execution import dispatch
from campaigns.execution.running import execute
from campaigns.kinds.base import Health, Measured
from campaigns.models import Attempt, Run

pytestmark = pytest.mark.django_db(transaction=True)

MOST_BYTES = 1_200
"""At most so many a sample are held at the same time."""


def many(count):
    numbers = range(count)
    return Measured(
        values={"duration": 60.0},
        health=Health("healthy", (), {}),
        samples={
            "file": [f"some/directory/file-{number:06d}" for number in numbers],
            "start_seconds": [number / 1000 for number in numbers],
            "first_byte_seconds": [number / 999 for number in numbers],
            "total_seconds": [number / 998 for number in numbers],
            "bytes": [number % 10 for number in numbers],
            "status": [200] * count,
            "failure": [""] * count,
        },
        units_done=count,
    )


@pytest.mark.parametrize("count", [10_000, pytest.param(100_000, marks=pytest.mark.nightly)])
def test_many_samples_are_stored_in_bounded_memory(launched, controlled, monkeypatch, count):
    monkeypatch.setattr(controlled, "measure", lambda *_: many(count))
    launched(factors={"level": [3]}, repetitions=1)
    dispatch.dispatch()
    (attempt,) = Attempt.objects.filter(state=Attempt.State.QUEUED)

    tracemalloc.start()
    try:
        run = execute(attempt.pk, "measure@here", "here")
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()

    assert run is not None
    assert run.state == Run.State.DONE
    attempt.refresh_from_db()
    assert attempt.raw_samples.count == count
    assert peak < MOST_BYTES * count, peak
