"""What the page of a run shows of the watches of its target: sources, chart, events, figures, links."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta

import numpy as np
from numpy.typing import NDArray

from campaigns.kit.numbers import amount, counted, duration, number, signed
from campaigns.models import Attempt, Phase, Target, Watched
from campaigns.results.charts import watched
from campaigns.results.charts.watched import Line, Mark, Panel, Span, WatchedChart
from campaigns.results.run_plots import Plot
from campaigns.results.watched import EDGE, STEADY, WatchedRun, WatchedSource, watched_of
from campaigns.stats.binding import RunBinding
from campaigns.targets import links
from campaigns.targets.watches.align import AlignedSeries
from campaigns.targets.watches.base import Key
from campaigns.targets.watches.catalog import OTHERS, OWN, shown_unit, text_of

MEGA, GIGA, PERCENT = 1e6, 1e9, 100.0
STEPS = ("reset", "apply", "measure", "verify")
MODES = ("user", "nice", "system", "irq", "steal", "iowait")
MOST_OF_EACH = 3
"""Disks, cards and queues that are drawn: those with the largest means."""

Series = Mapping[Key, AlignedSeries]
TONES = {Watched.State.WHOLE: "pass", Watched.State.PARTLY: "warn", Watched.State.NOT: "fail"}


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One watch of the target in a run. about: its samples, clock and cost."""

    name: str
    address: str
    state: str
    tone: str
    reason: str
    about: str


@dataclass(frozen=True, slots=True)
class EventLine:
    """An event on the target; `at` is on the run's clock."""

    at: str
    text: str
    matters: bool


@dataclass(frozen=True, slots=True)
class FigureLine:
    """A quantity within the judged window."""

    name: str
    label: str
    mean: str
    p95: str
    largest: str


@dataclass(frozen=True, slots=True)
class LinkLine:
    """A link of the target, opened with the time of the run."""

    title: str
    url: str


@dataclass(frozen=True, slots=True)
class WatchedView:
    """What the page of a run shows of the watches of its target."""

    sources: Sequence[SourceLine]
    plot: Plot | None
    events: Sequence[EventLine]
    figures: Sequence[FigureLine]
    binding: RunBinding | None


def watched_view(attempt: Attempt, phases: Sequence[Phase]) -> WatchedView | None:
    """Return what is shown of an attempt; None where its target had no watch."""
    run = watched_of(attempt)
    if not run.sources:
        return None
    spans = {row.name: row.seconds for row in phases if row.of == Phase.Of.ATTEMPT}
    seconds = spans.get("measure", 0.0)
    window = (EDGE * seconds, (1 - EDGE) * seconds) if seconds else None
    marks = [Mark(each.text, each.at_seconds, each.matters) for each in run.events]
    return WatchedView(
        sources=[_source(each) for each in run.sources],
        plot=watched_plot(series_of(run), attempt, phases, marks, cores_of(run), window),
        events=[
            EventLine(duration(each.at_seconds), each.text, each.matters) for each in run.events
        ],
        figures=[
            FigureLine(
                text_of(each.key.quantity),
                each.key.label,
                *(
                    amount(value, shown_unit(each.key.quantity))
                    for value in (each.mean, each.p95, each.largest)
                ),
            )
            for each in run.summaries
            if each.phase == STEADY
        ],
        binding=run.binding,
    )


def links_of(attempt: Attempt, target: Target | None) -> list[LinkLine]:
    """Return the links of a target, opened with the time of an attempt's measurement; none without a target."""
    begin, end = attempt.measure_started_at, attempt.measure_finished_at or attempt.finished_at
    if begin is None or target is None or not target.links:
        return []
    end = end or begin + timedelta(minutes=5)
    return [
        LinkLine(link["title"], links.opened(link["url"], begin, end, target.name))
        for link in target.links
    ]


def series_of(run: WatchedRun) -> Series:
    """Return the series of all sources; the first source that has a quantity counts."""
    series: dict[Key, AlignedSeries] = {}
    for each in run.series():
        series.setdefault(each.key, each)
    return series


def cores_of(run: WatchedRun) -> float | None:
    """Return the cores of the target's machine; None where no source knows them."""
    known = [source.facts.get("cores") for source in run.sources]
    return next((float(each) for each in known if isinstance(each, int | float) and each > 0), None)


def _source(source: WatchedSource) -> SourceLine:
    state = Watched.State(source.state)
    about = [f"every {number(source.step_seconds)} s", counted(source.frames, "sample")]
    if source.offset_seconds is not None and source.uncertainty_seconds is not None:
        about.append(
            f"clock {signed(1000 * source.offset_seconds, 1)} "
            f"± {signed(1000 * source.uncertainty_seconds, 1).lstrip('+')} ms"
        )
    if source.cpu_seconds is not None and source.frames:
        cost = source.cpu_seconds / (source.frames * source.step_seconds)
        about.append(f"took {amount(cost, 'share')} of one core there")
    return SourceLine(
        name=source.source,
        address=source.address,
        state=str(state.label),
        tone=TONES[state],
        reason=source.reason,
        about=", ".join(about) if source.frames else "",
    )


def watched_plot(
    series: Series,
    attempt: Attempt,
    phases: Sequence[Phase],
    marks: Sequence[Mark],
    cores: float | None,
    window: tuple[float, float] | None = None,
) -> Plot | None:
    """Return the chart of an attempt's series; None where there are none."""
    panels = list(panels_of(series, cores))
    if not panels:
        return None
    chart = WatchedChart(panels, spans_of(attempt, phases), marks, window)
    return Plot(
        id="watched",
        title="What was observed on the target",
        label=watched.describe(chart),
        figure=watched.draw(chart),
        key=watched.key(chart),
        height=watched.height(chart),
        note=_note(chart),
    )


def spans_of(attempt: Attempt, phases: Iterable[Phase]) -> list[Span]:
    """Return the phases of an attempt on its clock: steps are one after another, and measure begins at 0."""
    seconds = {row.name: row.seconds for row in phases if row.of == Phase.Of.ATTEMPT}
    spans: list[Span] = []
    begin = -sum(seconds.get(name, 0.0) for name in STEPS[: STEPS.index("measure")])
    for name in STEPS:
        if name in seconds:
            spans.append(Span(name, begin, begin + seconds[name]))
            begin += seconds[name]
    spans += [
        Span(
            row.name.replace("_", " "), row.started_seconds, row.started_seconds + row.seconds, True
        )
        for row in phases
        if row.of == Phase.Of.MEASURE and row.started_seconds is not None
    ]
    return spans


def panels_of(series: Series, cores: float | None) -> Iterable[Panel]:
    """Yield the panels for which there are series."""
    made = (
        _cpu(series, cores),
        _pressure(series),
        _memory(series),
        _rates(series, "disk", ("disk.read", "disk.written")),
        _shares(series, "disk busy", "disk.busy"),
        _sessions(series),
        _rates(series, "network", ("net.received", "net.sent")),
        _queues(series),
    )
    return (panel for panel in made if panel is not None)


def _cpu(series: Series, cores: float | None) -> Panel | None:
    """Return the CPU by group, else by mode, as shares of the machine where its cores are known."""
    groups = _of(series, "group.cpu")
    named = [(key.label, row) for key, row in groups]
    if named:
        last = (OTHERS, OWN)
        named.sort(key=lambda each: (each[0] in last, -_mean(each[1].values)))
    else:
        named = [
            (mode, series[Key(f"cpu.{mode}")]) for mode in MODES if Key(f"cpu.{mode}") in series
        ]
    if not named:
        return None
    factor = PERCENT / cores if cores else 1.0
    lines = [_line(row, name, factor) for name, row in named]
    if cores:
        return Panel("CPU", "%", lines, stacked=True, top=PERCENT)
    return Panel("CPU", "cores", lines, stacked=True)


def _pressure(series: Series) -> Panel | None:
    names = ("cpu.some", "memory.some", "memory.full", "io.some", "io.full")
    keys = [Key(f"pressure.{name}") for name in names]
    lines = [
        _line(series[key], key.quantity.removeprefix("pressure.").replace(".", " "), PERCENT)
        for key in keys
        if key in series
    ]
    return Panel("pressure", "%", lines, top=PERCENT) if lines else None


def _memory(series: Series) -> Panel | None:
    lines = [
        _line(series[key], name, 1 / GIGA)
        for name, key in (
            ("available", Key("memory.available")),
            ("swap used", Key("memory.swap_used")),
        )
        if key in series
    ]
    total = series.get(Key("memory.total"))
    if not lines:
        return None
    top = (
        float(np.nanmax(total.values)) / GIGA if total and np.isfinite(total.values).any() else None
    )
    return Panel("memory", "GB", lines, top=top)


def _rates(series: Series, title: str, quantities: Sequence[str]) -> Panel | None:
    """Return bytes a second of the busiest disks or cards."""
    found = [
        (text_of(quantity), key.label, row)
        for quantity in quantities
        for key, row in _of(series, quantity)
    ]
    busiest = _largest({label: row for _, label, row in found}, found)
    lines = [
        _line(row, f"{label} {word}", 1 / MEGA) for word, label, row in found if label in busiest
    ]
    return Panel(title, "MB/s", lines) if lines else None


def _shares(series: Series, title: str, quantity: str) -> Panel | None:
    rows = sorted(_of(series, quantity), key=lambda each: -_mean(each[1].values))
    lines = [_line(row, key.label, PERCENT) for key, row in rows[: 2 * MOST_OF_EACH]]
    return Panel(title, "%", lines, top=PERCENT) if lines else None


def _sessions(series: Series) -> Panel | None:
    rows = sorted(_of(series, "db.active"), key=lambda each: -_mean(each[1].values))
    lines = [_line(row, key.label or "active", 1.0) for key, row in rows]
    return Panel("active database sessions", "", lines, stacked=True) if lines else None


def _queues(series: Series) -> Panel | None:
    """Return who waits, what is in use, and the limit of the queues that are used most."""
    busy, waiting, limit = (
        {key.label: row for key, row in _of(series, f"queue.{name}")}
        for name in ("busy", "waiting", "limit")
    )
    labels = dict.fromkeys([*waiting, *busy])
    order = sorted(
        labels,
        key=lambda label: (
            -sum(_mean(rows[label].values) for rows in (busy, waiting) if label in rows)
        ),
    )
    lines = []
    for label in order[:MOST_OF_EACH]:
        lines += [
            _line(rows[label], f"{label} {word}", 1.0, dashed=word == "limit")
            for word, rows in (("in use", busy), ("waiting", waiting), ("limit", limit))
            if label in rows
        ]
    return Panel("queues", "", lines[: watched.MOST_LINES]) if lines else None


def _of(series: Series, quantity: str) -> list[tuple[Key, AlignedSeries]]:
    return [(key, row) for key, row in series.items() if key.quantity == quantity]


def _largest(
    labels: Mapping[str, AlignedSeries], found: Sequence[tuple[str, str, AlignedSeries]]
) -> set[str]:
    """Return the labels with the largest sums of means."""
    sums = dict.fromkeys(labels, 0.0)
    for _, label, row in found:
        sums[label] += _mean(row.values)
    return set(sorted(sums, key=lambda label: -sums[label])[:MOST_OF_EACH])


def _mean(values: NDArray[np.float64]) -> float:
    known = values[np.isfinite(values)]
    return float(known.mean()) if len(known) else 0.0


def _line(row: AlignedSeries, name: str, factor: float, *, dashed: bool = False) -> Line:
    return Line(name, row.start_seconds, row.step_seconds, factor * row.values, dashed)


def _note(chart: WatchedChart) -> str:
    lines = [each for panel in chart.panels for each in panel.lines]
    _, step, _ = watched.grid_of(lines)
    finest = min(each.step_seconds for each in lines)
    drawn = f" Each point is the mean of {step:.3g} s." if step > 1.001 * finest else ""
    return f"Gaps were not observed.{drawn}"
