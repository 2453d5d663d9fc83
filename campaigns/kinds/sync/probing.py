"""What a probe tells of a Pulp."""

import time
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

from campaigns.kinds.base import Proof, Target
from campaigns.kinds.base.clock import clock_proof
from campaigns.kinds.servers.pulp import Pulp
from campaigns.kinds.sync.facts import versions_of


def look_at(pulp: Pulp, target: Target) -> list[Proof]:
    """Tell what Pulp this is, whether the login is right, and whether it is clean."""
    began_at = time.perf_counter()
    status = pulp.status()
    seconds = time.perf_counter() - began_at
    pulp.log_in()
    artifacts, content = pulp.count("artifacts/"), pulp.count("content/")
    workers = status.get("online_workers") or ()
    return [
        Proof("Pulp", "any", versions_of(status), "", ok=True),
        Proof("workers online", "1 or more", len(workers), "count", bool(workers)),
        Proof("login", "accepted", "accepted", "", ok=True),
        Proof("answers", "any", round(seconds, 4), "s", ok=True),
        Proof("artifacts", "0 before a run", artifacts, "count", ok=True),
        Proof("units of content", "0 before a run", content, "count", ok=True),
        Proof("dedicated", "any", "yes" if target.dedicated else "no", "", ok=True),
        Proof("storage free", "any", _free(status), "B", ok=True),
        clock_proof(pulp.date(), datetime.now(UTC)),
    ]


def _free(status: Mapping[str, Any]) -> float | str:
    free = (status.get("storage") or {}).get("free")
    return "not told" if free is None else float(free)
