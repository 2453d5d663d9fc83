"""Reach the Pulp of a target."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from campaigns.kinds.base import Target
from campaigns.kinds.base.servers import connected
from campaigns.kinds.servers.pulp import Pulp
from campaigns.kit.http.login import Login
from campaigns.kit.network import Rules


@contextmanager
def pulp_of(
    target: Target,
    rules: Rules,
    check: Callable[[], None],
    sender: str = "perfdash",
    most_per_second: float | None = None,
    *,
    log_in: bool = True,
) -> Iterator[Pulp]:
    """Connect to a target's Pulp, and log in. Errors of the client leave as what a driver raises."""
    with connected(target, rules, check, sender, most_per_second) as connection:
        pulp = Pulp(connection, target.base_url, Login(target.username, target.password))
        if log_in:
            pulp.log_in()
        yield pulp
