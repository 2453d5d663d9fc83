"""The servers under test."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now

from campaigns.models.teams import Team, default_team


class Target(models.Model):
    """A server under test.

    address: what leases are taken on: the normalised host:port of `base_url`, or the address of another
    target that is the same server.
    `password` is encrypted (campaigns.kit.encryption), and never shown.
    Campaigns respect the owner's limits; null: no limit. `quiet_hours` are lines
    that campaigns.targets.quiet_hours reads, in the time zone `quiet_zone`; nothing loads the target then.
    is_dedicated: only perfdash uses it, and may delete unused data there.
    `ca_bundle`, `client_certificate` and the encrypted `client_key` are PEM texts; without
    `verify_tls` every certificate is trusted. hardware: a description by the operator.
    A production server is loaded only after a user typed its name.
    Labels, help texts and limits here are also those of the form and the REST API
    (campaigns.targets.forms).
    confirmed_rule: the rule that the owner confirmed when saving it, or empty.
    confirmed_feeds: rules of loopback or private addresses that workers may read for its runs, as their owner confirmed.
    rights: by which its login reaches beyond the target, as asked last; null: not asked since address or user changed.
    """

    class Health(models.TextChoices):
        UNKNOWN = "unknown", "not probed yet"
        READY = "ready", "ready"
        UNREACHABLE = "unreachable", "unreachable"
        REFUSED = "refused", "not allowed"

    team = models.ForeignKey(Team, on_delete=models.PROTECT, default=default_team)
    name = models.CharField(max_length=100)
    family = models.CharField(max_length=30)
    base_url = models.CharField(
        "base URL",
        max_length=500,
        help_text="http:// or https://, host and port; no user name in it.",
    )
    content_url = models.CharField(
        "content URL",
        max_length=500,
        blank=True,
        help_text="Of a Pulp that serves content at another port of its host than its API: where that is, such as http://pulp.example:24816. "
        "It is held with the server.",
    )
    address = models.CharField(max_length=300, db_index=True)
    username = models.CharField(
        "user name",
        max_length=200,
        blank=True,
        help_text="For kinds that sign in at the server; the downloader does not.",
    )
    password = models.TextField(blank=True, editable=False)
    settings = models.JSONField(default=dict, blank=True)
    is_dedicated = models.BooleanField(
        "this server belongs to perfdash alone",
        default=False,
        help_text=(
            "A kind that empties its server may then delete unclaimed content at once. Never tick it "
            "for a server with content of others."
        ),
    )
    verify_tls = models.BooleanField(default=True)
    ca_bundle = models.TextField(
        "CA bundle",
        max_length=200_000,
        blank=True,
        help_text="PEM. For a server whose certificate no public authority has signed.",
    )
    client_certificate = models.TextField(
        max_length=50_000,
        blank=True,
        help_text="PEM. In place of user name and password, where the server takes it.",
    )
    client_key = models.TextField(blank=True, editable=False)
    hardware = models.TextField(
        "hardware and network",
        max_length=2000,
        blank=True,
        help_text="What it runs on, in your words; stored with every run measured from now on.",
    )
    runs_on = models.CharField(
        max_length=100,
        blank=True,
        help_text="The name of the machine. Targets of one campaign with the same name share it, which is shown beside their comparison.",
    )
    confirmed_rule = models.CharField(max_length=300, blank=True)
    max_concurrency = models.PositiveIntegerField(
        "most requests at a time",
        null=True,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(1_000_000)],
        help_text="A campaign that asks for more is refused. Empty: no limit.",
    )
    max_requests_per_second = models.FloatField(
        "most requests a second",
        null=True,
        blank=True,
        validators=[MinValueValidator(0.01), MaxValueValidator(1_000_000)],
        help_text="No run begins more of them in any second. Empty: no limit.",
    )
    quiet_hours = models.TextField(
        max_length=5000,
        blank=True,
        help_text=(
            "Nothing loads the server then. One window per line: Mon-Fri 08:00-18:00, or "
            "Sat,Sun 00:00-24:00, or daily 22:00-06:00. Empty: none."
        ),
    )
    quiet_zone = models.CharField(
        "time zone of the quiet hours",
        max_length=60,
        blank=True,
        default="UTC",
        help_text="Such as Europe/Berlin; summer time is respected.",
    )
    is_production = models.BooleanField(
        "this is a production server",
        default=False,
        help_text="Others depend on it: its name must be typed before it is loaded.",
    )
    overload_until = models.DateTimeField(
        "may be overloaded until",
        null=True,
        blank=True,
        help_text="Up to this time (UTC) a search may load it until work fails, and a production server may get more load than it has carried. Empty: never.",
    )
    overload_hours = models.TextField(
        "hours in which it may be overloaded",
        max_length=5000,
        blank=True,
        help_text="One window per line, as quiet hours, in their time zone. Empty: at any hour.",
    )
    process_groups = models.JSONField(
        null=True,
        blank=True,
        help_text="Groups of processes for watches: name and patterns each, in order. Null: those of the family.",
    )
    links = models.JSONField(
        default=list,
        blank=True,
        help_text="Addresses of other tools, each with a title, opened with the time range of a run.",
    )
    notes = models.TextField(max_length=2000, blank=True)
    created_at = models.DateTimeField(db_default=Now())
    retired_at = models.DateTimeField(null=True, blank=True)

    health = models.CharField(max_length=20, choices=Health, default=Health.UNKNOWN)
    health_message = models.TextField(blank=True)
    probed_at = models.DateTimeField(null=True, blank=True)
    proofs = models.JSONField(default=list, blank=True)
    probe_began_at = models.DateTimeField(null=True, blank=True, help_text="Null: none is on.")
    rights = models.JSONField(null=True, blank=True)
    confirmed_feeds = models.JSONField(default=list, blank=True)

    class Meta:
        ordering = ["name"]
        constraints = [
            models.UniqueConstraint(fields=["team", "name"], name="target_name_once_in_a_team"),
            models.CheckConstraint(
                condition=~models.Q(max_concurrency=0) & ~models.Q(max_requests_per_second__lte=0),
                name="limits_of_a_target_let_something_through",
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ConfirmedRights(models.Model):
    """Rights of the login of a target, by which it reaches beyond the target, that an admin of the team has confirmed.

    It holds for these rights, this user name and this base URL alone.
    """

    target = models.OneToOneField(Target, on_delete=models.CASCADE, related_name="confirmed_rights")
    rights = models.JSONField()
    username = models.CharField(max_length=200, blank=True)
    base_url = models.CharField(max_length=500)
    confirmed_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, related_name="+"
    )
    confirmed_at = models.DateTimeField(db_default=Now())

    def __str__(self) -> str:
        return f"{self.username}: {', '.join(self.rights)}"
