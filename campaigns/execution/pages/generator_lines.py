"""The generators of one attempt, as a table."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime

from campaigns.kit.charts import formats
from campaigns.models import Generator

TONES = {
    Generator.State.DONE: "pass",
    Generator.State.FAILED: "fail",
    Generator.State.LATE: "fail",
}
HEALTH_TONES = {"healthy": "pass", "warned": "warn", "saturated": "fail"}


@dataclass(frozen=True, slots=True)
class GeneratorLine:
    """One generator. tone, health_tone: of its state, and of how it did."""

    name: str
    place: str
    state: str
    tone: str
    reason: str
    clock: str
    start_at: datetime | None
    cpu: str
    lag: str
    descriptors: str
    ports: str
    health: str
    health_tone: str
    reasons: tuple[str, ...]


def generator_lines(rows: Iterable[Generator]) -> tuple[GeneratorLine, ...]:
    """Write them, the parts of an attempt one after the other."""
    rows = list(rows)
    several = len({row.part for row in rows}) > 1
    return tuple(
        GeneratorLine(
            name=f"{row.part}.{row.number}" if several else str(row.number),
            place=f"{row.worker} on {row.host}" if row.worker else f"pool {row.pool}",
            state=row.get_state_display(),
            tone=TONES.get(Generator.State(row.state), "info"),
            reason=row.reason,
            clock=_clock(row),
            start_at=row.start_at,
            cpu=_of("{:.2f}", row.health_figures, "busiest_process_cores", "cpu_cores"),
            lag=_lag(row.health_figures),
            descriptors=_used(row.health_figures, "descriptors", "descriptor_limit"),
            ports=_used(row.health_figures, "ports_in_use", "ports"),
            health=row.health,
            health_tone=HEALTH_TONES.get(row.health, "warn"),
            reasons=tuple(row.health_reasons),
        )
        for row in rows
    )


def _clock(row: Generator) -> str:
    """The offset that the start was converted with, in milliseconds."""
    if row.clock_offset_seconds is None or row.clock_uncertainty_seconds is None:
        return "—"
    offset, uncertain = row.clock_offset_seconds * 1000, row.clock_uncertainty_seconds * 1000
    places = 1 if uncertain >= 0.1 else 3
    return f"{offset:+.{places}f} ± {uncertain:.{places}f} ms"


def _of(form: str, figures: Mapping[str, float], *names: str) -> str:
    return next((form.format(figures[name]) for name in names if name in figures), "—")


def _lag(figures: Mapping[str, float]) -> str:
    seconds = figures.get("loop_lag_p99_seconds")
    return "—" if seconds is None else f"{seconds * 1000:.2f} ms"


def _used(figures: Mapping[str, float], used: str, most: str) -> str:
    if used not in figures:
        return "—"
    limit = f" of {formats.number(figures[most])}" if figures.get(most) else ""
    return f"{formats.number(figures[used])}{limit}"
