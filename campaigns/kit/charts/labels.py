"""Labels of levels and contrasts; long ones are shortened to their differences. Pure."""

from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.kit.numbers import number

LONG = 28
"""Labels with more characters are shortened."""


def short_labels(texts: Sequence[str]) -> dict[str, str]:
    """Remove what all texts begin and end with, up to a slash or comma, if one of them is long."""
    if max(map(len, texts), default=0) <= LONG or len(texts) < 2:
        return {text: _clipped(text) for text in texts}
    front = _cut(texts)
    back = _cut([text[front:][::-1] for text in texts])
    return {text: _clipped(text[front : len(text) - back] or text) for text in texts}


def _cut(texts: Sequence[str]) -> int:
    """Return the length of the common beginning, up to its last slash or comma."""
    first, last = min(texts), max(texts)
    same = (
        index for index, pair in enumerate(zip(first, last, strict=False)) if len(set(pair)) > 1
    )
    common = first[: next(same, len(first))]
    return max(common.rfind("/"), common.rfind(",")) + 1


def _clipped(text: str) -> str:
    return text if len(text) <= 2 * LONG else f"{text[: LONG - 1]}…{text[-LONG:]}"


def contrast_label(contrast: Mapping[str, Any]) -> str:
    """Return the label of a primary contrast: “concurrency 7 vs. 5, at engine asyncio”."""

    def named(factor: str, level: Any) -> str:
        text = number(level) if isinstance(level, float) else _clipped(str(level))
        return f"{factor.replace('_', ' ')} {text}"

    baseline = named("", contrast["baseline"]).strip()
    label = f"{named(contrast['factor'], contrast['candidate'])} vs. {baseline}"
    where = ", ".join(named(factor, level) for factor, level in contrast["at"].items())
    return f"{label}, at {where}" if where else label
