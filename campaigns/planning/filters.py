"""Filters of campaigns, of requests for approval, and of templates."""

from collections.abc import Set
from typing import Any

from django.db.models import Exists, F, Func, OuterRef, Q, QuerySet
from django.db.models.functions import Lower
from django.forms import TextInput

from campaigns.kinds.registry import labels_of_kinds
from campaigns.kit.filters import Choice, FilterSet, Moment, Search, Sort, Truth, Whole, Word
from campaigns.models import Campaign, CampaignTarget, LaunchRequest, Target, on_target


class CampaignFilters(FilterSet):
    """Campaigns; without `archived` those in the archive are left out."""

    q = Search(
        ["name", "question", "tags"],
        label="Search in name, question and tags",
        placeholder="Search name, question, tags",
    )
    state = Choice(choices=Campaign.State.choices, label="State", every="All states")
    kind = Word(most=50, label="Kind")
    tag = Word(most=40, method="with_tag")
    target = Whole(method="with_target", label="Target")
    author = Word(field_name="author__username")
    created_after = Moment(field_name="created_at", lookup_expr="gte")
    created_before = Moment(field_name="created_at", lookup_expr="lt")
    closed_after = Moment(field_name="closed_at", lookup_expr="gte")
    closed_before = Moment(field_name="closed_at", lookup_expr="lt")
    archived = Choice(
        choices=[("false", "no"), ("true", "yes"), ("all", "both")], method="with_archived"
    )

    def with_target(self, rows: QuerySet[Campaign], name: str, key: int) -> QuerySet[Campaign]:
        """Return the campaigns that measure a target, alone or beside others."""
        return rows.filter(on_target(key))

    def with_archived(self, rows: QuerySet[Campaign], name: str, word: str) -> QuerySet[Campaign]:
        """Return the archived campaigns, the others, or all."""
        return rows if word == "all" else rows.filter(archived_at__isnull=word == "false")

    def filter_queryset(self, queryset: QuerySet[Campaign]) -> QuerySet[Campaign]:
        """Leave archived campaigns out unless the query includes them."""
        result: QuerySet[Campaign] = super().filter_queryset(queryset)
        return result if self.data.get("archived") else result.filter(archived_at=None)

    def with_tag(self, rows: QuerySet[Campaign], name: str, tag: str) -> QuerySet[Campaign]:
        """Return the campaigns with the tag."""
        return rows.filter(tags__contains=[tag])


class CampaignPageFilters(CampaignFilters):
    """Filters of the page of campaigns. tags: all tags of the listed campaigns."""

    archived = Choice(
        choices=[("only", "In the archive"), ("all", "With the archive")],
        method="with_archived",
        label="Archived",
        every="Not archived",
    )
    tag = Word(
        most=40,
        method="with_tag",
        label="Tag",
        widget=TextInput({"list": "tags", "autocomplete": "off", "placeholder": "All tags"}),
    )
    sort = Sort(
        {
            "oldest": ("Oldest first", ("created_at", "pk")),
            "closed": ("Last ended first", (F("closed_at").desc(nulls_last=True), "-pk")),
            "name": ("By name", (Lower("name"), "-pk")),
            "target": ("By target", (Lower("target__name").asc(nulls_last=True), "-pk")),
        },
        every="Newest first",
    )
    author = created_after = created_before = None  # type: ignore[assignment]
    closed_after = closed_before = None  # type: ignore[assignment]  # django-filter leaves them out

    def __init__(self, data: Any, teams: Set[int]) -> None:
        rows = Campaign.objects.filter(team__in=teams).select_related("target")
        rows = rows.prefetch_related("places__target")
        super().__init__(data, rows.order_by("-created_at", "-pk"))
        each = Func(F("tags"), function="unnest")
        self.tags = sorted(rows.order_by().values_list(each, flat=True).distinct())
        measured = Exists(Campaign.objects.filter(target=OuterRef("pk")))
        beside_others = Exists(CampaignTarget.objects.filter(target=OuterRef("pk")))
        targets = Target.objects.filter(
            Q(retired_at=None) | measured | beside_others, team__in=teams
        )
        self.offer("kind", "All kinds", labels_of_kinds(teams))
        self.offer("target", "All targets", targets.values_list("pk", "name"))

    def with_tag(self, rows: QuerySet[Campaign], name: str, tag: str) -> QuerySet[Campaign]:
        """Return the campaigns with the tag; for an unknown tag, those with a tag that contains it."""
        part = tag.strip().lower()
        fitting = (
            [tag] if tag in self.tags else [each for each in self.tags if part in each.lower()]
        )
        return rows.filter(tags__overlap=fitting) if fitting else rows.none()


class TemplateFilters(FilterSet):
    """Templates of teams; `retired=false`: those that campaigns may begin with."""

    retired = Truth(field_name="retired_at", lookup_expr="isnull", exclude=True)
    team = Word(field_name="team__name")


class LaunchRequestFilters(FilterSet):
    """Requests for approval by a second person."""

    state = Choice(choices=LaunchRequest.State.choices)
    campaign = Whole(field_name="campaign_id")
