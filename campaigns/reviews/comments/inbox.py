"""Lines of the inbox: what waits for a user, with the page on which it is done."""

from dataclasses import dataclass
from datetime import datetime

from django.urls import reverse

from campaigns.kit.mappings import JsonObject
from campaigns.models import Alert, Conclusion, LaunchRequest, ManualStep, Mention
from campaigns.reviews.comments.places import place_text
from campaigns.reviews.inbox import Waiting, Waits

LONGEST = 160


@dataclass(frozen=True, slots=True)
class Line:
    """An item of the inbox. what: the name of its subject; words: what to do; path: the path of its page."""

    why: str
    what: str
    words: str
    path: str
    team: str
    since: datetime


def inbox_line(waiting: Waiting) -> Line:
    """Describe what waits."""
    what, labels, path, team = TOLD[waiting.why](waiting.row)
    return Line(waiting.why, what, labels, path, team, waiting.since)


Told = tuple[str, str, str, str]


def _review(row: Conclusion) -> Told:
    text = f"{row.author} asks you to review it: revision {row.revision}."
    return row.claim, text, _page(row), row.team.name


def _changes(row: Conclusion) -> Told:
    done = "Changes were asked for"
    if row.state == Conclusion.State.REOPENED:
        done = "It was re-opened, because its evidence has changed"
    text = f"{done}: {row.reason}" if row.reason else f"{done}."
    return row.claim, _short(text), _page(row), row.team.name


def _word(row: Conclusion) -> Told:
    text = "A check warns or has failed, and needs a justification."
    return row.claim, text, _page(row), row.team.name


def _launch(row: LaunchRequest) -> Told:
    text = f"{row.asked_by} asks for approval: {row.get_step_display()} on a production server."
    path = reverse("campaign", args=[row.campaign_id])
    return row.campaign.name, text, path, row.campaign.team.name


def _mention(row: Mention) -> Told:
    thread = row.comment.thread
    where = place_text(thread)
    label = (
        f"{row.comment.author} mentioned you{f' on {where}' if where else ''}: {row.comment.text}"
    )
    path = f"{reverse('thread', args=[thread.pk])}#comment-{row.comment_id}"
    return str(thread.campaign or thread.conclusion), _short(label), path, thread.team.name


def _manual_step(row: ManualStep) -> Told:
    path = reverse("home")
    if row.campaign_id is not None:
        path = reverse("campaign", args=[row.campaign_id])
    return row.target.name, _short(f"Manual step needed: {row.words}"), path, row.target.team.name


def _alert(row: Alert) -> Told:
    what = f"{row.subject} {row.bad}" if row.bad else f"Alert {row.pk}"
    before = f" than {row.good}" if row.good else ""
    text = f"Worse{before}: {row.get_evidence_display()}. Take it, or say what it is."
    return what, text, reverse("alert", args=[row.pk]), row.team.name


def _page(row: Conclusion) -> str:
    return reverse("conclusion", args=[row.pk])


def _short(text: str) -> str:
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"


TOLD: JsonObject = {
    Waits.REVIEW: _review,
    Waits.CHANGES: _changes,
    Waits.WORD: _word,
    Waits.LAUNCH: _launch,
    Waits.MENTION: _mention,
    Waits.MANUAL_STEP: _manual_step,
    Waits.ALERT: _alert,
}
