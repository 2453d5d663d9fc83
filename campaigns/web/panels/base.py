"""A chart of a result with what belongs to it: how to read it, and the same numbers as a table."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from campaigns.charts import formats
from campaigns.models import Campaign
from campaigns.queries.pages import Findings, Outline
from campaigns.web.phrases import MISSING, Levels
from campaigns.web.plots import Plot, labelled
from campaigns.web.view import View

MOST_ROWS = 200
"""Of a table on a page; its CSV has all of them."""
MOST_RUNS = 2000
"""Charts of more runs do not come with the page: it asks for them when they come into sight."""

Value = str | float | int | None


@dataclass(frozen=True, slots=True)
class Shown:
    """What panels are made of: a campaign, its findings, and what the address asks for."""

    campaign: Campaign
    outline: Outline
    findings: Findings
    words: Levels
    view: View

    @property
    def many(self) -> bool:
        """Whether charts of every run come after the page."""
        return self.outline.runs > MOST_RUNS

    @property
    def is_open(self) -> bool:
        """Whether the campaign goes on, so that nobody judges yet."""
        return self.campaign.state in Campaign.ACTIVE

    @property
    def primary(self) -> bool:
        """Whether the metric is the one that is judged."""
        return self.view.metric == self.campaign.primary_metric


@dataclass(frozen=True, slots=True)
class Column:
    """unit: of the numbers below it, as they are stored; texts have none. `%` keeps its sign."""

    head: str
    unit: str = ""


@dataclass(frozen=True, slots=True)
class Numbers:
    """What a chart draws. Numbers are exact; the page rounds them, the CSV does not."""

    columns: tuple[Column, ...]
    rows: Sequence[Sequence[Value]]

    @property
    def shown(self) -> list[list[str]]:
        """The first MOST_ROWS rows, as people read them."""
        return [
            [_shown(value, column.unit) for value, column in zip(row, self.columns, strict=True)]
            for row in self.rows[:MOST_ROWS]
        ]

    @property
    def left_out(self) -> int:
        """Rows that only the CSV has."""
        return max(0, len(self.rows) - MOST_ROWS)

    @property
    def heads(self) -> list[str]:
        """The columns as a CSV names them, with their unit."""
        return [f"{c.head} ({c.unit})" if c.unit else c.head for c in self.columns]


@dataclass(frozen=True, slots=True)
class Late:
    """A chart that the page asks for when it comes into sight."""

    id: str
    title: str
    late: bool = True

    def labelled(self, stand_ins: Sequence[str]) -> "Late":
        """Stay as it is: the chart is labelled when it is made."""
        return self


@dataclass(frozen=True, slots=True)
class Panel:
    """how: lines of reading help, (lead, rest). aside: words beside the title.

    multiples: small charts beside `plot`, in its place where there are any; they share its axes.
    """

    plot: Plot
    how: tuple[tuple[str, str], ...]
    numbers: Numbers
    aside: str = ""
    multiples: tuple[Plot, ...] = ()

    @property
    def id(self) -> str:
        """What its address and its CSV are called."""
        return self.plot.id

    def labelled(self, stand_ins: Sequence[str]) -> "Panel":
        """Mark its charts as those of a stand-in, where there was one."""
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
    return formats.percent(value) if unit == "%" else formats.amount(value, unit)
