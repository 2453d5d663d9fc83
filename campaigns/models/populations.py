"""Hosts that are registered once at a target, and stay there for the runs of many campaigns."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now

from campaigns.models.targets import Target

MOST_HOSTS = 20_000
DAYS, MOST_DAYS = 30, 365


class Population(models.Model):
    """Hosts of a target, named by the installation, this row and their numbers (`campaigns.targets.populations`).

    registered: how many are registered and stored. problem: why the work on it failed last; empty if it did not.
    `key` is encrypted (campaigns.kit.encryption), and never shown: it seals the identities of the parts.
    tries: failures since something last succeeded. due_at: when somebody looks at it next; null: at once.
    claim, claimed_until: of the worker that registers or deletes its hosts now; null: of nobody.
    """

    class State(models.TextChoices):
        MAKING = "making", "being registered"
        READY = "ready", "ready"
        FAILED = "failed", "not complete"
        DELETING = "deleting", "being deleted"

    AT_WORK = (State.MAKING, State.DELETING)

    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="populations")
    hosts = models.PositiveIntegerField(
        validators=[MinValueValidator(1), MaxValueValidator(MOST_HOSTS)],
        help_text="How many are registered. Each stays at the server until the population is deleted.",
    )
    organization = models.CharField(max_length=120, help_text="Label of the organization.")
    activation_keys = models.CharField(
        max_length=400,
        help_text="Names of activation keys of that organization, separated by commas.",
    )
    days = models.PositiveIntegerField(
        default=DAYS,
        validators=[MinValueValidator(1), MaxValueValidator(MOST_DAYS)],
        help_text="After so many days it is deleted, here and at the server.",
    )
    key = models.TextField(editable=False)
    state = models.CharField(max_length=10, choices=State, default=State.MAKING)
    registered = models.PositiveIntegerField(default=0)
    problem = models.TextField(blank=True)
    tries = models.PositiveIntegerField(default=0)
    due_at = models.DateTimeField(null=True)
    claim = models.CharField(max_length=32, blank=True)
    claimed_until = models.DateTimeField(null=True)
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, null=True, on_delete=models.SET_NULL, related_name="+"
    )
    created_at = models.DateTimeField(db_default=Now())

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(
                    hosts__gte=1, hosts__lte=MOST_HOSTS, registered__lte=models.F("hosts")
                ),
                name="a_population_has_hosts",
            )
        ]

    def __str__(self) -> str:
        return f"population {self.pk}"


class PopulationPart(models.Model):
    """Some hosts of a population, with their certificates and keys, sealed by the population's key. Only generators see them.

    number: of the part, from 0.
    """

    population = models.ForeignKey(Population, on_delete=models.CASCADE, related_name="parts")
    number = models.PositiveIntegerField()
    hosts = models.PositiveIntegerField()
    identities = models.TextField(editable=False)

    class Meta:
        ordering = ["population", "number"]
        constraints = [models.UniqueConstraint(fields=["population", "number"], name="a_part_once")]

    def __str__(self) -> str:
        return f"part {self.number} of population {self.population_id}"
