"""A keeper of one attempt on a simulator that runs."""

import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from campaigns.kinds.base import Context, Target
from campaigns.kinds.registration.driver import driver
from campaigns.kit.http.credentials import Tls
from campaigns.kit.network import parse_rules
from campaigns.tests.kinds.recomputed import follows

INSTALLATION, ANOTHER = "0a1b2c3d", "4e5f6071"


@dataclass
class Place:
    """A target under test, and what a test sees of what the driver does."""

    target: Target
    directory: Path
    cancelled: threading.Event = field(default_factory=threading.Event)
    lines: list[str] = field(default_factory=list)
    progress: list[Any] = field(default_factory=list)
    attempt: int = 1
    deadline_seconds: float = 60.0
    most_concurrent: int | None = None
    most_per_second: float | None = None

    def context(self) -> Context:
        return Context(
            cancelled=self.cancelled,
            lease_seconds=lambda: 60.0,
            progress=self.progress.append,
            say=self.lines.append,
            clock=time.perf_counter_ns,
            directory=self.directory / str(self.attempt),
            rules=parse_rules("127.0.0.1:*"),
            deadline_seconds=self.deadline_seconds,
            sender=f"perfdash attempt/{self.attempt}",
            most_concurrent=self.most_concurrent,
            most_per_second=self.most_per_second,
        )

    def reset(self, values):
        return driver.reset(self.target, values, self.context())

    def apply(self, values):
        return driver.apply(self.target, values, self.context())

    def measure(self, values):
        measured = driver.measure(self.target, values, self.context())
        follows(driver, measured)
        return measured

    def verify(self, values, measured):
        return driver.verify(self.target, values, self.context(), measured)

    def clean_up(self, values):
        return driver.clean_up(self.target, values, self.context())

    def environment(self):
        return driver.environment(self.target, self.context())


def parameters(family="katello", **changes):
    fields = driver.parameters.base_fields
    form = driver.parameters({name: field.initial for name, field in fields.items()} | changes)
    assert form.is_valid(), form.errors
    assert driver.misfits(family, form.cleaned_data, {}) == {}
    return form.cleaned_data


def target_of(simulator, **changes):
    given = {"name": "simulator", "family": "katello", "base_url": simulator.tls_url,
             "username": "admin", "password": "password", "tls": Tls(ca_bundle=simulator.ca()),
             "installation": INSTALLATION}  # fmt: skip
    return Target(**(given | changes))
