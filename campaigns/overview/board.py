"""The board: for each target and question the last answer, and whether it changed. Reads only."""

from collections.abc import Set
from dataclasses import dataclass
from typing import Any

from django.contrib.auth.models import User
from django.db.models import Case, F, OuterRef, QuerySet, Subquery, Value, When, Window
from django.db.models.functions import Coalesce, RowNumber
from django.forms import HiddenInput

from campaigns.findings.answers import ListedAnswer, listed, published
from campaigns.kinds.registry import labels_of_kinds
from campaigns.kit.filters import FilterSet, Search, Sort, Whole, Word
from campaigns.models import PublishedAnswer, Target, Team
from campaigns.overview.answered import ENDED, Answered, answered, answers_in, with_campaigns
from campaigns.trends.queries import LineRow, open_lines

OF_TEMPLATE = When(campaign__template__isnull=False, then=Value(""))
SAME: dict[str, Any] = {
    "in_team": F("campaign__team"),
    "at": Coalesce("campaign__target", 0),
    "from_template": Coalesce("campaign__template", 0),
    "of_kind": Case(OF_TEMPLATE, default=F("campaign__kind")),
    "asked": Case(OF_TEMPLATE, default=F("campaign__question")),
}
"""What the answers of one row of the board have in common: template and target; without a template kind, question and target."""


@dataclass(frozen=True, slots=True)
class Row:
    """The last answer to a question about a target. earlier: the campaign that was answered before; None for the first.

    line: the history of the question, where somebody began one. template: its name; empty without one. change: what became of the answer, as text; tone: of that, if the word is another.
    """

    last: Answered
    template: str
    team: str
    earlier: int | None
    change: str
    tone: str
    line: LineRow | None = None


class BoardFilters(FilterSet):
    """Filters of the board, by its last answers."""

    q = Search(
        [
            *("campaign__question", "campaign__name", "campaign__template__name"),
            *("campaign__target__name", "sentence"),
        ],
        label="Search in questions, names and answers",
        placeholder="Search question, name, answer",
    )
    target = Whole(field_name="campaign__target", label="Target")
    kind = Word(most=50, field_name="campaign__kind", label="Kind")
    team = Whole(field_name="campaign__team", label="Team")
    person = Whole(field_name="campaign__author", label="Person")
    sort = Sort(
        {
            "oldest": ("Oldest first", (ENDED.asc(), "pk")),
            "target": ("By target", ("campaign__target__name", ENDED.desc(), "-pk")),
        },
        every="Newest first",
    )

    def __init__(self, data: Any, teams: Set[int]) -> None:
        super().__init__(data, last_answers(teams).order_by(ENDED.desc(), "-pk"))
        self.offer(
            "target", "All targets", Target.objects.filter(team__in=teams).values_list("pk", "name")
        )
        self.offer("kind", "All kinds", labels_of_kinds(teams))
        people = User.objects.filter(campaigns__team__in=teams).distinct().order_by("username")
        self.offer("person", "Everybody", people.values_list("pk", "username"))
        if len(teams) > 1:
            of_teams = Team.objects.filter(pk__in=teams).values_list("pk", "name")
            self.offer("team", "All teams", of_teams)
        else:
            self.form.fields["team"].widget = HiddenInput()


def last_answers(teams: Set[int]) -> QuerySet[PublishedAnswer]:
    """Return for each target and question of teams the answer of the campaign that ended last."""
    place = Window(
        RowNumber(),
        partition_by=list(SAME.values()),
        order_by=[ENDED.desc(), F("pk").desc()],
    )
    ranked = answers_in(teams).annotate(place=place).filter(place=1).values("pk")
    return answers_in(teams).filter(pk__in=ranked)


def board_rows(teams: Set[int], rows: QuerySet[PublishedAnswer]) -> list[Row]:
    """Return rows of the board, of a page of `last_answers`, in a fixed number of queries."""
    before = (
        answers_in(teams)
        .alias(**SAME)
        .filter(**{name: OuterRef(name) for name in SAME})
        .exclude(pk=OuterRef("pk"))
        .order_by(ENDED.desc(), "-pk")
    )
    page = list(
        with_campaigns(rows).annotate(**SAME).annotate(earlier=Subquery(before.values("pk")[:1]))
    )
    known = published().in_bulk([row.earlier for row in page if row.earlier])
    lines = open_lines([row.campaign for row in page])
    return [
        _row(row, last, known.get(row.earlier), lines.get(row.pk))
        for row, last in zip(page, answered(page), strict=True)
    ]


def _row(
    row: PublishedAnswer, last: Answered, earlier: PublishedAnswer | None, line: LineRow | None
) -> Row:
    change, tone = _change(last.text, listed(earlier) if earlier else None)
    template = row.campaign.template
    return Row(
        last,
        template.name if template else "",
        row.campaign.team.name,
        earlier.pk if earlier else None,
        change,
        tone,
        line,
    )


def _change(now: ListedAnswer, before: ListedAnswer | None) -> tuple[str, str]:
    """Return whether the word or the sentence is another than before. How large a change is, the comparison tells."""
    if before is None:
        return "first answer", ""
    words = [each.word.word if each.word else "no verdict" for each in (before, now)]
    if words[0] != words[1]:
        return f"before: {words[0]}", "warn"
    if before.sentence == now.sentence:
        return "same sentence", ""
    return "same word, other figures" if now.word else "other figures", ""
