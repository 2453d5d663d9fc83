"""The matrix of runs: cells down, repetitions across, each run by its state and value."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from django.urls import reverse

from campaigns.kit.charts.labels import LevelLabels, inside, level_text
from campaigns.kit.marks import RUNS
from campaigns.models import Attempt, Campaign
from campaigns.results.phrases import reason_of, value_text
from campaigns.results.rows import RunRow

MOST_CELLS = 600
"""Repetitions that are shown at once, around the current one."""
NARROW_COLUMNS = 4
"""Repetitions that fit into a column at the side."""
PHASES = {phase.value for phase in Attempt.Phase if phase.value} | {"running", "queued"}


@dataclass(frozen=True, slots=True)
class Square:
    """One run. `look`: the data-state of the style sheet; `now`: the run that is on."""

    position: int
    url: str
    look: str
    icon: str
    text: str
    title: str
    now: bool = False


@dataclass(frozen=True, slots=True)
class Line:
    """The runs of one cell. group: the stratum that begins here, in a paired campaign."""

    group: str
    name: str
    whole: str
    squares: tuple[tuple[Square, ...], ...]
    ok: str


@dataclass(frozen=True, slots=True)
class Matrix:
    """Lines with the headings of their columns; `cut` names what is left out."""

    corner: str
    heads: tuple[str, ...]
    lines: tuple[Line, ...]
    cut: str

    @property
    def wide(self) -> bool:
        """Whether it needs the whole width of a page."""
        return len(self.heads) > NARROW_COLUMNS


def matrix_of(campaign: Campaign, rows: Sequence[RunRow], labels: LevelLabels) -> Matrix:
    """Arrange runs: a line for each cell; in a paired campaign the sides of a stratum together."""
    paired = campaign.paired_factor
    by_cell: dict[int, list[RunRow]] = {}
    for row in rows:
        by_cell.setdefault(row.cell, []).append(row)
    cells = sorted(by_cell.values(), key=lambda runs: runs[0].cell_position)
    if paired:
        cells = _by_stratum(cells, paired, campaign)
    columns, cut = _columns(rows, len(cells))
    lines = []
    former = None
    for runs in cells:
        levels = runs[0].levels
        group = labels.values(levels, without=paired) if paired else ""
        measured = [row for row in runs if not row.is_warm_up]
        lines.append(
            Line(
                group=group if group != former else "",
                name=level_text(levels[paired]) if paired else labels.values(levels) or "all runs",
                whole=labels.sentence(levels),
                squares=tuple(
                    tuple(_square(campaign, row) for row in runs if row.repetition == column)
                    for column in columns
                ),
                ok=f"{sum(row.state == 'done' for row in measured)}/{len(measured)}",
            )
        )
        former = group
    corner = inside(labels.factors[0].label) if len(labels.factors) == 1 else "cell"
    heads = tuple("warm-up" if column == 0 else f"block {column}" for column in columns)
    if paired:
        heads = tuple("warm-up" if column == 0 else f"pair {column}" for column in columns)
    return Matrix(corner, heads, tuple(lines), cut)


def _by_stratum(cells: list[list[RunRow]], paired: str, campaign: Campaign) -> list[list[RunRow]]:
    """Keep the order of strata; the baseline stands above the candidate."""
    strata: list[list[list[RunRow]]] = []
    keys: list[list[tuple[str, object]]] = []
    for runs in cells:
        key = [(name, level) for name, level in runs[0].levels.items() if name != paired]
        if key not in keys:
            keys.append(key)
            strata.append([])
        strata[keys.index(key)].append(runs)
    return [
        runs
        for stratum in strata
        for runs in sorted(stratum, key=lambda runs: runs[0].levels[paired] != campaign.baseline)
    ]


def _columns(rows: Sequence[RunRow], lines: int) -> tuple[list[int], str]:
    """Return the repetitions to show, and a text about the others."""
    columns = sorted({row.repetition for row in rows})
    room = max(1, MOST_CELLS // max(1, lines))
    if len(columns) <= room:
        return columns, ""
    begun = [row.repetition for row in rows if row.state != "planned"]
    end = min(len(columns), max(room, columns.index(max(begun)) + 2 if begun else room))
    remaining = columns[end - room : end]
    return remaining, f"repetitions {remaining[0]} to {remaining[-1]} of {columns[-1]}"


def _square(campaign: Campaign, row: RunRow) -> Square:
    look, icon, text = _look(row)
    tries = f", attempt {row.tries}" if row.tries > 1 else ""
    why = f": {reason_of(row)}" if reason_of(row) else ""
    return Square(
        position=row.position,
        url=reverse("run", args=[campaign.pk, row.position]),
        look=look,
        icon=icon,
        text=text,
        title=f"Run {row.position}: {row.state}{tries}{why}",
        now=row.state in PHASES,
    )


def _look(row: RunRow) -> tuple[str, str, str]:
    """Return data-state, icon and text."""
    value = _value(row)
    if row.state in PHASES:
        return "now", "clock" if row.state == "queued" else "play", row.state
    if row.state == "planned":
        return "planned", "", str(row.position)
    word, _, icon = RUNS[row.state]
    look = {"censored": "failed", "cancelled": "lost"}.get(row.state, row.state)
    if row.state == "done" and row.tries > 1:
        icon = "redo"
    has_value = row.state in ("done", "bound", "censored") or (
        row.state == "excluded" and row.measured
    )
    return look, icon, value if has_value else word


def _value(row: RunRow) -> str:
    """Return the value with a sign where it is a limit: a square is too small for words."""
    if row.measured is None:
        return value_text(None)
    text = value_text(replace(row.measured, censored=False, bound=False))
    if row.measured.censored:
        return f"> {text}"
    if row.measured.bound:
        return f"{'≤' if row.measured.lower_is_better else '≥'} {text}"
    return text
