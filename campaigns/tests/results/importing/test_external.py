from pathlib import Path
from threading import Event
from time import perf_counter_ns

import pytest

from campaigns.kinds.base import Context, DriverError, Health, Measured, Target
from campaigns.kinds.registry import driver_of
from campaigns.kit.network import Rules

TARGET = Target("x", "external", "http://127.0.0.2")


@pytest.fixture
def context(tmp_path: Path) -> Context:
    return Context(
        cancelled=Event(),
        lease_seconds=lambda: 60.0,
        progress=lambda values: None,
        say=lambda line: None,
        clock=perf_counter_ns,
        directory=tmp_path,
        rules=Rules(),
        deadline_seconds=60.0,
    )


def test_no_step_of_an_external_run_is_executed(context):
    driver = driver_of("external")
    measured = Measured(values={}, health=Health("healthy", (), {}))

    for step in (
        lambda: driver.probe(TARGET, Rules()),
        lambda: driver.reset(TARGET, {}, context),
        lambda: driver.apply(TARGET, {}, context),
        lambda: driver.measure(TARGET, {}, context),
        lambda: driver.verify(TARGET, {}, context, measured),
    ):
        with pytest.raises(DriverError, match="not executed"):
            step()


def test_an_external_run_is_known_by_its_duration():
    driver = driver_of("external")

    assert not driver.executable
    assert (driver.primary_metric.name, driver.primary_metric.unit) == ("duration", "s")
    assert driver.primary_metric.lower_is_better
