"""A chart of a result with what belongs to it: how to read it, and the same numbers as a table."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from django.forms import BoundField

from campaigns.findings.pages.view import View
from campaigns.findings.store import Findings
from campaigns.kit import numbers
from campaigns.kit.numbers import MISSING
from campaigns.kit.pages.forms import selector
from campaigns.models import Campaign
from campaigns.results.pages_data import Outline
from campaigns.results.phrases import Levels
from campaigns.results.run_plots import Plot, labelled

MOST_ROWS = 200
"""The most rows of a table on a page; its CSV has all."""
MOST_RUNS, MOST_CELLS = 1000, 60
"""Charts of more are not part of the page, which requests them when they come into sight."""

Value = str | float | int | None


def comes_late(outline: Outline) -> bool:
    """Return whether charts of every run or cell come after the page."""
    return outline.runs > MOST_RUNS or outline.cells > MOST_CELLS


@dataclass(frozen=True, slots=True)
class Shown:
    """The input of all panels: a campaign, its findings, and the query of the address."""

    campaign: Campaign
    outline: Outline
    findings: Findings
    labels: Levels
    view: View
    query: Mapping[str, str] = field(default_factory=dict)

    def chosen(self, name: str, label: str, options: Sequence[tuple[str, str]]) -> "Chosen":
        """Return which of the options (value, label) the address names; the first one where it names none."""
        wanted = self.query.get(name, "")
        value = wanted if wanted in dict(options) else next((v for v, _ in options), "")
        if len(options) < 2:
            return Chosen(value)
        others = tuple((key, text) for key, text in self.query.items() if key != name)
        return Chosen(value, selector(name, label, options, value), others)

    def some(self, panel: str, cells: Sequence[Any], most: int) -> "tuple[Sequence[Any], Chosen]":
        """Return the cells that are drawn where they are too many for one chart, with the selector."""
        if len(cells) <= most:
            return cells, Chosen("")
        starts = range(0, len(cells), most)
        options = [(str(at), f"{at + 1} to {min(at + most, len(cells))}") for at in starts]
        chosen = self.chosen(f"{panel}-cells", f"Cells, of {len(cells)}", options)
        return cells[int(chosen.value) : int(chosen.value) + most], chosen

    @property
    def many(self) -> bool:
        """Return whether charts of every run come after the page."""
        return comes_late(self.outline)

    @property
    def is_open(self) -> bool:
        """Return whether the campaign goes on, so that nobody judges yet."""
        return self.campaign.state in Campaign.ACTIVE

    @property
    def primary(self) -> bool:
        """Return whether the metric is the one that is judged."""
        return self.view.metric == self.campaign.primary_metric


@dataclass(frozen=True, slots=True)
class Chosen:
    """One choice of a panel. field: its selector; others: what else the address names."""

    value: str
    field: BoundField | None = None
    others: tuple[tuple[str, str], ...] = ()


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
class Late:
    """A chart that the page requests when it comes into sight.

    needs: the finding that it draws; empty where it needs the cells alone. judged: it is shown for the
    primary metric only, and when the campaign has ended.
    """

    id: str
    title: str
    late: bool = True
    needs: str = ""
    judged: bool = False

    def fits(self, shown: Shown) -> bool:
        """Return whether there is something to show."""
        if self.judged:
            finding = getattr(shown.findings, self.needs)
            return bool(finding) and shown.primary and not shown.is_open
        return not self.needs or self.needs in shown.findings.charts

    def labelled(self, stand_ins: Sequence[str]) -> "Late":
        """Return it unchanged: the chart is labelled when it is drawn."""
        return self


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

    @property
    def id(self) -> str:
        """The name in its address and of its CSV file."""
        return self.plot.id

    def labelled(self, stand_ins: Sequence[str]) -> "Panel":
        """Label its charts as measured on simulators, where there were any."""
        return replace(
            self,
            plot=labelled(self.plot, stand_ins),
            multiples=tuple(labelled(plot, stand_ins) for plot in self.multiples),
        )


def _shown(value: Value, unit: str) -> str:
    if value is None:
        return MISSING
    if isinstance(value, str):
        return value
    return numbers.percent(value) if unit == "%" else numbers.amount(value, unit)
