"""Fields that choose the primary contrast: two levels of one factor, and where. No HTML, no database."""

import re
from collections.abc import Callable, Mapping, Sequence
from itertools import islice, product

from django import forms

from campaigns.kit.charts.labels import as_text, inside
from campaigns.kit.mappings import Contrast, JsonObject

PATH = "primary_contrast"
NAMES = (f"{PATH}.candidate", f"{PATH}.baseline", f"{PATH}.at")
MOST_CHOICES = 300
NEXT_PAIR = re.compile(r",(?=\s*[A-Za-z_]\w*\s*=)")
"""The comma between two pairs of name and level; other commas are part of a level."""

LevelTexts = Mapping[str, Sequence[str]]


class ContrastForm(forms.Form):
    """Candidate, baseline, and levels of the other factors, as far as the factors allow."""

    def __init__(
        self,
        factors: LevelTexts,
        values: Mapping[str, str],
        *,
        only: str = "",
        not_among: Sequence[str] = (),
        label_of: Callable[[str], str] = str,
    ) -> None:
        """Create the fields from the levels by factor, as text.

        only: the paired factor, where there is one. not_among: factors whose cells are not compared. label_of: how people call a factor.
        """
        super().__init__(initial={name: values.get(name, "") for name in NAMES})
        self.fields |= _fields(factors, values, only, not_among, label_of)


def _fields(
    factors: LevelTexts,
    values: Mapping[str, str],
    only: str,
    not_among: Sequence[str],
    label_of: Callable[[str], str],
) -> dict[str, forms.Field]:
    candidate, baseline, where = (values.get(name, "") for name in NAMES)
    varied = {name: levels for name, levels in factors.items() if len(levels) > 1}
    possible = {
        name: levels
        for name, levels in varied.items()
        if name not in not_among and only in ("", name)
    }
    several = len(possible) > 1
    levels = [
        (f"{name}={level}", f"{inside(label_of(name))} {level}" if several else level)
        for name, levels in possible.items()
        for level in levels
    ]
    factor = (candidate or baseline).partition("=")[0] or next(iter(possible), "")
    others = {name: levels for name, levels in varied.items() if name != factor}
    places = [
        (
            ", ".join(f"{name}={level}" for name, level in zip(others, each, strict=True)),
            ", ".join(
                f"{inside(label_of(name))} {level}"
                for name, level in zip(others, each, strict=True)
            ),
        )
        for each in islice(product(*others.values()), MOST_CHOICES if others else 0)
    ]
    return {
        NAMES[0]: _select(
            "Primary contrast",
            candidate,
            [("", "none: all comparisons have equal weight"), *levels],
            "The comparison that answers the question comes first, and a stop by precision waits "
            "for it alone. Locked at launch.",
        ),
        NAMES[1]: _select(
            "against", baseline, [("", "choose its baseline"), *levels], "Its baseline."
        ),
        NAMES[2]: _select(
            "at",
            where,
            [("", "all combinations: the mean change"), *places],
            "Levels of the other factors.",
        ),
    }


def as_entered(contrast: Contrast | None) -> dict[str, str]:
    """Write a stored contrast as the fields hold it."""
    if not contrast:
        return dict.fromkeys(NAMES, "")
    factor = contrast["factor"]
    where = ", ".join(f"{name}={as_text(level)}" for name, level in contrast["at"].items())
    sides = [f"{factor}={as_text(contrast[side])}" for side in ("candidate", "baseline")]
    return dict(zip(NAMES, [*sides, where], strict=True))


def read_entered(values: Mapping[str, str]) -> tuple[Contrast, str]:
    """Return the contrast as input of `check`, and the error of the choice.

    Without a choice the contrast is an empty dictionary.
    """
    result: JsonObject = {}
    for side, name in zip(("candidate", "baseline"), NAMES, strict=False):
        factor, equals, level = values.get(name, "").partition("=")
        if not equals:
            continue
        if result and result["factor"] != factor:
            first = result["candidate"]
            return {}, (
                f"{first} is a level of {result['factor']}, {level} one of {factor}: choose two levels "
                "of one factor."
            )
        result |= {"factor": factor, side: level}
    where = values.get(NAMES[2], "")
    if result and where:
        parts = [part.partition("=") for part in NEXT_PAIR.split(where)]
        if not all(equals and name.strip() for name, equals, _ in parts):
            return {}, "This is no combination; write name=level, and a comma between two."
        result["at"] = {name.strip(): level.strip() for name, _, level in parts}
    return result, ""


def _select(
    label: str, chosen: str, options: Sequence[tuple[str, str]], hint: str
) -> forms.ChoiceField:
    shown = list(options[:MOST_CHOICES])
    if chosen not in {value for value, _ in shown}:
        shown.append((chosen, chosen.replace("=", " ")))
    return forms.ChoiceField(choices=shown, label=label, help_text=hint)
