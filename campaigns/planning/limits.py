"""Compare the load of a run with the limits of the owners of a server."""

from campaigns.kinds.base import Driver
from campaigns.kit.mappings import Levels, Parameters
from campaigns.targets.allowed import Allowed


def excess_of(allowed: Allowed, driver: Driver, parameters: Parameters) -> str:
    """Return why a run with these parameters exceeds the limits; empty where it does not."""
    concurrent, most = driver.concurrency(parameters), allowed.most_concurrent
    if concurrent is None or most is None or concurrent <= most:
        return ""
    return (
        f"{concurrent:,} requests at a time are more than the {most:,} that the owner of "
        f"{allowed.by_whom} allows. Take fewer, or have the owner raise the limit."
    )


def excess_at(allowed: Allowed, driver: Driver, parameters: Parameters, cell: Levels) -> str:
    """Return why the runs of a cell exceed the limits, with the name of the cell."""
    excess = excess_of(allowed, driver, {**parameters, **cell})
    return f"At {cell_label(cell)}: {excess}" if excess and cell else excess


def cell_label(cell: Levels) -> str:
    """Name a cell by its levels."""
    return ", ".join(f"{name} {level}" for name, level in cell.items())
