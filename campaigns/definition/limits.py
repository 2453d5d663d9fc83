"""What the owners of a server allow, against what a run would ask for."""

from collections.abc import Mapping
from typing import Any

from campaigns.drivers.base import Driver
from campaigns.queries.allowed import Allowed


def excess_of(allowed: Allowed, driver: Driver, parameters: Mapping[str, Any]) -> str:
    """Say how a run with these parameters asks for more than is allowed; empty where it does not."""
    asked, most = driver.concurrency(parameters), allowed.most_concurrent
    if asked is None or most is None or asked <= most:
        return ""
    return (
        f"{asked:,} requests at a time are more than the {most:,} that the owner of "
        f"“{allowed.concurrency}” allows. Take fewer, or have the owner raise the limit."
    )
