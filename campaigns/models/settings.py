"""Settings and reset steps of targets, SSH logins, and requests for manual steps."""

from django.conf import settings
from django.core.validators import MaxValueValidator, MinValueValidator
from django.db import models
from django.db.models.functions import Now

from campaigns.models.campaigns import FACTOR_LETTERS, Campaign
from campaigns.models.runs import Run
from campaigns.models.targets import Target

WRITABLE = [MinValueValidator(-1e15), MaxValueValidator(1e15)]


class SshLogin(models.Model):
    """The SSH login for commands on the target's machine. `key` and `password` are encrypted, and never shown.

    host_key: the key that an admin has accepted, as a line of OpenSSH. offered_key: another one
    that the machine has presented since. confirmed_rule: the rule that the owner confirmed, or empty.
    """

    target = models.OneToOneField(Target, on_delete=models.CASCADE, related_name="ssh")
    host = models.CharField(max_length=253, help_text="Name or address of the machine.")
    port = models.PositiveIntegerField(
        default=22, blank=True, validators=[MinValueValidator(1), MaxValueValidator(65535)]
    )
    username = models.CharField("user name", max_length=200)
    key = models.TextField(blank=True, editable=False)
    password = models.TextField(blank=True, editable=False)
    host_key = models.TextField(blank=True)
    offered_key = models.TextField(blank=True)
    confirmed_rule = models.CharField(max_length=300, blank=True)
    looked_at = models.DateTimeField(null=True, blank=True)
    look_failure = models.TextField(blank=True)

    class Meta:
        constraints = [
            models.CheckConstraint(
                condition=models.Q(port__gte=1, port__lte=65535), name="ssh_port_is_a_port"
            )
        ]

    def __str__(self) -> str:
        return f"{self.username}@{self.host}:{self.port}"


class Setting(models.Model):
    """A setting of a target that can be applied and read back; campaigns may vary it as a factor.

    `apply` and `read_back` are actions of campaigns.targets.actions. manual_value: the value that a
    person has confirmed last as set manually; null: unknown.
    """

    class Type(models.TextChoices):
        INTEGER = "integer", "integer"
        NUMBER = "number", "number"
        TEXT = "text", "text"
        CHOICE = "choice", "choice"

    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="setting_rows")
    name = models.CharField(
        max_length=FACTOR_LETTERS, help_text="As campaigns call it, such as puma_workers."
    )
    label = models.CharField(
        max_length=100, blank=True, help_text="As people read it. Empty: the name."
    )
    unit = models.CharField(max_length=20, blank=True)
    type = models.CharField(max_length=10, choices=Type, default=Type.INTEGER)
    minimum = models.FloatField(null=True, blank=True, validators=WRITABLE)
    maximum = models.FloatField(null=True, blank=True, validators=WRITABLE)
    unlimited = models.FloatField(
        "no limit",
        null=True,
        blank=True,
        validators=WRITABLE,
        help_text="The number that means no limit, such as 0 or -1: as a level it comes after all others.",
    )
    choices = models.JSONField(default=list, blank=True)
    hard_to_change = models.BooleanField(
        default=True,
        help_text="Changing it costs much, such as a restart: campaigns change it as seldom as they can.",
    )
    is_build = models.BooleanField(
        "a build",
        default=False,
        help_text="A version of the server's software, which is installed: it is always hard to change, and is read back "
        "from the server itself.",
    )
    apply = models.JSONField()
    read_back = models.JSONField()
    manual_value = models.JSONField(null=True, blank=True)
    manual_at = models.DateTimeField(null=True, blank=True)
    looked_at = models.DateTimeField(null=True, blank=True)
    look_value = models.JSONField(null=True, blank=True)
    look_failure = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(fields=["target", "name"], name="setting_once_a_target")
        ]

    def __str__(self) -> str:
        return self.name


class TargetStep(models.Model):
    """A reset command or a readiness check of a target; `action`: as in campaigns.targets.actions."""

    class Purpose(models.TextChoices):
        RESET = "reset", "reset"
        READY = "ready", "readiness"

    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="steps")
    purpose = models.CharField(
        "when",
        max_length=10,
        choices=Purpose,
        default=Purpose.RESET,
        help_text="A reset is done before each run; readiness is awaited after a reset or a setting.",
    )
    position = models.PositiveIntegerField(
        default=1,
        blank=True,
        validators=[MinValueValidator(1), MaxValueValidator(1000)],
        help_text="Lower ones come first.",
    )
    name = models.CharField(
        max_length=80, help_text="Such as “restart the services”; it names its proof."
    )
    action = models.JSONField()

    class Meta:
        ordering = ["purpose", "position", "pk"]
        constraints = [
            models.UniqueConstraint(fields=["target", "name"], name="target_step_once"),
            models.CheckConstraint(
                condition=models.Q(purpose__in=["reset", "ready"]), name="step_purpose_known"
            ),
        ]

    def __str__(self) -> str:
        return self.name


class ManualStep(models.Model):
    """A manual step on a target, for which a run waits.

    Either a setting with the `value` to apply, or a step to do before the attempt. Without a run
    it only records the value of a setting before the campaign, and nothing waits for it.
    """

    TEAM = "target__team"
    """The path to the team whose members have rights to the row; see `kit.rights`."""

    target = models.ForeignKey(Target, on_delete=models.CASCADE, related_name="manual_steps")
    campaign = models.ForeignKey(
        Campaign, on_delete=models.CASCADE, related_name="manual_steps", null=True
    )
    run = models.ForeignKey(
        Run, on_delete=models.CASCADE, related_name="manual_steps", null=True, blank=True
    )
    attempt_number = models.PositiveIntegerField(default=1)
    setting = models.ForeignKey(Setting, on_delete=models.CASCADE, null=True, blank=True)
    step = models.ForeignKey(TargetStep, on_delete=models.CASCADE, null=True, blank=True)
    value = models.JSONField(null=True, blank=True)
    words = models.TextField(blank=True)
    asked_at = models.DateTimeField(db_default=Now())
    done_at = models.DateTimeField(null=True, blank=True)
    done_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.PROTECT, null=True, blank=True
    )

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.CheckConstraint(
                condition=models.Q(setting__isnull=True) ^ models.Q(step__isnull=True),
                name="manual_step_for_a_setting_or_a_step",
            )
        ]

    def __str__(self) -> str:
        return self.words


class FoundSetting(models.Model):
    """The value of a setting before a campaign first changed it, until it is restored.

    claimed_until: until then a worker restores it, or nobody tries again. given_up: why it failed.
    """

    campaign = models.ForeignKey(
        Campaign, on_delete=models.SET_NULL, null=True, related_name="found_settings"
    )
    setting = models.ForeignKey(Setting, on_delete=models.CASCADE, related_name="found")
    value = models.JSONField()
    found_at = models.DateTimeField(db_default=Now())
    restore = models.BooleanField(default=True)
    restored_at = models.DateTimeField(null=True, blank=True)
    tries = models.PositiveIntegerField(default=0)
    claimed_until = models.DateTimeField(null=True, blank=True)
    given_up = models.TextField(blank=True)

    class Meta:
        ordering = ["pk"]
        constraints = [
            models.UniqueConstraint(
                fields=["campaign", "setting"],
                condition=models.Q(restored_at__isnull=True, given_up=""),
                name="found_setting_once",
            )
        ]

    def __str__(self) -> str:
        return f"{self.setting} was {self.value}"
