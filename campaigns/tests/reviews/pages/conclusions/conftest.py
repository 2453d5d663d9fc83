from campaigns.tests.reviews.conftest import (
    author,
    campaign,
    draft,
    interleaved,
    other,
    reviewer,
    sent,
    target,
)

__all__ = [
    "author",
    "campaign",
    "draft",
    "interleaved",
    "other",
    "reviewer",
    "sent",
    "target",
]
