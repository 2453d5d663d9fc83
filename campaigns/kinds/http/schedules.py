"""The schedule of a run, from its parameters. Pure."""

from campaigns.kinds.load.schedule import OPEN, Schedule
from campaigns.kit.mappings import JsonObject, Parameters


def schedule_values(parameters: Parameters) -> JsonObject:
    """Return the fields of `Schedule`."""
    loop = parameters["loop"]
    return {
        "hosts": parameters["hosts"],
        "loop": loop,
        "rate_per_second": parameters["rate"] if loop == OPEN else None,
        "arrivals": parameters["arrivals"],
        "iterations": parameters["iterations"],
        "duration_seconds": parameters["duration_seconds"],
        "warm_up_seconds": parameters["warm_up_seconds"] if parameters["duration_seconds"] else 0.0,
        "ramp_seconds": parameters["ramp_seconds"],
    }


def schedule_of(parameters: Parameters) -> Schedule:
    """Return the schedule. Raise BadSchedule."""
    return Schedule(**schedule_values(parameters))
