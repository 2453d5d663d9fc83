"""Write the text of each message: what happened, to which object, what to do, and a link."""

from collections.abc import Mapping
from dataclasses import dataclass

from django.conf import settings
from django.urls import NoReverseMatch, reverse

from campaigns.accounts.notifications import confirming
from campaigns.kit.mappings import JsonObject
from campaigns.models import Announcement, Campaign, Channel, Conclusion, Delivery

Kind = Announcement.Kind
LONGEST_SUBJECT = 150
LONGEST_WORDS = 1000
HAPPENED: Mapping[str, tuple[str, str]] = {
    Kind.CAMPAIGN_FINISHED: (
        "Campaign finished",
        "Look at the result; where it answers the question, write a conclusion.",
    ),
    Kind.CAMPAIGN_FAILED: (
        "Campaign needs a look",
        "Look at its log and its target; then resume, extend or cancel it.",
    ),
    Kind.CAMPAIGN_NEEDS_MANUAL_STEP: (
        "A manual step is needed",
        "Do it, and confirm it on the campaign's page; its runs wait for that.",
    ),
    Kind.REVIEW_ASKED: (
        "Your review is requested",
        "Look at the checklist and the evidence, then decide.",
    ),
    Kind.REVIEW_DECIDED: ("A review was decided", "Read the decision and its reason."),
    Kind.REVIEW_REOPENED: (
        "A conclusion was re-opened or taken back",
        "Read what changed; it is not valid until it is reviewed again.",
    ),
    Kind.MENTIONED: ("You were mentioned", "Read it, and answer where it was written."),
    Kind.LAUNCH_REQUESTED: (
        "A launch waits for approval",
        "Look at the plan and the target, then approve or reject it.",
    ),
    Kind.LAUNCH_DECIDED: ("A launch was decided on", "Look at the campaign."),
    Kind.CREDENTIAL_ENDS: ("A credential ends", "Give it a new certificate."),
    Kind.ALERT_CONFIRMED: (
        "A change of a line is confirmed",
        "Look at the alert, and take it, or say what it is.",
    ),
    Kind.ALERT_ASSIGNED: ("An alert is yours", "Look at it, and say what it is."),
    Kind.ALERT_REOPENED: ("An alert was re-opened", "Look at it again."),
    Kind.LINE_STOPPED: ("A line stopped", "Put right what stopped it, and resume the line."),
    Kind.LINES_DIGEST: ("Lines this morning", "Look at the alerts."),
    Kind.TRIAL: ("This is a test", "There is nothing to do: the channel works."),
}
"""Title and next step of each kind; an announcement can replace the next step."""


@dataclass(frozen=True, slots=True)
class Message:
    """The text of a message.

    answer: that of a campaign that has ended. words: a quotation of what a person wrote. url: empty without a base URL.
    """

    kind: str
    title: str
    which: str
    what: str
    answer: str
    words: str
    to_do: str
    url: str
    choices_url: str

    @property
    def subject(self) -> str:
        """Return the subject, on one line."""
        which = f": {self.which}" if self.which else ""
        return _one_line(f"{self.title}{which}", LONGEST_SUBJECT)

    @property
    def text(self) -> str:
        """Return the body as plain text."""
        quoted = "\n".join(f"> {line}" for line in self.words.splitlines())
        parts = (self.what, self.answer, quoted, self.to_do, self.url)
        return "\n\n".join(part for part in parts if part)


def message_of(delivery: Delivery) -> Message:
    """Return the message of a delivery."""
    row = delivery.announcement
    title, to_do = HAPPENED[row.kind]
    data: JsonObject = row.data
    what = _text(data.get("what")) or f"{Kind(row.kind).label.capitalize()}."
    url, choices_url = page_of(row), absolute(reverse("notifications"))
    if row.kind == Kind.TRIAL and not delivery.channel.is_confirmed:
        title, choices_url = "Is this address yours?", ""
    if row.kind == Kind.TRIAL:
        what, to_do, url = _of_trial(delivery.channel)
    return Message(
        kind=row.kind,
        title=title,
        which=_which(row),
        what=what,
        answer=_answer_in(data),
        words=_text(data.get("words"))[:LONGEST_WORDS],
        to_do=_text(data.get("to_do")) or to_do,
        url=url,
        choices_url=choices_url,
    )


def _answer_in(data: JsonObject) -> str:
    """Return verdict, certainty and the worst caveat, with the number of others."""
    more = data.get("more_caveats")
    texts = [_text(data.get(name)) for name in ("answer", "certainty", "caveat")]
    texts += [f"And {more} more."] if texts[-1] and isinstance(more, int) and more else []
    return " ".join(filter(None, texts))


def page_of(row: Announcement) -> str:
    """Return the URL of the page of an announcement; empty if there is none."""
    path = row.data.get("path")
    if isinstance(path, str) and path.startswith("/") and not path.startswith("//"):
        return absolute(path)
    try:
        if row.conclusion_id is not None:
            return absolute(reverse("conclusion", args=[row.conclusion_id]))
        if row.campaign_id is not None:
            return absolute(reverse("campaign", args=[row.campaign_id]))
    except NoReverseMatch:
        return ""
    return absolute("/")


def absolute(path: str) -> str:
    """Return the absolute URL of a page; empty without a base URL."""
    return f"{settings.BASE_URL.rstrip('/')}{path}" if settings.BASE_URL else ""


def _which(row: Announcement) -> str:
    named: Conclusion | Campaign | None = row.conclusion or row.campaign
    return "" if named is None else f"“{_one_line(str(named), 100)}”"


def _of_trial(channel: Channel) -> tuple[str, str, str]:
    if channel.is_confirmed:
        what = f"perfdash sends this because its channel “{channel.name}” was tried out."
        return what, HAPPENED[Kind.TRIAL][1], absolute(reverse("notifications"))
    what = f"{channel.user} wants to receive notifications at this address."
    to_do = (
        f"If that is you, open the link, signed in as {channel.user}, within "
        f"{confirming.DAYS} days. If not, do nothing: nothing will be sent."
    )
    return what, to_do, absolute(reverse("channel-confirm", args=[confirming.token_of(channel)]))


def _text(value: object) -> str:
    return value.strip() if isinstance(value, str) else ""


def _one_line(text: str, most: int) -> str:
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= most else f"{line[: most - 1]}…"
