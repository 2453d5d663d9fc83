"""Campaigns with their answers, as cards and rows of lists show them. Reads only."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, QuerySet
from django.db.models.functions import Coalesce

from campaigns.findings.answers import ListedAnswer, listed, published
from campaigns.models import Campaign, PublishedAnswer, Run
from campaigns.planning.metrics import driver_if_known
from campaigns.results.environment import simulators

ENDED = Coalesce("campaign__closed_at", "campaign__launched_at", "campaign__created_at")
"""When a campaign ended: an analysis may be repeated years later."""
OWNERS = {"target": "name", "author": "username", "team": "name", "template": "name"}
"""What belongs to a campaign, each with its name."""


@dataclass(frozen=True, slots=True)
class Answered:
    """A campaign with its answer. target, author: empty if unknown; simulator: what it was measured on, empty for a real server."""

    pk: int
    question: str
    name: str
    state: str
    kind: str
    target: str
    author: str
    ended_at: datetime
    runs: int
    simulator: str
    text: ListedAnswer


def answers_in(teams: Set[int]) -> QuerySet[PublishedAnswer]:
    """Return the answers of closed campaigns of teams that are not in the archive; `ended`: when, and in no order."""
    rows = published().filter(campaign__team__in=teams, campaign__archived_at=None)
    return rows.exclude(campaign__state__in=Campaign.ACTIVE).annotate(ended=ENDED)


def answered(rows: QuerySet[PublishedAnswer] | Sequence[PublishedAnswer]) -> list[Answered]:
    """Return answers with what lists tell beside them, in a fixed number of queries. rows: of `with_campaigns`."""
    keys = [row.pk for row in rows]
    counts, marks = measured_runs(keys), simulators(keys)
    return [
        Answered(
            pk=row.pk,
            question=row.campaign.question,
            name=row.campaign.name,
            state=row.campaign.state,
            kind=kind_label(row.campaign.kind),
            target=row.campaign.target_names,
            author=row.campaign.author.get_username() if row.campaign.author else "",
            ended_at=row.ended,  # type: ignore[attr-defined]  # annotated
            runs=counts.get(row.pk, 0),
            simulator=", ".join(marks.get(row.pk, [])),
            text=listed(row),
        )
        for row in rows
    ]


def with_campaigns(rows: QuerySet[PublishedAnswer]) -> QuerySet[PublishedAnswer]:
    """Return answers with what `answered` needs of their campaigns."""
    of_campaign = ("question", "name", "state", "kind", *OWNERS)
    return (
        rows.select_related(*(f"campaign__{name}" for name in OWNERS))
        .prefetch_related("campaign__places__target")
        .only(
            *("sentence", "badges", "means"),
            *(f"campaign__{name}" for name in of_campaign),
            *(f"campaign__{owner}__{name}" for owner, name in OWNERS.items()),
        )
    )


def kind_label(kind: str) -> str:
    """Return the label of a kind; its name if this installation does not know it."""
    driver = driver_if_known(kind)
    return driver.label if driver else kind


def measured_runs(campaigns: Sequence[int]) -> dict[int, int]:
    """Return the number of measured runs by campaign, without warm-ups and try-outs."""
    rows = (
        Run.objects.filter(campaign__in=campaigns, purpose=Run.Purpose.MEASURED)
        .order_by()
        .values_list("campaign")
        .annotate(Count("pk"))
    )
    return dict(rows)
