"""The closed loop of a campaign: a fixed number of requests at a time, to which the Universal Scalability Law may be fitted.

Drivers declare theirs (`Driver.closed_loop`); submitted runs have the one that was declared with them. None is derived from names
or numbers. A rate that is offered, and hosts that all start at one instant and end (registration with `start = barrier`), give
throughput and response times, too, and no steady number at a time: Little's law can hold for both by accident.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.kit.mappings import Json
from campaigns.kit.units import UNITS
from campaigns.models import Campaign
from campaigns.planning.metrics import driver_if_known, metrics_of
from campaigns.planning.roles import Role

SIZES = re.compile(r"([kKMGT]i?)?(B|b|bit|bits|bytes)/s")
"""Units that count bytes: their throughput says nothing of requests."""
RATE = re.compile(r"(?i)(.*[_ -])?(rate|rps|qps|tps|iops|per[_ -]s(econd)?)\Z")
"""Names of rates that are offered: as many requests begin, however many are still being answered."""


@dataclass(frozen=True, slots=True)
class Loop:
    """A closed loop. parameter: the factor that is the number at a time.

    throughput: the metric of completions per second. response: a distribution of the times of requests, or a metric of their mean
    with its seconds in one unit; empty where nobody timed them. series: the throughput over the run; empty where it is not stored.
    """

    parameter: str
    throughput: str
    response: str = ""
    series: str = ""
    response_seconds: float | None = None


def loop_of(campaign: Campaign) -> Loop | None:
    """Return the closed loop of a campaign whose number at a time varies; None without one."""
    loop = _declared(campaign) if campaign.closed_loop else _of_kind(campaign)
    if loop is None or loop.parameter not in {factor.name for factor in campaign.factors.all()}:
        return None
    return loop


def is_offered_rate(name: str) -> bool:
    """Return whether the name of a load is that of an offered rate: nothing is interpolated over it, and it is no closed loop."""
    return bool(RATE.match(name))


def is_offered(campaign: Campaign, load: str) -> bool:
    """Return whether a load is offered at a rate, whatever the target does: by its kind, or by its name."""
    loop = loop_of(campaign)
    if loop is not None and loop.parameter == load:
        return False
    driver = driver_if_known(campaign.kind)
    return is_offered_rate(load) or bool(driver and driver.offers_rate(campaign.parameters))


def _of_kind(campaign: Campaign) -> Loop | None:
    driver = driver_if_known(campaign.kind)
    closed = driver is not None and not driver.offers_rate(campaign.parameters)
    loop = driver.closed_loop if driver and closed else None
    return Loop(loop.parameter, loop.throughput, loop.response, loop.series) if loop else None


def _declared(campaign: Campaign) -> Loop:
    stored = campaign.closed_loop or {}
    response = stored.get("response", "")
    units = {metric.name: metric.unit for metric in metrics_of(campaign)}
    return Loop(
        stored["parameter"],
        stored["throughput"],
        response,
        response_seconds=UNITS[units[response]].factor if response else None,
    )


def read_loop(
    requested: Json,
    factors: Mapping[str, Sequence[Any]],
    roles: Mapping[str, str],
    metrics: Mapping[str, tuple[str, bool | None]],
    errors: dict[str, list[str]],
) -> dict[str, str] | None:
    """Return a submitted closed loop as it is stored; None with its errors, by path.

    roles: of the factors that have one. metrics: unit, and whether lower is better, by name.
    """
    before = len(errors)
    if any(not isinstance(each, str) for each in requested.values()):
        errors["campaign.closed_loop"] = [
            "Name metrics: {“throughput”: “rate”, “response”: “latency”}."
        ]
        return None
    loads = [name for name, role in roles.items() if role == Role.LOAD and name in factors]
    parameter = requested.get("parameter") or (loads[0] if len(loads) == 1 else "")
    if message := _not_a_number_at_a_time(parameter, factors, loads):
        errors["campaign.closed_loop.parameter"] = [message]
    throughput = requested.get("throughput", "")
    if message := _no_throughput(throughput, metrics):
        errors["campaign.closed_loop.throughput"] = [message]
    response = requested.get("response", "")
    if response and (message := _no_response(response, metrics)):
        errors["campaign.closed_loop.response"] = [message]
    if len(errors) > before:
        return None
    return {"parameter": parameter, "throughput": throughput, "response": response}


def _not_a_number_at_a_time(
    parameter: str, factors: Mapping[str, Sequence[Any]], loads: Sequence[str]
) -> str:
    if not parameter:
        known = f"{', '.join(loads)} are" if loads else "none is"
        return f"Name the tag that is the number at a time; of the tags {known} declared as load."
    if parameter not in factors:
        return (
            f"“{parameter[:60]}” does not vary; what varies is {', '.join(factors) or 'nothing'}."
        )
    if loads and parameter not in loads:
        return f"“{parameter[:60]}” is not declared as load in `roles`; {', '.join(loads)} is."
    if is_offered_rate(parameter):
        return (
            f"“{parameter[:60]}” is a rate that is offered, by its name: it keeps up no number at a time, so the law does not "
            "hold. Leave out `closed_loop`; or give the tag a name that says what is counted, such as clients."
        )
    for level in factors[parameter]:
        if isinstance(level, bool) or not isinstance(level, int | float) or level <= 0:
            return f"Its levels are numbers at a time, above 0; “{str(level)[:60]}” is none."
    return ""


def _no_throughput(name: str, metrics: Mapping[str, tuple[str, bool | None]]) -> str:
    if not name:
        return "Name the metric of completions per second."
    if name not in metrics:
        return f"There is no metric “{name[:60]}”; there are {', '.join(metrics)}."
    unit, lower_is_better = metrics[name]
    if not re.fullmatch(r"\S+/s", unit) or SIZES.fullmatch(unit):
        return f"It is in {unit}; completions are counted per second, such as 1/s or requests/s."
    if lower_is_better is not False:
        return "Of completions per second more is better: declare it with `lower_is_better: false`."
    return ""


def _no_response(name: str, metrics: Mapping[str, tuple[str, bool | None]]) -> str:
    if name not in metrics:
        return f"There is no metric “{name[:60]}”; there are {', '.join(metrics)}."
    unit, lower_is_better = metrics[name]
    if unit not in UNITS or UNITS[unit].dimension != "time":
        return f"It is in {unit}; send the mean response time of a run in s, ms or µs."
    if lower_is_better is not True:
        return "Of response times less is better: declare it with `lower_is_better: true`."
    return ""
