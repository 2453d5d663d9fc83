"""Long labels, shortened to the part that tells them apart. Pure."""

from collections.abc import Sequence

LONG = 28
"""Labels with more characters are shortened."""


def told_apart(texts: Sequence[str]) -> dict[str, str]:
    """Cut what all begin and end with, at a slash or a comma, where one of them is long."""
    if max(map(len, texts), default=0) <= LONG or len(texts) < 2:
        return {text: _clipped(text) for text in texts}
    front = _cut(texts)
    back = _cut([text[front:][::-1] for text in texts])
    return {text: _clipped(text[front : len(text) - back] or text) for text in texts}


def _cut(texts: Sequence[str]) -> int:
    """Length of what all begin with, up to its last slash or comma."""
    first, last = min(texts), max(texts)
    same = (
        index for index, pair in enumerate(zip(first, last, strict=False)) if len(set(pair)) > 1
    )
    common = first[: next(same, len(first))]
    return max(common.rfind("/"), common.rfind(",")) + 1


def _clipped(text: str) -> str:
    return text if len(text) <= 2 * LONG else f"{text[: LONG - 1]}…{text[-LONG:]}"
