"""Coordinates of small curves in a box of 120 x 32. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

LEFT, RIGHT, TOP, BOTTOM = 4.0, 116.0, 4.0, 28.0


@dataclass(frozen=True, slots=True)
class Spark:
    """Points of a curve from left to right; higher values are higher up."""

    points: tuple[tuple[str, str], ...]

    @property
    def line(self) -> str:
        """The points as a polyline takes them."""
        return " ".join(f"{x},{y}" for x, y in self.points)


def spark(values: Sequence[float | None]) -> Spark | None:
    """Place the values evenly; one that is missing leaves its place empty. None below two."""
    known = [value for value in values if value is not None]
    if len(known) < 2:
        return None
    low, high = min(known), max(known)
    spread = (high - low) or 1.0
    step = (RIGHT - LEFT) / (len(values) - 1)
    return Spark(
        tuple(
            (
                f"{LEFT + index * step:.1f}",
                f"{BOTTOM - (value - low) / spread * (BOTTOM - TOP):.1f}",
            )
            for index, value in enumerate(values)
            if value is not None
        )
    )
