"""The servers under test."""

from django.db import models
from django.db.models.functions import Now

from campaigns.models.teams import Team, default_team


class Target(models.Model):
    """A server under test. `address` is what a lease holds: its normalised host:port.

    Or that of another target that was found to be the same server; its own is that of `base_url`.
    `password` is encrypted (campaigns.kit.encryption); it is never shown again.
    The limits are its owner's: campaigns keep to them, and a null sets none. `quiet_hours` are lines
    that campaigns.targets.quiet_hours reads, in the time zone `quiet_zone`; nothing loads the target then.
    `is_dedicated`: it belongs to perfdash alone, which may delete what nobody claims there.
    `ca_bundle`, `client_certificate` and the encrypted `client_key` are PEM texts; without
    `verify_tls` whoever answers is trusted. `hardware` is the operator's word on what it runs on.
    A production server is loaded only when somebody typed its name.
    `confirmed_rule` is the rule that its owner confirmed when saving it, or empty.
    """

    class Health(models.TextChoices):
        UNKNOWN = "unknown", "not probed yet"
        READY = "ready", "ready"
        UNREACHABLE = "unreachable", "unreachable"
        REFUSED = "refused", "not allowed"

    team = models.ForeignKey(Team, on_delete=models.PROTECT, default=default_team)
    name = models.CharField(max_length=100)
    family = models.CharField(max_length=30)
    base_url = models.URLField(max_length=500)
    address = models.CharField(max_length=300, db_index=True)
    username = models.CharField(max_length=200, blank=True)
    password = models.TextField(blank=True, editable=False)
    settings = models.JSONField(default=dict, blank=True)
    is_dedicated = models.BooleanField(default=False)
    verify_tls = models.BooleanField(default=True)
    ca_bundle = models.TextField(blank=True)
    client_certificate = models.TextField(blank=True)
    client_key = models.TextField(blank=True, editable=False)
    hardware = models.TextField(blank=True)
    confirmed_rule = models.CharField(max_length=300, blank=True)
    max_concurrency = models.PositiveIntegerField(null=True, blank=True)
    max_requests_per_second = models.FloatField(null=True, blank=True)
    quiet_hours = models.TextField(blank=True)
    quiet_zone = models.CharField(max_length=60, default="UTC")
    is_production = models.BooleanField(default=False)
    notes = models.TextField(blank=True)
    created_at = models.DateTimeField(db_default=Now())
    retired_at = models.DateTimeField(null=True, blank=True)

    health = models.CharField(max_length=20, choices=Health, default=Health.UNKNOWN)
    health_message = models.TextField(blank=True)
    probed_at = models.DateTimeField(null=True, blank=True)
    proofs = models.JSONField(default=list, blank=True)
    probe_began_at = models.DateTimeField(null=True, blank=True, help_text="Null: none is on.")

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
