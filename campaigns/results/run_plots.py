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
    """A chart of a page: its figure, what it is called, and what it says in words.

    note: what it leaves out.
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
        """Id of the element that holds the figure as JSON."""
        return f"{self.id}-figure"

    @property
    def several(self) -> bool:
        """Return whether means are drawn as the symbols of several series, and none as a diamond."""
        return bool(self.key) and all(item.mark != "diamond" for item in self.key)

    @property
    def scales(self) -> list[tuple[str, str]]:
        """Code and word of each axis that a button sets; the first one is drawn at first."""
        scales = self.figure.get("scales", {})
        return [
            (name, "Log–log" if len(changes) > 1 else SCALES.get(name, name))
            for name, changes in scales.items()
        ]


def labelled(plot: Plot, stand_ins: Sequence[str]) -> Plot:
    """Mark a chart, its title and its words as those of a stand-in, where there was one."""
    if not stand_ins:
        return plot
    text = f"Measured on a {' and a '.join(stand_ins)}, not on a real server."
    return replace(
        plot,
        title=f"{plot.title} (simulated)",
        label=f"{plot.label} {text}",
        figure=watermarked(plot.figure, "simulated"),
    )


def throughput_plot(
    name: str, unit: str, step_seconds: float, values: Sequence[float | None]
) -> Plot:
    """A series of an attempt over the seconds of its clock."""
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
    """How the samples of an attempt are distributed, one curve a column; all are seconds.

    sample: what one of them is.
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
    """Convert a rate of bytes into the unit that people read; any other stays."""
    if unit in UNITS and UNITS[unit].dimension == UNITS[RATE].dimension:
        return RATE, [None if v is None else convert(v, unit, RATE) for v in values]
    return unit, list(values)
