"""What the owner of a target allows, against what a run would ask for."""

from collections.abc import Mapping
from typing import Any

from campaigns.drivers.base import Driver
from campaigns.models import Target


def excess_of(target: Target, driver: Driver, parameters: Mapping[str, Any]) -> str:
    """Say how a run with these parameters asks for more than is allowed; empty where it does not."""
    asked, allowed = driver.concurrency(parameters), target.max_concurrency
    if asked is None or allowed is None or asked <= allowed:
        return ""
    return (
        f"{asked:,} requests at a time are more than the {allowed:,} that the owner of "
        f"“{target.name}” allows. Take fewer, or have the owner raise the limit."
    )
