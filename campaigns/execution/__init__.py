"""Execute runs: claim, reset, apply, measure, verify, close.

`claim` claims an attempt; `keeper` holds its leases and watches for cancellation; `steps` executes the
driver's four steps in a `workplace`; `running` ties them together. `server_steps` and `set_levels` do
what a target's operator has defined, and `restore_settings` sets it back; `machine` and `try_settings` check
generator and target. `generators/` shares a load among several machines. PostgreSQL decides: a worker
that lost its lease can change nothing.
"""

from campaigns.execution.generators.serving import generate
from campaigns.execution.restore_settings import restore
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
