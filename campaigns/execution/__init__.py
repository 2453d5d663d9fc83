"""One run's state machine: claim, reset, apply, measure, verify, close.

`claim` takes an attempt; `keeper` holds its lease and listens for cancel; `steps` goes through the
driver's four steps in a `workplace`; `running` ties them together; `server_steps` and `set_levels` do what a
target's operator has defined, `restoring` sets back; `machine`, `looking` and `probing` look at
generator and target. `gathering` has the load made by several generators, `generating` is one of
them. PostgreSQL is the truth: whoever lost the lease changes nothing any more.
"""

from campaigns.execution.generators.serving import generate
from campaigns.execution.restoring import restore
from campaigns.execution.running import execute, interrupt_worker
from campaigns.execution.try_settings import look_at_settings
from campaigns.targets.probing import probe, probe_all_in_threads, probe_in_thread

__all__ = [
    "execute",
    "generate",
    "interrupt_worker",
    "look_at_settings",
    "probe",
    "probe_all_in_threads",
    "probe_in_thread",
    "restore",
]
