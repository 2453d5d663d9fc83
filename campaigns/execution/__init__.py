"""One run's state machine: claim, reset, apply, measure, verify, close.

`claim` takes an attempt; `keeper` holds its lease and listens for cancel; `steps` goes through the
driver's four steps in a `workplace`; `running` ties them together; `machine`, `environment` and `probing` look at
generator and target. PostgreSQL is the truth: whoever lost the lease changes nothing any more.
"""

from campaigns.execution.probing import probe, probe_all_beside, probe_beside
from campaigns.execution.running import execute, interrupt_worker

__all__ = ["execute", "interrupt_worker", "probe", "probe_all_beside", "probe_beside"]
