"""The verdicts of all comparisons of a campaign as text. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from campaigns.findings.values import LevelsFinding, Pairs, TargetsTold
from campaigns.findings.wording.targets import also_differs
from campaigns.findings.wording.verdicts import (
    label_of,
    primary_advice,
    row_advice,
    stratum_advice,
)
from campaigns.stats.verdict import Verdict


@dataclass(frozen=True, slots=True)
class ComparisonText:
    """The verdict of one comparison. advice: what to do next, or what is excluded; empty where there is none.

    also: what else differs between two targets, that of the baseline first; empty within one target.
    """

    label: str
    tone: str
    advice: str
    also: str = ""


@dataclass(frozen=True, slots=True)
class ComparisonTexts:
    """The verdicts of a finding. comparisons: of its strata, or of the comparisons of all its groups, in their order.

    primary: of the primary contrast; null where none was named.
    """

    primary: ComparisonText | None
    comparisons: Sequence[ComparisonText]


def comparison_texts(
    finding: LevelsFinding | Pairs, told: TargetsTold | None = None
) -> ComparisonTexts:
    """Return the verdicts of pairs or levels as text. told: of several targets."""

    def text(verdict: Verdict, advice: str, *sides: Any) -> ComparisonText:
        label = label_of(finding, verdict.word)
        return ComparisonText(label.word, label.tone, advice, also_differs(told, *sides))

    primary = finding.primary
    if isinstance(finding, Pairs):
        sides = finding.factor, finding.baseline, finding.candidate
        rows = [
            (each.comparison.verdict, stratum_advice(finding, each), *sides)
            for each in finding.strata
        ]
    else:
        rows = [
            (
                row.comparison.verdict,
                row_advice(finding, row),
                finding.factor,
                values[row.baseline],
                values[row.candidate],
            )
            for group in finding.groups
            for values in [dict(zip(group.cells, group.values, strict=True))]
            for row in group.comparisons
        ]
    return ComparisonTexts(
        text(
            primary.comparison.verdict,
            primary_advice(finding, primary),
            primary.factor,
            primary.baseline,
            primary.candidate,
        )
        if primary
        else None,
        [text(*row) for row in rows],
    )
