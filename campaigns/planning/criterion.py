"""The criterion of a campaign: conditions that a cell has to keep. Pure.

It is locked at launch. With a factor that is load it says what “carried” means; without one each cell passes
or does not. Where a campaign states none, its failure limit is the only condition of a capacity.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Annotated, Any

import msgspec
from django.core.exceptions import ValidationError
from msgspec import Meta, Struct
from msgspec.structs import replace

from campaigns.kinds.base import Metric
from campaigns.kit.forms import DurationField
from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.numbers import bound, plain, plain_percent
from campaigns.kit.structs import Problems, converted, leaf
from campaigns.kit.units import UNITS, UnknownUnit, convert, written
from campaigns.planning.leaves import NUMBER, Bounded, finite

PATH = "criterion"
DEFAULT_RESOLUTION = 1.5
"""The largest ratio of both ends of an interval at which a capacity is stated."""
LARGEST_RESOLUTION = 100.0
MOST_CONDITIONS = 10
LEAST_FAILED, MOST_FAILED = 0.1, 99.0
"""Percentages: a share of 0 is shown by no number of runs."""
SIDES = {"at_most": "at most", "at_least": "at least"}
EXAMPLE = "{“conditions”: [{“metric”: “duration”, “at_most”: 180}], “failed_percent”: 5}"
Limit = Annotated[
    float | str | None, Meta(extra={"message": "Give a number, or a text such as “180 s”."})
]


BOUND = {"anyOf": [{"type": "number"}, {"type": "string"}]}
"""Of one that is stated: a condition has one bound, and no null for the other one."""


class Condition(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """A bound of a metric; exactly one of `at_most` and `at_least` is set. Checked, it is a number in the unit of the metric."""

    metric: Annotated[str, Meta(description="The metric that is bounded.")] = ""
    at_most: Annotated[
        Limit, Meta(description="Where lower is better.", extra_json_schema=BOUND)
    ] = None
    at_least: Annotated[
        Limit, Meta(description="Where higher is better.", extra_json_schema=BOUND)
    ] = None

    @property
    def limit(self) -> float:
        """The bound."""
        return float(self.at_most if self.at_most is not None else (self.at_least or 0.0))

    @property
    def side(self) -> str:
        """The name of the field that is set."""
        return "at_most" if self.at_most is not None else "at_least"


OneSided = Annotated[
    Condition,
    Meta(
        extra={"message": "Give an object such as {“metric”: “duration”, “at_most”: 180}."},
        extra_json_schema={
            "required": ["metric"],
            "minProperties": 2,
            "maxProperties": 2,
        },
    ),
]


class Criterion(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """Conditions that hold together. failed_percent: of the work of a cell that may fail; None: the campaign's failure limit."""

    conditions: Annotated[
        list[OneSided],
        Meta(
            max_length=MOST_CONDITIONS,
            description="Bounds of metrics, which hold together.",
            extra={"message": f"Give a list, such as {EXAMPLE}.", "may_be_empty": True},
        ),
    ] = []
    failed_percent: Annotated[
        float | None,
        leaf(
            Bounded(
                least=LEAST_FAILED,
                most=MOST_FAILED,
                unit="%",
                label="Allowed failures",
                help_text="Percent of a cell's work. Empty: the failure limit.",
                refusal=f"is out of range; give {plain(LEAST_FAILED)} to {plain(MOST_FAILED)}: the percentage of "
                "failures that is allowed.",
            )
        ),
    ] = None
    resolution: Annotated[
        float,
        leaf(
            Bounded(
                least=1,
                beyond=True,
                most=LARGEST_RESOLUTION,
                initial=DEFAULT_RESOLUTION,
                label="Resolution of a capacity",
                help_text="A capacity is stated when the upper end of its interval is at most this many times the lower one. "
                f"Empty: {plain(DEFAULT_RESOLUTION)}.",
                refusal=f"is out of range; give a number above 1, at most {plain(LARGEST_RESOLUTION)}: the largest ratio "
                "of the ends of the interval at which a capacity is stated.",
            )
        ),
    ] = DEFAULT_RESOLUTION

    @property
    def is_set(self) -> bool:
        """Whether somebody stated a condition."""
        return bool(self.conditions) or self.failed_percent is not None


def criterion_of(stored: Json) -> Criterion:
    """Return `Campaign.criterion` as a struct."""
    return msgspec.convert(stored, Criterion)


def as_json(criterion: Criterion) -> JsonObject:
    """Return it as `Campaign.criterion` and a definition hold it; empty where nothing is stated."""
    usual = Criterion()  # msgspec leaves out defaults that are the same object, not equal ones
    stated = msgspec.to_builtins(criterion).items()
    return {name: value for name, value in stated if value != getattr(usual, name)}


def read_criterion(
    values: Any,
    metrics: Sequence[Metric],
    errors: dict[str, list[str]],
    time_limit: tuple[str, float] | None = None,
) -> JsonObject:
    """Return the criterion as it is stored, from JSON; add its errors below PATH. See `check_criterion`."""
    if values in (None, "") or values == {}:
        return {}
    if not isinstance(values, Mapping):
        errors[PATH] = [f"Give an object such as {EXAMPLE}."]
        return {}
    wrong = Problems()
    stated = converted(values, Criterion, wrong, PATH)
    errors.update(wrong)
    return check_criterion(stated, metrics, errors, time_limit)


def check_criterion(
    stated: Criterion,
    metrics: Sequence[Metric],
    errors: dict[str, list[str]],
    time_limit: tuple[str, float] | None = None,
) -> JsonObject:
    """Return the criterion as it is stored, limits in the units of their metrics; add what is wrong below PATH.

    metrics: those of the campaign. errors: with those of reading. time_limit: parameter and seconds after which the client
    gives up an answer; None where the kind has none.
    """
    read: list[tuple[int, Condition]] = []
    for number, each in enumerate(stated.conditions):
        path = f"{PATH}.conditions.{number}"
        if _is_noted(errors, path):
            continue
        try:
            read.append((number, _condition(each, metrics)))
        except ValidationError as problem:
            errors[path] = problem.messages
    for number, message in _contradictions(read, metrics):
        errors.setdefault(f"{PATH}.conditions.{number}", []).append(message)
    for number, condition in read:
        if (path := f"{PATH}.conditions.{number}") not in errors:
            for message in _unfit(condition, _metric(condition.metric, metrics), time_limit):
                errors.setdefault(path, []).append(message)
    if _is_noted(errors, PATH):
        return {}
    return as_json(replace(stated, conditions=[each for _, each in read]))


def _is_noted(errors: Mapping[str, Any], path: str) -> bool:
    """Return whether something at a path or below it is wrong."""
    return any(f"{noted}.".startswith(f"{path}.") for noted in errors)


def _condition(stated: Condition, metrics: Sequence[Metric]) -> Condition:
    metric = _metric(stated.metric, metrics)
    sides = [side for side in SIDES if getattr(stated, side) not in (None, "")]
    if len(sides) != 1:
        what = "both bounds" if sides else "no bound"
        raise ValidationError(f"{metric.name} has {what}; give one of at_most and at_least.")
    bounds = {**dict.fromkeys(SIDES), sides[0]: _limit(getattr(stated, sides[0]), metric)}
    return replace(stated, metric=metric.name, **bounds)


def _metric(name: str, metrics: Sequence[Metric]) -> Metric:
    for metric in metrics:
        if metric.name == name:
            return metric
    known = ", ".join(metric.name for metric in metrics if metric.directed)
    if not name:
        raise ValidationError(f"Choose a metric for this limit: {_shortened(known)}.")
    raise ValidationError(
        f"“{name[:60]}” is not a metric of this campaign; there are {_shortened(known)}."
    )


def _shortened(names: str) -> str:
    parts = names.split(", ")
    return ", ".join(parts[:30]) + (f" and {len(parts) - 30} more" if len(parts) > 30 else "")


def _limit(value: float | str, metric: Metric) -> float:
    """Return a bound in the unit of its metric. Raise ValidationError for another unit."""
    limit = _in_unit(value, metric)
    if limit <= 0:
        raise ValidationError(
            f"The limit of {metric.name} is {plain(limit)}; give one above 0: values are compared on a "
            "logarithmic scale. Allowed failures are limited by failed_percent."
        )
    return limit


def _in_unit(value: float | str, metric: Metric) -> float:
    if not isinstance(value, str):
        return finite(value)
    text = " ".join(value.split())
    match = NUMBER.fullmatch(text)
    unit = metric.unit or "count"
    if match and re.match(r",\d", match[2]):
        raise ValidationError(
            f"“{text[:40]}” has a comma: write a point before decimals, and nothing between thousands."
        )
    if match is None:
        raise ValidationError(
            f"“{value[:40]}” is not a limit: give a number in {unit}"
            f"{', such as 180, “180 s” or “3 min”' if unit == 's' else ''}."
        )
    number, symbol = finite(float(match[1])), match[2]
    if symbol in ("", unit):
        return number
    if unit in UNITS and UNITS[unit].dimension == "time" and number >= 0:
        with suppress(ValidationError):
            return finite(convert(float(DurationField().to_python(text)), "s", unit))
    symbol = {"us": "µs", "μs": "µs"}.get(symbol, symbol)
    try:
        return finite(convert(number, symbol, unit))
    except UnknownUnit:
        raise ValidationError(
            f"“{text[:40]}” is in {symbol[:20]}, and {metric.name} in {unit}: give the limit in {unit}"
            f"{_others(unit)}."
        ) from None


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
