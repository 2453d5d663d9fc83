"""What the target's owner allows now, against what a run would ask for."""

from collections.abc import Mapping
from typing import Any

from campaigns.definition.limits import excess_of
from campaigns.drivers.base import Driver, DriverError
from campaigns.models import Target
from campaigns.queries.allowed import Allowed, allowed_on


class MoreThanAllowed(DriverError):
    """The target's owner has lowered a limit since the campaign was launched."""

    void = True


def require_allowed(target: Target, driver: Driver, parameters: Mapping[str, Any]) -> Allowed:
    """Give the limits. Raise MoreThanAllowed where the parameters are beyond one."""
    allowed = allowed_on(target)
    if excess := excess_of(allowed, driver, parameters):
        raise MoreThanAllowed(excess)
    return allowed
