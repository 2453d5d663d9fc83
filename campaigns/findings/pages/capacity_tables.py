"""Tables of what is carried, and of the criterion in each cell."""

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.findings.values import Answer, CapacityFinding, Thresholds
from campaigns.findings.wording.capacity import (
    HELD,
    CapacityText,
    CapacityWords,
    RatioText,
)
from campaigns.findings.wording.thresholds import ThresholdTexts, threshold_texts
from campaigns.findings.wording.verdicts import Display
from campaigns.kit.charts.labels import LevelLabels
from campaigns.kit.numbers import grouped

MOST_LINES = 200
"""Conditions of cells that are written out."""


@dataclass(frozen=True, slots=True)
class LoadLine:
    """The decision on one load, by setting; None where it was not planned."""

    load: str
    cells: Sequence[Display | None]


@dataclass(frozen=True, slots=True)
class CapacityTable:
    """What settings carry. head: the load; settings: names of the columns, empty for a single one."""

    head: str
    conditions: str
    stated: bool
    capacities: Sequence[CapacityText]
    ratios: Sequence[RatioText]
    settings: Sequence[str]
    loads: Sequence[LoadLine]

    @property
    def several(self) -> bool:
        """Whether there is more than one setting."""
        return len(self.capacities) > 1


def capacity_table(
    finding: CapacityFinding, answer: Answer | None, labels: LevelLabels
) -> CapacityTable:
    """Return what each setting carries, and each load under each setting."""
    words = CapacityWords(finding, answer)
    cells = [{cell.load: cell for cell in setting.cells} for setting in finding.settings]
    loads = sorted({load for each in cells for load in each})
    return CapacityTable(
        head=labels.factor(finding.load) if finding.load else finding.load_label,
        conditions=words.kept,
        stated=finding.stated,
        capacities=[words.text(setting) for setting in finding.settings],
        ratios=[words.ratio(ratio) for ratio in finding.ratios],
        settings=[labels.sentence(setting.levels) for setting in finding.settings],
        loads=[
            LoadLine(grouped(load), [HELD[cell.held] if cell else None for cell in row])
            for load in loads
            for row in [[each.get(load) for each in cells]]
        ],
    )


@dataclass(frozen=True, slots=True)
class ThresholdTable:
    """The criterion in each cell. more: lines that are not written out."""

    texts: ThresholdTexts
    more: int


def threshold_table(finding: Thresholds) -> ThresholdTable:
    """Return each condition in each cell, beside the comparisons."""
    texts = threshold_texts(finding)
    lines = texts.lines[:MOST_LINES]
    return ThresholdTable(
        ThresholdTexts(texts.sentence, texts.label, lines), len(texts.lines) - len(lines)
    )
