"""The verdicts of all comparisons of a campaign as text. Pure."""

from collections.abc import Sequence
from dataclasses import dataclass

from campaigns.findings.values import LevelsFinding, Pairs
from campaigns.findings.wording.verdicts import (
    label_of,
    primary_advice,
    row_advice,
    stratum_advice,
)
from campaigns.stats.verdict import Verdict


@dataclass(frozen=True, slots=True)
class ComparisonText:
    """The verdict of one comparison. advice: what to do next, or what is excluded; empty where there is none."""

    label: str
    tone: str
    advice: str


@dataclass(frozen=True, slots=True)
class ComparisonTexts:
    """The verdicts of a finding. comparisons: of its strata, or of the comparisons of all its groups, in their order.

    primary: of the primary contrast; null where none was named.
    """

    primary: ComparisonText | None
    comparisons: Sequence[ComparisonText]


def comparison_texts(finding: LevelsFinding | Pairs) -> ComparisonTexts:
    """Return the verdicts of pairs or levels as text."""

    def text(verdict: Verdict, advice: str) -> ComparisonText:
        label = label_of(finding, verdict.word)
        return ComparisonText(label.word, label.tone, advice)

    primary = finding.primary
    if isinstance(finding, Pairs):
        rows = [(each.comparison.verdict, stratum_advice(finding, each)) for each in finding.strata]
    else:
        rows = [
            (row.comparison.verdict, row_advice(finding, row))
            for group in finding.groups
            for row in group.comparisons
        ]
    return ComparisonTexts(
        text(primary.comparison.verdict, primary_advice(finding, primary)) if primary else None,
        [text(*row) for row in rows],
    )
