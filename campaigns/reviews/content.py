"""The content of a conclusion as its author writes it."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field

from campaigns.kit.mappings import Columns, Contrast
from campaigns.models import Conclusion


@dataclass(frozen=True, slots=True)
class Cited:
    """One piece of evidence: a campaign, and which contrast, finding and chart of it."""

    campaign: int
    contrast: Contrast | None = None
    finding: str = ""
    view: str = ""


@dataclass(frozen=True, slots=True)
class Content:
    """The text of a conclusion. words: justifications by key of their check; supersedes: an older conclusion."""

    claim: str
    evidence: Sequence[Cited]
    recommendation: str = ""
    limits: str = ""
    supersedes: int | None = None
    words: Mapping[str, str] = field(default_factory=dict)


def revised(conclusion: Conclusion) -> Columns:
    """Return what the revision of a conclusion's text is made of."""
    return asdict(content_of(conclusion))


def content_of(conclusion: Conclusion) -> Content:
    """Return the stored content of a conclusion."""
    return Content(
        claim=conclusion.claim,
        recommendation=conclusion.recommendation,
        limits=conclusion.limits,
        evidence=[
            Cited(row.campaign_id, row.contrast, row.finding, row.view)
            for row in conclusion.evidence.order_by("position")
        ],
        supersedes=conclusion.supersedes_id,
        words={word.check_name: word.text for word in conclusion.words.all()},
    )
