"""Read the primary contrast of a campaign: two levels of one factor."""

from collections.abc import Mapping, Sequence
from typing import Annotated, Any

from msgspec import Meta, Struct

from campaigns.kinds.base import Driver
from campaigns.kit.mappings import Contrast, Levels
from campaigns.kit.structs import Problems, converted
from campaigns.planning.levels import same_level
from campaigns.planning.plan import pairs_of

PATH = "primary_contrast"
EXAMPLE = "Give factor, candidate and baseline, such as {“factor”: “concurrency”, …}."

MOST_OTHERS = 20
"""Names in “at”; a campaign has fewer factors. What is longer is not looked into."""

Factors = Mapping[str, Sequence[Any]]
Level = Annotated[
    str | int | float | bool | None,
    Meta(extra={"message": "Give one level, not a list or an object."}),
]


class StatedContrast(Struct, frozen=True, omit_defaults=True, forbid_unknown_fields=True):
    """The comparison that answers the question, as somebody states it: of two levels one or none need be named."""

    factor: Annotated[
        str | None,
        Meta(
            description="The factor that the two levels are of; the only one that can be compared unless given.",
            extra={"message": "Give the name of a factor."},
        ),
    ] = None
    candidate: Annotated[Level, Meta(description="The level that is compared.")] = None
    baseline: Annotated[Level, Meta(description="The level that it is compared with.")] = None
    at: Annotated[
        Annotated[dict[str, Level], Meta(max_length=MOST_OTHERS)] | None,
        Meta(
            description="Levels of the other factors; all of them unless given.",
            extra={
                "message": "Give “at” as levels by factor, or leave it out to take all combinations.",
                "may_be_empty": True,
            },
        ),
    ] = None


class _Wrong(ValueError):
    """The input names no contrast of this campaign; the message explains why."""


def contrast_in(values: Any, errors: dict[str, list[str]]) -> StatedContrast | None:
    """Return a contrast from JSON; None where none is stated, or its errors are noted below PATH."""
    if values in (None, "") or values == {}:
        return None
    if not isinstance(values, Mapping):
        errors[PATH] = [EXAMPLE]
        return None
    wrong = Problems()
    stated = converted(values, StatedContrast, wrong, PATH)
    errors.update(wrong)
    return None if wrong else stated


def read_contrast(
    stated: StatedContrast | None,
    driver: Driver,
    factors: Factors,
    cells: Sequence[Levels],
    paired: tuple[str, Any],
    errors: dict[str, list[str]],
    work: Sequence[str] | None = None,
    loads: Sequence[str] | None = None,
) -> Contrast | None:
    """Return the contrast, or None where none is named; add its errors at PATH.

    cells: the measured ones. paired: factor and baseline of a paired campaign, empty and None in other
    orders. work, loads: factors that change what work is done, and how much is asked at once; None: those
    of the kind.
    """
    if stated in (None, StatedContrast()):
        return None
    try:
        return _contrast(
            stated,
            driver,
            factors,
            cells,
            paired,
            driver.work if work is None else work,
            driver.load if loads is None else loads,
        )
    except _Wrong as wrong:
        errors[PATH] = [str(wrong)]
        return None


def _contrast(
    stated: StatedContrast,
    driver: Driver,
    factors: Factors,
    cells: Sequence[Levels],
    paired: tuple[str, Any],
    work: Sequence[str],
    loads: Sequence[str],
) -> Contrast:
    other_work = [name for name in work if name not in driver.addresses]
    factor = _factor(stated.factor, other_work, loads, factors, paired[0])
    baseline, candidate = _two_levels(stated, driver, factors[factor], factor, paired)
    contrast = {
        "factor": factor,
        "candidate": candidate,
        "baseline": baseline,
        "at": _other_levels(stated.at or {}, driver, factors, factor),
    }
    if not pairs_of(contrast, cells):
        where = f" at {_text(contrast['at'])}" if contrast["at"] else ""
        raise _Wrong(
            f"{candidate} and {baseline} are measured together nowhere{where}: a combination of them "
            "is excluded. Choose other levels, or measure both."
        )
    return contrast


def _factor(
    name: str | None, work: Sequence[str], loads: Sequence[str], factors: Factors, paired: str
) -> str:
    several = [known for known, levels in factors.items() if len(levels) > 1]
    possible = [known for known in several if known not in work and known not in loads]
    if not name and len(possible) == 1:
        name = possible[0]
    if name in loads:
        raise _Wrong(
            f"{name} is load: its levels are not judged against each other. Choose two levels of a "
            "setting; it is compared at each load."
        )
    if name in several and name not in possible:
        raise _Wrong(f"Cells of another {name} do other work, and are not compared.")
    if name not in possible:
        text = f"“{str(name)[:40]}” is none" if name else "Say of which"
        these = f": {', '.join(possible)}" if possible else "; nothing varies that can be compared"
        raise _Wrong(f"It is between two levels of one factor. {text}{these}.")
    if paired and name != paired:
        raise _Wrong(
            f"In a paired campaign it is between the levels of the paired factor, {paired}."
        )
    return str(name)


def _two_levels(
    stated: StatedContrast,
    driver: Driver,
    levels: Sequence[Any],
    factor: str,
    paired: tuple[str, Any],
) -> tuple[Any, Any]:
    """Return baseline and candidate; of two levels the first is the baseline, or that of the pairs."""
    two = len(levels) == 2
    baseline: Any = stated.baseline
    if _is_empty(baseline) and two:
        baseline = paired[1] if paired[0] else levels[0]
    baseline = _level(baseline, "baseline", driver, levels, factor)
    candidate: Any = stated.candidate
    if _is_empty(candidate) and two:
        candidate = next(level for level in levels if level != baseline)
    candidate = _level(candidate, "candidate", driver, levels, factor)
    if baseline == candidate:
        raise _Wrong(f"Candidate and baseline are both {baseline}; choose two levels.")
    if paired[0] and baseline != paired[1]:
        raise _Wrong(f"The pairs are judged against {paired[1]}; that is the baseline here, too.")
    return baseline, candidate


def _level(values: Any, side: str, driver: Driver, levels: Sequence[Any], factor: str) -> Any:
    known = ", ".join(str(level) for level in levels[:20])
    if _is_empty(values):
        raise _Wrong(f"Say which level is the {side}: {known}.")
    same = same_level(driver.parameters.base_fields.get(factor), values, levels)
    if not same:
        raise _Wrong(f"“{str(values)[:60]}” is not a level of {factor}; there are {known}.")
    return same[0]


def _other_levels(at: Levels, driver: Driver, factors: Factors, factor: str) -> Levels:
    """Return the levels of the other factors at which the contrast is."""
    if factor in at:
        raise _Wrong(f"It is between two levels of {factor}; “at” names levels of other factors.")
    return {
        str(name): _level(level, "one that it is at", driver, _levels_of(name, factors), str(name))
        for name, level in at.items()
    }


def _levels_of(name: Any, factors: Factors) -> Sequence[Any]:
    if name not in factors:
        known = ", ".join(factors)
        raise _Wrong(f"“{str(name)[:40]}” in “at” does not vary; what varies is {known}.")
    return factors[name]


def _is_empty(value: Any) -> bool:
    return value is None or value == ""


def _text(levels: Levels) -> str:
    return ", ".join(f"{name} {level}" for name, level in levels.items())
