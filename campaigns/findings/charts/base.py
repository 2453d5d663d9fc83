"""What all charts of a result share: their input, their panel, and the declaration by which pages find them. Pure.

A chart is one module: its figure from values, how to read it, and the same numbers as a table. What needs Django comes in as arguments of
`Shown`.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from campaigns.findings.values import BriefCells, Cells, LevelsFinding, Pairs
from campaigns.kit import numbers
from campaigns.kit.charts.figure import Quantity
from campaigns.kit.charts.labels import FactorOutline, LevelLabels, inside
from campaigns.kit.numbers import MISSING
from campaigns.results.run_plots import Plot, labelled

if TYPE_CHECKING:  # their modules read the database, which charts do not
    from campaigns.findings.store import Findings
    from campaigns.results.series import RunSeries

MOST_ROWS = 200
"""The most rows of a table on a page; its CSV has all."""

Value = str | float | int | None


class StoredRun(Protocol):
    """What the note on a run needs."""

    @property
    def block(self) -> int: ...
    @property
    def started_at(self) -> str | None: ...
    @property
    def worker(self) -> str: ...


@dataclass(frozen=True, slots=True)
class View:
    """The metric; the factor on the axis, that of the colours, and that of the small multiples.

    colour: None where all other factors together make the series. facet: None without multiples.
    """

    metric: str
    x: FactorOutline | None
    colour: FactorOutline | None = None
    facet: FactorOutline | None = None

    def in_series(self, factors: Sequence[FactorOutline]) -> list[FactorOutline]:
        """Return the factors whose levels make the series, that of the colours first."""
        rest = [f for f in factors if f not in (self.x, self.colour, self.facet)]
        return [self.colour, *rest] if self.colour else rest


@dataclass(frozen=True, slots=True)
class Chosen:
    """One choice of a panel. field: its selector, None where there is nothing to choose; others: what else the address names."""

    value: str
    field: Any = None
    others: tuple[tuple[str, str], ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Shown:
    """The input of all charts.

    many: charts of every run come after the page. is_open: the campaign goes on, so that nobody judges yet. order: that of the runs;
    sample: the noun for what was timed. quantity: a metric by its name; series: the first ones of a cell's runs, at most so many;
    selector: the form field of a choice, from its name, label, options (value, label) and value. query: of the address.
    """

    findings: "Findings"
    labels: LevelLabels
    view: View
    primary_metric: str
    many: bool = False
    is_open: bool = False
    order: str = ""
    sessions: int = 1
    sample: str = "sample"
    quantity: Callable[[str], Quantity]
    series: Callable[[int, int], Sequence["RunSeries"]]
    selector: Callable[[str, str, Sequence[tuple[str, str]], str], Any]
    query: Mapping[str, str] = field(default_factory=dict)

    @property
    def primary(self) -> bool:
        """Return whether the metric is the one that is judged."""
        return self.view.metric == self.primary_metric

    @property
    def judged(self) -> bool:
        """Return whether there are verdicts: of the primary metric, when the campaign has ended."""
        return self.primary and not self.is_open

    @property
    def factor(self) -> str:
        """Return the labels of all factors."""
        return " and ".join(inside(factor.label) for factor in self.labels.factors)

    def chosen(self, name: str, label: str, options: Sequence[tuple[str, str]]) -> Chosen:
        """Return which of the options (value, label) the address names; the first one where it names none."""
        wanted = self.query.get(name, "")
        value = wanted if wanted in dict(options) else next((v for v, _ in options), "")
        if len(options) < 2:
            return Chosen(value)
        others = tuple((key, text) for key, text in self.query.items() if key != name)
        return Chosen(value, self.selector(name, label, options, value), others)

    def some(self, panel: str, cells: Sequence[Any], most: int) -> tuple[Sequence[Any], Chosen]:
        """Return the cells that are drawn where they are too many for one chart, with the selector."""
        if len(cells) <= most:
            return cells, Chosen("")
        starts = range(0, len(cells), most)
        options = [(str(at), f"{at + 1} to {min(at + most, len(cells))}") for at in starts]
        chosen = self.chosen(f"{panel}-cells", f"Cells, of {len(cells)}", options)
        return cells[int(chosen.value) : int(chosen.value) + most], chosen


@dataclass(frozen=True, slots=True)
class Column:
    """unit: of the numbers below it, as they are stored; texts have none. `%` keeps its sign."""

    head: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Numbers:
    """The numbers of a chart. They are exact; the page rounds them, the CSV does not."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Value]]

    @property
    def shown(self) -> list[list[str]]:
        """Return the first MOST_ROWS rows, rounded and with units."""
        return [
            [_shown(value, column.unit) for value, column in zip(row, self.columns, strict=True)]
            for row in self.rows[:MOST_ROWS]
        ]

    @property
    def left_out(self) -> int:
        """Return how many rows only the CSV has."""
        return max(0, len(self.rows) - MOST_ROWS)

    @property
    def heads(self) -> list[str]:
        """Return the head of the CSV: columns with their unit."""
        return [f"{c.head} ({c.unit})" if c.unit else c.head for c in self.columns]


@dataclass(frozen=True, slots=True)
class Panel:
    """how: lines of reading help, (lead, rest). aside: text next to the title.

    notes: sentences above the chart. choices: selectors of what is drawn.
    multiples: small charts in the place of `plot`, where there are any; they share its axes.
    """

    plot: Plot
    how: tuple[tuple[str, str], ...]
    numbers: Numbers
    aside: str = ""
    multiples: tuple[Plot, ...] = ()
    notes: tuple[str, ...] = ()
    choices: tuple[Chosen, ...] = ()
    late: ClassVar[bool] = False

    @property
    def id(self) -> str:
        """The name in its address and of its CSV file."""
        return self.plot.id

    def labelled(self, simulators: Sequence[str]) -> "Panel":
        """Label its charts as measured on simulators, where there were any."""
        return replace(
            self,
            plot=labelled(self.plot, simulators),
            multiples=tuple(labelled(plot, simulators) for plot in self.multiples),
        )


@dataclass(frozen=True, slots=True)
class Chart:
    """The declaration of a chart, by which the result page, its address and its CSV find it.

    panel: None where there is nothing to show. fits: whether there may be something, which is quick to tell.
    late: its title where it is drawn for every run or cell: a page of many requests it when a reader opens it.
    """

    id: str
    panel: Callable[[Shown], Panel | None]
    fits: Callable[[Shown], object] = lambda shown: shown.findings.summaries
    late: str = ""


@dataclass(frozen=True, slots=True)
class Late:
    """A chart that the page requests when it comes into sight."""

    id: str
    title: str
    late: bool = True

    def labelled(self, simulators: Sequence[str]) -> "Late":
        """Return it unchanged: the chart is labelled when it is drawn."""
        return self


def quantity_of(finding: Cells | BriefCells | LevelsFinding | Pairs) -> Quantity:
    """Return the metric of a finding for a chart."""
    return Quantity(inside(finding.label), finding.unit, finding.lower_is_better)


def run_note(run: StoredRun, block: str) -> str:
    """Return the block of a run, when it began and which worker made it, where known. block: the word for one."""
    return ", ".join(filter(None, (f"{block} {run.block}", in_utc(run.started_at), run.worker)))


def in_utc(instant: str | None) -> str:
    """Return an instant of a finding, "2026-01-01T10:00:00.123+00:00", as text; empty where it is unknown."""
    return f"{instant[:10]} {instant[11:19]} UTC" if instant else ""


def _shown(value: Value, unit: str) -> str:
    if value is None:
        return MISSING
    if isinstance(value, str):
        return value
    return numbers.change(value) if unit == "%" else numbers.amount(value, unit)
