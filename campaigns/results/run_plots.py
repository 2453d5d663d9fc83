"""Charts of one run: its throughput and its samples."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from campaigns.kit.charts.figure import Figure, KeyItem, Quantity, watermarked
from campaigns.kit.units import UNITS, convert
from campaigns.results.charts import samples, throughput

SCALES = {"linear": "Linear", "log": "Log"}


RATE = "MB/s"


@dataclass(frozen=True, slots=True)
class Plot:
    """A chart of a page: its figure, title, and description in words.

    note: what the chart leaves out.
    """

    id: str
    title: str
    label: str
    figure: Figure
    key: tuple[KeyItem, ...] = ()
    height: str = "22rem"
    note: str = ""

    @property
    def figure_id(self) -> str:
        """The id of the element that holds the figure as JSON."""
        return f"{self.id}-figure"

    @property
    def several(self) -> bool:
        """Whether means are drawn as the symbols of several series, and none as a diamond."""
        return bool(self.key) and all(item.mark != "diamond" for item in self.key)

    @property
    def scales(self) -> list[tuple[str, str]]:
        """Code and label of each axis scale that a button sets; the first one is the initial one."""
        scales = self.figure.get("scales", {})
        return [
            (name, "Log–log" if len(changes) > 1 else SCALES.get(name, name))
            for name, changes in scales.items()
        ]


def labelled(plot: Plot, simulators: Sequence[str]) -> Plot:
    """Add to title and description of a chart that its target was simulated, where it was."""
    if not simulators:
        return plot
    text = f"Measured on a {' and a '.join(simulators)}, not on a real server."
    return replace(
        plot,
        title=f"{plot.title} (simulated)",
        label=f"{plot.label} {text}",
        figure=watermarked(plot.figure, "simulated"),
    )


def throughput_plot(
    name: str, unit: str, step_seconds: float, values: Sequence[float | None]
) -> Plot:
    """Return the chart of a series of an attempt over the seconds of its clock."""
    unit, shown = readable_rate(unit, values)
    chart = throughput.ThroughputChart(
        quantity=Quantity(name, unit), step_seconds=step_seconds, values=shown
    )
    return Plot(
        id="series",
        title=throughput.title(chart),
        label=throughput.describe(chart),
        figure=throughput.draw(chart),
        height="15rem",
    )


def samples_plot(
    name: str, columns: Mapping[str, Sequence[float]], failed: int, sample: str
) -> Plot:
    """Return the chart of an attempt's samples, one curve a column; all are seconds.

    sample: the name of one sample.
    """
    chart = samples.SamplesChart(
        quantity=Quantity(name, "s", lower_is_better=True),
        curves=[samples.Curve(title, values) for title, values in columns.items()],
        failed=failed,
        unit_of_work=f"{sample}s",
    )
    return Plot(
        id="samples",
        title=samples.title(chart),
        label=samples.describe(chart),
        figure=samples.draw(chart),
        height="18rem",
    )


def readable_rate(unit: str, values: Sequence[float | None]) -> tuple[str, list[float | None]]:
    """Convert a rate in bytes into a readable unit; return any other rate unchanged."""
    if unit in UNITS and UNITS[unit].dimension == UNITS[RATE].dimension:
        return RATE, [None if v is None else convert(v, unit, RATE) for v in values]
    return unit, list(values)
