"""The list of campaigns: search, filters, pages; and the end of a draft."""

from collections.abc import Sequence, Set
from dataclasses import dataclass
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Page, Paginator
from django.db.models import F, Func, Q, QuerySet
from django.db.models.expressions import Combinable
from django.db.models.functions import Lower
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_GET, require_POST

from campaigns.findings.pages.sparks import Spark, spark
from campaigns.kinds.registry import all_kinds
from campaigns.kit.pages.fields import Choice, Field
from campaigns.kit.pages.people import may, takes
from campaigns.kit.rights import Right
from campaigns.models import Campaign, Finding, Target
from campaigns.overview.home import means_of_cells, measured_runs
from campaigns.planning import drafts
from campaigns.results.environment import stand_ins

PAGE_SIZE = 25
ARCHIVED = [("only", "In the archive"), ("all", "With the archive")]
NEWEST = ("-created_at", "-pk")
SORTS: dict[str, tuple[str, tuple[str | Combinable, ...]]] = {
    "oldest": ("Oldest first", ("created_at", "pk")),
    "closed": ("Last ended first", (F("closed_at").desc(nulls_last=True), "-pk")),
    "name": ("By name", (Lower("name"), "-pk")),
    "target": ("By target", (Lower("target__name").asc(nulls_last=True), "-pk")),
}
TAGS = "tags"
"""Id of the list of tags that the filter searches."""


@dataclass(frozen=True, slots=True)
class Wanted:
    """What the list is narrowed to; empty strings narrow nothing."""

    text: str = ""
    state: str = ""
    kind: str = ""
    target: str = ""
    tag: str = ""
    archived: str = ""
    sort: str = ""

    @property
    def query(self) -> str:
        """The filters as the address of the list takes them, without a page."""
        named = {
            "q": self.text,
            "state": self.state,
            "kind": self.kind,
            "target": self.target,
            "tag": self.tag,
            "archived": self.archived,
            "sort": self.sort,
        }
        return urlencode({name: value for name, value in named.items() if value})


@dataclass(frozen=True, slots=True)
class Row:
    """A campaign as the list shows it. `cloneable`: perfdash can execute its kind."""

    campaign: Campaign
    kind: str
    cloneable: bool
    sentence: str
    runs: int
    spark: Spark | None
    stand_in: str


@require_GET
@takes(Right.SEE)
def campaign_list(request: HttpRequest) -> HttpResponse:
    """One page of the campaigns that fit; the newest first unless the address says otherwise."""
    wanted, teams = _wanted(request), may(request).see
    tags = _tags(teams)
    page = Paginator(_found(wanted, teams, tags), PAGE_SIZE).get_page(request.GET.get("page"))
    context = {
        "wanted": wanted,
        "page": page,
        "rows": _rows(page),
        "filters": _filters(wanted, teams),
        "tags": tags,
        "tags_id": TAGS,
        "any": page.paginator.count or Campaign.objects.filter(team__in=teams).exists(),
    }
    return render(request, "overview/list.html", context)


@require_POST
@takes(Right.WRITE, Campaign)
def campaign_delete(request: HttpRequest, pk: int) -> HttpResponse:
    """Delete a draft."""
    campaign = get_object_or_404(Campaign, pk=pk)
    try:
        drafts.delete(campaign)
    except drafts.NotADraft as refusal:
        messages.warning(request, str(refusal))
        return redirect("campaign", pk)
    messages.success(request, f"The draft “{campaign.name}” is deleted.")
    return redirect("campaign-list")


def _wanted(request: HttpRequest) -> Wanted:
    def given(name: str) -> str:
        return request.GET.get(name, "").replace("\x00", "").strip()[:200]

    return Wanted(
        given("q"), given("state"), given("kind"), given("target"), given("tag"),
        given("archived"), given("sort"),
    )  # fmt: skip


def _tags(teams: Set[int]) -> list[str]:
    """Every tag of the campaigns of teams."""
    tags = (
        Campaign.objects.filter(team__in=teams)
        .order_by()
        .annotate(tag=Func(F("tags"), function="unnest"))
        .values_list("tag", flat=True)
        .distinct()
    )
    return sorted(tags)


def _found(wanted: Wanted, teams: Set[int], tags: Sequence[str]) -> QuerySet[Campaign]:
    """The campaigns that fit. A tag is one of `tags`, or a part of some."""
    rows = Campaign.objects.filter(team__in=teams)
    _, order = SORTS.get(wanted.sort, ("", NEWEST))
    found = rows.select_related("target").order_by(*order)
    if wanted.archived != "all":
        found = found.filter(archived_at__isnull=wanted.archived != "only")
    for word in wanted.text.split():
        found = found.filter(
            Q(name__icontains=word) | Q(question__icontains=word) | Q(tags__icontains=word)
        )
    if wanted.state:
        found = found.filter(state=wanted.state)
    if wanted.kind:
        found = found.filter(kind=wanted.kind)
    if wanted.target:
        found = (
            found.filter(target=int(wanted.target)) if wanted.target.isdecimal() else found.none()
        )
    if wanted.tag:
        part = wanted.tag.lower()
        fitting = [wanted.tag] if wanted.tag in tags else [t for t in tags if part in t.lower()]
        found = found.filter(tags__overlap=fitting) if fitting else found.none()
    return found


def _rows(page: Page[Campaign]) -> list[Row]:
    keys = [campaign.pk for campaign in page]
    means, counts, marks = means_of_cells(keys), measured_runs(keys), stand_ins(keys)
    answers = {
        finding.campaign_id: str(finding.result.get("sentence", ""))
        for finding in Finding.objects.filter(campaign__in=keys, name="answer").exclude(
            campaign__state__in=Campaign.ACTIVE
        )
    }
    kinds = all_kinds()
    return [
        Row(
            campaign,
            kinds[campaign.kind].label if campaign.kind in kinds else campaign.kind,
            campaign.kind in kinds and kinds[campaign.kind].executable,
            answers.get(campaign.pk, ""),
            counts.get(campaign.pk, 0),
            spark(means.get(campaign.pk, [])),
            ", ".join(marks.get(campaign.pk, [])),
        )
        for campaign in page
    ]


def _filters(wanted: Wanted, teams: Set[int]) -> list[Field]:
    kinds = [(kind, driver.label) for kind, driver in all_kinds().items()]
    targets = Target.objects.filter(
        Q(retired_at=None) | Q(pk__in=Campaign.objects.values("target")), team__in=teams
    )
    sorts = [(name, words) for name, (words, _) in SORTS.items()]
    return [
        _select("state", "All states", list(Campaign.State.choices), wanted.state),
        _select("kind", "All kinds", kinds, wanted.kind),
        _select("target", "All targets", [(str(t.pk), t.name) for t in targets], wanted.target),
        _select("archived", "Not archived", ARCHIVED, wanted.archived),
        Field(
            "tag", "Tag", wanted.tag, autocomplete="off",
            attributes={"list": TAGS, "placeholder": "All tags"},
        ),
        _select("sort", "Newest first", sorts, wanted.sort),
    ]  # fmt: skip


def _select(name: str, all_of_them: str, choices: list[tuple[str, str]], chosen: str) -> Field:
    options = [Choice("", all_of_them), *(Choice(value, str(label)) for value, label in choices)]
    return Field(
        name,
        name.capitalize(),
        chosen,
        "select",
        choices=[
            Choice(option.value, option.label, chosen=option.value == chosen) for option in options
        ],
    )
