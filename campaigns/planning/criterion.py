"""The criterion of a campaign: conditions that a cell has to keep. Pure.

It is locked at launch. With a factor that is load it says what “carried” means; without one each cell passes
or does not. Where a campaign states none, its failure limit is the only condition of a capacity.
"""

import math
import re
from collections.abc import Iterator, Mapping, Sequence
from decimal import Decimal
from typing import Any

import msgspec
from django.core.exceptions import ValidationError
from msgspec import Struct

from campaigns.kinds.base import Metric
from campaigns.kit.forms import DurationField
from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.numbers import bound, plain, plain_percent
from campaigns.kit.units import UNITS, UnknownUnit, convert, written

PATH = "criterion"
DEFAULT_RESOLUTION = 1.5
"""The largest ratio of both ends of an interval at which a capacity is stated."""
LARGEST_RESOLUTION = 100.0
MOST_CONDITIONS = 10
LEAST_FAILED, MOST_FAILED = 0.1, 99.0
"""Percentages: a share of 0 is shown by no number of runs."""
SIDES = {"at_most": "at most", "at_least": "at least"}
KEYS = ("conditions", "failed_percent", "resolution")
EXAMPLE = "{“conditions”: [{“metric”: “duration”, “at_most”: 180}], “failed_percent”: 5}"


class Condition(Struct, frozen=True, omit_defaults=True):
    """A bound of a metric, in its unit; exactly one of `at_most` and `at_least` is set."""

    metric: str
    at_most: float | None = None
    at_least: float | None = None

    @property
    def limit(self) -> float:
        """The bound."""
        return self.at_most if self.at_most is not None else (self.at_least or 0.0)

    @property
    def side(self) -> str:
        """The name of the field that is set."""
        return "at_most" if self.at_most is not None else "at_least"


class Criterion(Struct, frozen=True, omit_defaults=True):
    """Conditions that hold together. failed_percent: of the work of a cell that may fail; None: the campaign's failure limit."""

    conditions: Sequence[Condition] = ()
    failed_percent: float | None = None
    resolution: float = DEFAULT_RESOLUTION

    @property
    def is_set(self) -> bool:
        """Whether somebody stated a condition."""
        return bool(self.conditions) or self.failed_percent is not None


def criterion_of(stored: Json) -> Criterion:
    """Return `Campaign.criterion` as a struct."""
    return msgspec.convert(stored, Criterion)


def as_json(criterion: Criterion) -> JsonObject:
    """Return it as `Campaign.criterion` and a definition hold it; empty where nothing is stated."""
    result: JsonObject = {}
    if criterion.conditions:
        result["conditions"] = [
            {"metric": each.metric, each.side: each.limit} for each in criterion.conditions
        ]
    if criterion.failed_percent is not None:
        result["failed_percent"] = criterion.failed_percent
    if criterion.resolution != DEFAULT_RESOLUTION:
        result["resolution"] = criterion.resolution
    return result


class _Wrong(ValueError):
    """A value that cannot be part of a criterion; the message explains why."""


def read_criterion(
    values: Any,
    metrics: Sequence[Metric],
    errors: dict[str, list[str]],
    time_limit: tuple[str, float] | None = None,
) -> JsonObject:
    """Return the criterion as it is stored, limits in the units of their metrics; add its errors below PATH.

    metrics: those of the campaign. time_limit: parameter and seconds after which the client gives up an answer;
    None where the kind has none.
    """
    if values in (None, "") or values == {}:
        return {}
    if not isinstance(values, Mapping):
        errors[PATH] = [f"Give an object such as {EXAMPLE}."]
        return {}
    wrong: dict[str, list[str]] = {}
    if unknown := [str(name)[:40] for name in values if name not in KEYS]:
        wrong[PATH] = [f"There is no “{unknown[0]}” in it; there are {', '.join(KEYS)}."]
    sent = values.get("conditions") or []
    if not isinstance(sent, list | tuple):
        wrong[f"{PATH}.conditions"] = [f"Give a list, such as {EXAMPLE}."]
        sent = []
    if len(sent) > MOST_CONDITIONS:
        wrong[f"{PATH}.conditions"] = [f"{len(sent)} conditions; state at most {MOST_CONDITIONS}."]
        sent = []
    read: list[tuple[int, Condition]] = []
    for number, each in enumerate(sent):
        try:
            read.append((number, _condition(each, metrics)))
        except _Wrong as problem:
            wrong[f"{PATH}.conditions.{number}"] = [str(problem)]
    for number, message in _contradictions(read, metrics):
        wrong.setdefault(f"{PATH}.conditions.{number}", []).append(message)
    for number, condition in read:
        if (path := f"{PATH}.conditions.{number}") not in wrong:
            for message in _unfit(condition, _metric(condition.metric, metrics), time_limit):
                wrong.setdefault(path, []).append(message)
    failed = _part(values, "failed_percent", _percentage, wrong)
    resolution = _part(values, "resolution", _ratio, wrong)
    if wrong:
        errors.update(wrong)
        return {}
    return as_json(
        Criterion(
            conditions=[condition for _, condition in read],
            failed_percent=failed,
            resolution=DEFAULT_RESOLUTION if resolution is None else resolution,
        )
    )


def _condition(value: Any, metrics: Sequence[Metric]) -> Condition:
    if not isinstance(value, Mapping):
        raise _Wrong("Give an object such as {“metric”: “duration”, “at_most”: 180}.")
    if unknown := [str(name)[:40] for name in value if name not in ("metric", *SIDES)]:
        raise _Wrong(f"There is no “{unknown[0]}” in it; there are metric, {', '.join(SIDES)}.")
    metric = _metric(value.get("metric"), metrics)
    stated = [side for side in SIDES if value.get(side) not in (None, "")]
    if len(stated) != 1:
        what = "both bounds" if stated else "no bound"
        raise _Wrong(f"{metric.name} has {what}; give one of at_most and at_least.")
    return Condition(metric.name, **{stated[0]: _limit(value[stated[0]], metric)})


def _metric(name: Any, metrics: Sequence[Metric]) -> Metric:
    for metric in metrics:
        if metric.name == name:
            return metric
    known = ", ".join(metric.name for metric in metrics if metric.directed)
    if name in (None, ""):
        raise _Wrong(f"Say of which metric: {_shortened(known)}.")
    raise _Wrong(
        f"“{str(name)[:60]}” is not a metric of this campaign; there are {_shortened(known)}."
    )


def _shortened(names: str) -> str:
    parts = names.split(", ")
    return ", ".join(parts[:30]) + (f" and {len(parts) - 30} more" if len(parts) > 30 else "")


def _limit(value: Any, metric: Metric) -> float:
    """Return a bound in the unit of its metric. Raise _Wrong for another unit."""
    limit = _in_unit(value, metric)
    if limit <= 0:
        raise _Wrong(
            f"The limit of {metric.name} is {plain(limit)}; give one above 0: values are compared on a "
            "logarithmic scale. Work that may fail is limited by failed_percent."
        )
    return limit


NUMBER = re.compile(r"([-+]?(?:\d+\.?\d*|\.\d+)(?:e[-+]?\d+)?)\s*(.*)", re.IGNORECASE | re.ASCII)


def _in_unit(value: Any, metric: Metric) -> float:
    if isinstance(value, int | float) and not isinstance(value, bool):
        return _finite(value)
    text = " ".join(str(value).split()) if isinstance(value, str) else ""
    match = NUMBER.fullmatch(text)
    unit = metric.unit or "count"
    if match and re.match(r",\d", match[2]):
        raise _Wrong(
            f"“{text[:40]}” has a comma: write a point before decimals, and nothing between thousands."
        )
    if match is None:
        raise _Wrong(
            f"“{str(value)[:40]}” is not a limit: give a number in {unit}"
            f"{', such as 180, “180 s” or “3 min”' if unit == 's' else ''}."
        )
    number, symbol = _finite(float(match[1])), match[2]
    if symbol in ("", unit):
        return number
    if unit in UNITS and UNITS[unit].dimension == "time" and number >= 0:
        try:
            return _finite(convert(float(DurationField().to_python(text)), "s", unit))
        except ValidationError:
            pass
    symbol = {"us": "µs", "μs": "µs"}.get(symbol, symbol)
    try:
        return _finite(convert(number, symbol, unit))
    except UnknownUnit:
        raise _Wrong(
            f"“{text[:40]}” is in {symbol[:20]}, and {metric.name} in {unit}: give the limit in {unit}"
            f"{_others(unit)}."
        ) from None


def _finite(value: float) -> float:
    """Return a number as a float. Raise _Wrong for infinity and what is too large for one."""
    try:
        number = float(value)
    except OverflowError:
        number = math.inf
    if not math.isfinite(number):
        raise _Wrong("The number is too large, or none; give an ordinary one.")
    return number


def _others(unit: str) -> str:
    """Return the units that convert into this one, as the end of a sentence."""
    if unit not in UNITS:
        return ""
    same = [
        each.symbol
        for each in UNITS.values()
        if each.dimension == UNITS[unit].dimension and each.symbol != unit
    ]
    return f", or in {', '.join(same)}" if same else ""


def _contradictions(
    conditions: Sequence[tuple[int, Condition]], metrics: Sequence[Metric]
) -> Iterator[tuple[int, str]]:
    """Yield the conditions that repeat or exclude an earlier one of the same metric."""
    for place, (number, condition) in enumerate(conditions):
        for _, former in conditions[:place]:
            if former.metric != condition.metric:
                continue
            unit = _metric(condition.metric, metrics).unit
            if former.side == condition.side:
                yield (
                    number,
                    f"{condition.metric} is limited twice: {_bound(former, unit)} and "
                    f"{_bound(condition, unit)}. Leave one of them out.",
                )
                continue
            most, least = (
                (condition, former) if condition.side == "at_most" else (former, condition)
            )
            if least.limit > most.limit:
                yield (
                    number,
                    f"{condition.metric} cannot be {_bound(most, unit)} and {_bound(least, unit)}. "
                    "Leave one of them out.",
                )


def _unfit(
    condition: Condition, metric: Metric, time_limit: tuple[str, float] | None
) -> Iterator[str]:
    """Yield why a condition does not fit its metric."""
    side = SIDES[condition.side]
    if metric.direction is None:
        yield (
            f"{metric.name} has no better direction, so no bound of it can be kept or broken. Choose "
            "a metric that has one."
        )
        return
    right = "at_most" if metric.lower_is_better else "at_least"
    if condition.side != right:
        better = "Lower" if metric.lower_is_better else "Higher"
        yield (
            f"{better} is better for {metric.name}, so “{side}” would ask for worse values. State "
            f"{right}."
        )
    if time_limit is None or metric.percentile is None or metric.unit not in UNITS:
        return
    name, seconds = time_limit
    if UNITS[metric.unit].dimension == "time":
        limit = convert(condition.limit, metric.unit, "s")
        if limit > seconds:
            yield (
                f"The client waits {written(seconds)} for an answer ({name}): what takes longer is cut off "
                f"there, and no run can show that {metric.name} stays within {written(limit)}. Lower "
                f"the limit, or raise {name}."
            )


def _part(
    values: Json,
    name: str,
    read: Any,
    wrong: dict[str, list[str]],
) -> float | None:
    value = values.get(name)
    if value in (None, ""):
        return None
    try:
        return float(read(value))
    except _Wrong as problem:
        wrong[f"{PATH}.{name}"] = [str(problem)]
        return None


def _number(value: Any, unit: str = "") -> float:
    if isinstance(value, str):
        text = value.strip().removesuffix(unit).strip() if unit else value.strip()
        match = NUMBER.fullmatch(text)
        if match is not None and not match[2]:
            value = float(match[1])
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise _Wrong(f"“{str(value)[:40]}” is not a number{' of percent' if unit else ''}.")
    return _finite(value)


def _percentage(value: Any) -> float:
    percentage = _number(value, "%")
    if not LEAST_FAILED <= percentage <= MOST_FAILED:
        raise _Wrong(
            f"{plain_percent(percentage)} is out of range; give {plain(LEAST_FAILED)} to "
            f"{plain(MOST_FAILED)}: the percentage of the work that may fail."
        )
    return percentage


def _ratio(value: Any) -> float:
    ratio = _number(value)
    if not 1 < ratio <= LARGEST_RESOLUTION:
        raise _Wrong(
            f"{plain(ratio)} is out of range; give a number above 1, at most {plain(LARGEST_RESOLUTION)}: the "
            "largest ratio of the ends of the interval at which a capacity is stated."
        )
    return ratio


def _bound(condition: Condition, unit: str) -> str:
    limit = written(condition.limit) if unit == "s" else bound(condition.limit, unit)
    return f"{SIDES[condition.side]} {limit}"


def amount_text(value: float, unit: str) -> str:
    """Return a chosen limit with its unit; `read_criterion` can read it again."""
    if unit == "s":
        return written(value)
    exact = format(Decimal(repr(value)).normalize(), "f")
    return f"{exact}{f' {unit}' if unit not in ('', 'count') else ''}"


def labels_of(stored: Json, metrics: Sequence[Metric]) -> list[str]:
    """Return each stated condition as a text: “Duration at most 3 min”, “at most 5 % of the work fails”."""
    criterion = criterion_of(stored)
    known = {metric.name: metric for metric in metrics}
    texts = []
    for condition in criterion.conditions:
        metric = known.get(condition.metric)
        name, unit = (metric.label, metric.unit) if metric else (condition.metric, "")
        texts.append(f"{name}: {_bound(condition, unit)}")
    if criterion.failed_percent is not None:
        texts.append(f"at most {plain_percent(criterion.failed_percent)} of the work fails")
    return texts


def text_of(stored: Json, metrics: Sequence[Metric]) -> str:
    """Return a criterion as one text; empty where none is stated."""
    texts = labels_of(stored, metrics)
    if (resolution := criterion_of(stored).resolution) != DEFAULT_RESOLUTION:
        texts.append(f"a capacity within a factor of {plain(resolution)}")
    return "; ".join(texts)


LONGEST_LINE = 500
LINE = re.compile(
    r"\s*(?P<metric>\S+?)\s*(?P<side><=|>=|≤|≥|at most|at least)\s*(?P<limit>.+?)\s*", re.ASCII
)
ONE_SIDE = {"<=": "at_most", "≤": "at_most", "at most": "at_most"}
FAILED = "failed"


def as_lines(stored: Json, metrics: Sequence[Metric]) -> str:
    """Return a criterion as text, a condition a line: “duration <= 3 min”, “failed <= 5 %”."""
    criterion = criterion_of(stored)
    units = {metric.name: metric.unit for metric in metrics}
    lines = [
        f"{each.metric} {'<=' if each.side == 'at_most' else '>='} "
        f"{amount_text(each.limit, units.get(each.metric, ''))}"
        for each in criterion.conditions
    ]
    if criterion.failed_percent is not None:
        lines.append(f"{FAILED} <= {plain_percent(criterion.failed_percent)}")
    if criterion.resolution != DEFAULT_RESOLUTION:
        lines.append(f"resolution {plain(criterion.resolution)}")
    return "\n".join(lines)


def from_lines(text: str) -> tuple[JsonObject, list[str]]:
    """Return the input of `read_criterion` from lines, commas counting as their ends, and what is wrong with them.

    “failed” with a percentage is the share of the work that may fail; a metric of that name is written with a
    number.
    """
    result: JsonObject = {}
    wrong = []
    conditions: list[JsonObject] = []
    for number, line in enumerate(re.split(r"[\r\n;]+|,(?!\d)", text), start=1):
        if not line.strip():
            continue
        first, _, rest = line.strip().partition(" ")
        if first == "resolution" and rest.strip():
            result["resolution"] = rest.strip()
            continue
        match = LINE.fullmatch(line) if len(line) <= LONGEST_LINE else None
        if match is None:
            wrong.append(
                f"Line {number}, “{line.strip()[:60]}”, is no condition; write metric <= limit, such as "
                "duration <= 180 s, or failed <= 5 %."
            )
            continue
        side = ONE_SIDE.get(match["side"], "at_least")
        if match["metric"] == FAILED and match["limit"].endswith("%"):
            if side == "at_least":
                wrong.append(f"Line {number}: the work that fails is limited by <=.")
            result["failed_percent"] = match["limit"]
            continue
        conditions.append({"metric": match["metric"], side: match["limit"]})
    if conditions:
        result["conditions"] = conditions
    return result, wrong
