"""Notifications: the outbox, the channels of users, and deliveries."""

from django.conf import settings
from django.contrib.postgres.functions import RandomUUID
from django.db import models
from django.db.models.functions import Now

from campaigns.models.campaigns import Campaign
from campaigns.models.reviews import Conclusion
from campaigns.models.teams import Team


class Announcement(models.Model):
    """A row of the outbox, written in the transaction of the event, and read by notifications.

    to: primary keys of the users whom it concerns; empty: all of the team who chose its kind.
    by: who caused the event; that user is not notified. A trial of a channel has no team.
    """

    class Kind(models.TextChoices):
        CAMPAIGN_FINISHED = "campaign_finished", "a campaign has finished"
        CAMPAIGN_FAILED = "campaign_failed", "a campaign failed or paused automatically"
        CAMPAIGN_NEEDS_MANUAL_STEP = "campaign_needs_manual_step", "a campaign needs a manual step"
        REVIEW_ASKED = "review_asked", "a review is requested"
        REVIEW_DECIDED = "review_decided", "a review was decided"
        REVIEW_REOPENED = "review_reopened", "a conclusion was re-opened or taken back"
        MENTIONED = "mentioned", "somebody mentioned you"
        LAUNCH_REQUESTED = "launch_asked", "a launch waits for approval"
        LAUNCH_DECIDED = "launch_decided", "a launch was decided on"
        CREDENTIAL_ENDS = "credential_ends", "a credential of the team ends soon"
        ALERT_CONFIRMED = "alert_confirmed", "a change of a line is confirmed"
        ALERT_ASSIGNED = "alert_assigned", "an alert is yours"
        ALERT_REOPENED = "alert_reopened", "an alert was re-opened"
        LINE_STOPPED = "line_stopped", "a line stopped"
        LINES_DIGEST = "lines_digest", "what happened to lines, each morning"
        TRIAL = "trial", "a trial of a channel"

    kind = models.CharField(max_length=30, choices=Kind)
    team = models.ForeignKey(
        Team, on_delete=models.CASCADE, related_name="announcements", null=True
    )
    campaign = models.ForeignKey(Campaign, on_delete=models.CASCADE, null=True, related_name="+")
    conclusion = models.ForeignKey(
        Conclusion, on_delete=models.CASCADE, null=True, related_name="+"
    )
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+"
    )
    to = models.JSONField(default=list)
    data = models.JSONField(default=dict)
    at = models.DateTimeField(db_default=Now())
    read_at = models.DateTimeField(null=True, help_text="When deliveries were made of it.")

    class Meta:
        ordering = ["pk"]
        indexes = [
            models.Index(
                fields=["id"], condition=models.Q(read_at=None), name="announcements_not_read"
            )
        ]

    def __str__(self) -> str:
        return f"{self.kind} {self.pk}"


class Channel(models.Model):
    """Where a user gets notifications, and of which kinds. `address` and `secret` are encrypted.

    place: the part of the address that may be shown. An e-mail channel without an address uses that
    of the account. `former_secret` signs as well as `secret` until `former_until`. teams: primary keys;
    empty: all. `failed` tries and `given_up` deliveries are counted since the last success.
    """

    class Kind(models.TextChoices):
        EMAIL = "email", "e-mail"
        WEBHOOK = "webhook", "webhook"
        CHAT = "chat", "chat service"

    user = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="channels"
    )
    name = models.CharField(max_length=100)
    kind = models.CharField(max_length=10, choices=Kind)
    address = models.TextField(blank=True, editable=False)
    place = models.CharField(max_length=300, blank=True)
    secret = models.TextField(blank=True, editable=False)
    former_secret = models.TextField(blank=True, editable=False)
    former_until = models.DateTimeField(null=True)
    kinds = models.JSONField(default=list, help_text="Of Announcement.Kind.")
    teams = models.JSONField(default=list)
    is_on = models.BooleanField(default=True)
    off_reason = models.TextField(blank=True)
    is_confirmed = models.BooleanField(
        default=True, help_text="Its owner has opened the link that was sent to the address."
    )
    failed = models.PositiveIntegerField(default=0)
    given_up = models.PositiveIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["user", "name"], name="channel_name_once_a_user")
        ]

    def __str__(self) -> str:
        return self.name


class Delivery(models.Model):
    """The delivery of one announcement to one channel. `uid` is the same at every try.

    claimed_until: until then a worker delivers it; after that it is tried again.
    """

    class State(models.TextChoices):
        WAITING = "waiting", "waiting"
        DELIVERED = "delivered", "delivered"
        GIVEN_UP = "given_up", "given up"
        DROPPED = "dropped", "not sent"

    uid = models.UUIDField(db_default=RandomUUID(), unique=True, editable=False)

    announcement = models.ForeignKey(
        Announcement, on_delete=models.CASCADE, related_name="deliveries"
    )
    channel = models.ForeignKey(Channel, on_delete=models.CASCADE, related_name="deliveries")
    state = models.CharField(max_length=10, choices=State, default=State.WAITING)
    tries = models.PositiveSmallIntegerField(default=0)
    created_at = models.DateTimeField(db_default=Now())
    not_before = models.DateTimeField(db_default=Now())
    claimed_until = models.DateTimeField(null=True)
    message = models.TextField(blank=True, help_text="What went wrong at the last try.")
    delivered_at = models.DateTimeField(null=True)

    class Meta:
        verbose_name_plural = "deliveries"
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["announcement", "channel"], name="delivered_once_a_channel"
            )
        ]
        indexes = [
            models.Index(
                fields=["not_before"],
                condition=models.Q(state="waiting"),
                name="deliveries_waiting",
            )
        ]

    def __str__(self) -> str:
        return f"{self.announcement} by {self.channel}"
