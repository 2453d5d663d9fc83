"""Query what waits for a user, and since when. Each page counts it.

Rights are checked each time: an item that needs a role disappears with the role. For most users nothing waits: one
short query finds that out, and only what may wait is looked at with all its rights.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from typing import Any

from django.contrib.auth.models import User
from django.db import connection
from django.db.models import (
    BooleanField,
    CharField,
    F,
    Model,
    Q,
    QuerySet,
    Value,
)
from django.db.models.expressions import Combinable, RawSQL
from django.db.models.functions import Coalesce

from campaigns.execution.manual_steps import open_requests
from campaigns.kit.mappings import Columns
from campaigns.kit.rights import Right, visible
from campaigns.models import Alert, Conclusion, LaunchRequest, ManualStep, Mention
from campaigns.reviews.queries import conclusions_seen_by, mine, waiting_for

MOST = 200
State = Conclusion.State
WITHOUT_A_WORD = """
    EXISTS (
        SELECT FROM campaigns_evidence e
        CROSS JOIN LATERAL jsonb_array_elements(COALESCE(e.snapshot -> 'checks', '[]')) c
        WHERE e.conclusion_id = campaigns_conclusion.id AND c ->> 'state' <> 'pass'
        AND NOT EXISTS (
            SELECT FROM campaigns_checkword w WHERE w.conclusion_id = e.conclusion_id
            AND w.check_name = (c ->> 'name') || '-' || (c ->> 'campaign')
            AND w.about = (c ->> 'number') || ': ' || (c ->> 'words')
        )
    )
"""


ANY_ROW = """
    SELECT
        EXISTS (SELECT FROM campaigns_reviewer v JOIN campaigns_conclusion c ON c.id = v.conclusion_id
            WHERE v.user_id = %(user)s AND c.state = 'in_review') AS review,
        EXISTS (SELECT FROM mine WHERE state IN ('changes_requested', 'reopened')) AS changes,
        EXISTS (SELECT FROM mine WHERE state = 'in_review') AS word,
        EXISTS (SELECT FROM campaigns_launchrequest WHERE state = 'waiting') AS launch,
        EXISTS (SELECT FROM campaigns_mention WHERE user_id = %(user)s AND seen_at IS NULL) AS mention,
        EXISTS (SELECT FROM campaigns_manualstep WHERE done_at IS NULL) AS manual_step,
        EXISTS (SELECT FROM campaigns_alert WHERE closed_at IS NULL AND handling = 'new' AND direction = 'worse'
            AND evidence IN ('confirmed', 'repeated', 'unverified')
            AND (owner_id IS NULL OR owner_id = %(user)s)) AS alert
"""
MINE = """
    WITH mine AS (
        SELECT state FROM campaigns_conclusion WHERE author_id = %(user)s
        UNION ALL
        SELECT c.state FROM campaigns_conclusion c JOIN campaigns_conclusion_writers w ON w.conclusion_id = c.id
        WHERE w.user_id = %(user)s
    )
"""
"""The states of the conclusions that a user writes, whatever the user may see of them."""


class Waits(StrEnum):
    """The reason why an item waits."""

    REVIEW = "review"
    CHANGES = "changes"
    WORD = "word"
    LAUNCH = "launch"
    MENTION = "mention"
    MANUAL_STEP = "manual_step"
    ALERT = "alert"


@dataclass(frozen=True, slots=True)
class Waiting:
    """An item that waits: its row, and since when."""

    why: Waits
    row: Any
    since: datetime


def count(user: User) -> int:
    """Return the number of items that wait for a user, with one query or two."""
    reasons = _reasons(user)
    return _all(user, reasons).count() if reasons else 0


def waiting(user: User) -> list[Waiting]:
    """Return what waits for a user, the longest first; at most MOST items."""
    reasons = _reasons(user)
    if not reasons:
        return []
    results = list(_all(user, reasons).order_by("since", "why", "key")[:MOST])
    rows: dict[str, Mapping[int, Any]] = {
        why: _with_all(ROWS[why](user)).in_bulk(
            [each["key"] for each in results if each["why"] == why]
        )
        for why in {each["why"] for each in results}
    }
    return [
        Waiting(Waits(each["why"]), rows[each["why"]][each["key"]], each["since"])
        for each in results
        if each["key"] in rows[each["why"]]
    ]


def _reasons(user: User) -> list[Waits]:
    """Return the reasons for which there is any row that may wait for a user, without a look at rights."""
    with connection.cursor() as cursor:
        cursor.execute(MINE + ANY_ROW, {"user": user.pk})
        any_rows = cursor.fetchone()
        columns = [column.name for column in cursor.description]
    return [Waits(why) for why, any_row in zip(columns, any_rows, strict=True) if any_row]


def _all(user: User, reasons: Sequence[Waits]) -> QuerySet[Any, Columns]:
    first, *others = [_part(why, user) for why in reasons]
    result: QuerySet[Any, Columns] = first.union(*others, all=True)
    return result


def _part(why: Waits, user: User) -> QuerySet[Any, Columns]:
    result: QuerySet[Any, Columns] = (
        ROWS[why](user)
        .order_by()
        .annotate(why=Value(why.value, CharField()), key=F("pk"), since=SINCE[why])
        .values("why", "key", "since")
    )
    return result


def _reviews(user: User) -> QuerySet[Conclusion]:
    return visible(waiting_for(user), user, right=Right.REVIEW)


def _changes(user: User) -> QuerySet[Conclusion]:
    rows = mine(user).filter(state__in=[State.CHANGES_REQUESTED, State.REOPENED])
    return visible(rows, user, right=Right.WRITE)


def _text(user: User) -> QuerySet[Conclusion]:
    rows = visible(mine(user).filter(state=State.IN_REVIEW), user, right=Right.WRITE)
    return rows.annotate(lacks_a_word=RawSQL(WITHOUT_A_WORD, [], BooleanField())).filter(  # noqa: S611
        lacks_a_word=True
    )


def _launches(user: User) -> QuerySet[LaunchRequest]:
    rows = LaunchRequest.objects.filter(state=LaunchRequest.State.WAITING)
    return visible(rows.exclude(asked_by=user), user, "campaign__team", Right.OPERATE)


def _mentions(user: User) -> QuerySet[Mention]:
    rows = Mention.objects.filter(user=user, seen_at=None)
    about = Q(comment__thread__conclusion=None) | Q(
        comment__thread__conclusion__in=conclusions_seen_by(user).order_by().values("pk")
    )
    return visible(rows.filter(about), user, "comment__thread__team")


def _manual_steps(user: User) -> QuerySet[ManualStep]:
    return visible(open_requests(), user, "target__team", Right.OPERATE)


def _alerts(user: User) -> QuerySet[Alert]:
    """Return the alerts that people are told of, and that nobody has handled: those of the user, and of nobody."""
    rows = Alert.objects.filter(
        closed_at=None,
        handling=Alert.Handling.NEW,
        direction=Alert.Direction.WORSE,
        evidence__in=[*Alert.CALLING, Alert.Evidence.UNVERIFIED],
    )
    return visible(rows.filter(Q(owner=None) | Q(owner=user)), user, right=Right.WRITE)


def _with_all(rows: QuerySet[Any]) -> QuerySet[Any]:
    return rows.select_related(*RELATED[rows.model])


ROWS: Mapping[str, Callable[[User], QuerySet[Any]]] = {
    Waits.REVIEW: _reviews,
    Waits.CHANGES: _changes,
    Waits.WORD: _text,
    Waits.LAUNCH: _launches,
    Waits.MENTION: _mentions,
    Waits.MANUAL_STEP: _manual_steps,
    Waits.ALERT: _alerts,
}
SINCE: Mapping[str, Combinable] = {
    Waits.REVIEW: Coalesce("sent_at", "changed_at"),
    Waits.CHANGES: F("changed_at"),
    Waits.WORD: Coalesce("sent_at", "changed_at"),
    Waits.LAUNCH: F("asked_at"),
    Waits.MENTION: F("comment__at"),
    Waits.MANUAL_STEP: F("asked_at"),
    Waits.ALERT: F("opened_at"),
}
RELATED: Mapping[type[Model], tuple[str, ...]] = {
    Conclusion: ("author", "team"),
    LaunchRequest: ("campaign__team", "asked_by"),
    Mention: (
        "comment__author",
        "comment__thread__team",
        "comment__thread__campaign",
        "comment__thread__conclusion",
    ),
    ManualStep: ("target__team", "campaign", "run"),
    Alert: ("team", "good", "bad"),
}
