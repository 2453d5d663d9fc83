"""Archive campaigns, and set how long a team keeps raw samples."""

from typing import Any

from django import forms
from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.forms import form_field, messages_of
from campaigns.kit.mappings import JsonObject
from campaigns.models import Campaign, Retention, Team
from campaigns.planning.lifecycle.rows import log, name_of


class RetentionForm(forms.ModelForm):
    """How long a team keeps raw samples; without a number, for ever."""

    class Meta:
        model = Retention
        formfield_callback = form_field
        fields = ("keep_samples_days",)

    def __init__(self, *arguments: Any, **named: Any) -> None:
        super().__init__(*arguments, **named)
        self.fields["keep_samples_days"].required = False
        self.fields["keep_samples_days"].unit = "days"  # type: ignore[attr-defined]


@transaction.atomic
def archive(campaign: Campaign, user: User) -> Campaign:
    """Take a campaign that has ended, or a draft, out of the lists. Raise NotPossible while it is active."""
    locked = Campaign.objects.select_for_update(no_key=True).get(pk=campaign.pk)
    if locked.state in Campaign.ACTIVE:
        raise NotPossible(
            f"“{locked.name}” is {locked.get_state_display()}: archive it when it is over."
        )
    if locked.archived_at is None:
        Campaign.objects.filter(pk=locked.pk).update(archived_at=Now())
        log(locked, f"archived by {name_of(user)}")
        record(Action.CAMPAIGN_ARCHIVED, user=user, campaign=locked)
    return Campaign.objects.get(pk=locked.pk)


@transaction.atomic
def unarchive(campaign: Campaign, user: User) -> Campaign:
    """Show a campaign in the lists again."""
    if Campaign.objects.filter(pk=campaign.pk).exclude(archived_at=None).update(archived_at=None):
        log(campaign, f"taken out of the archive by {name_of(user)}")
        record(Action.CAMPAIGN_UNARCHIVED, user=user, campaign=campaign)
    return Campaign.objects.get(pk=campaign.pk)


@transaction.atomic
def keep_samples(team: Team, days: Any, user: User) -> int | None:
    """Set for how many days a team keeps raw samples (None: for ever) and return the number. Raise Invalid."""
    form = RetentionForm({"keep_samples_days": days})
    if not form.is_valid():
        raise Invalid(messages_of(form))
    wanted = form.cleaned_data["keep_samples_days"]
    locked = Team.objects.select_for_update().get(pk=team.pk)
    before = kept_days(locked)
    if before != wanted:
        Retention.objects.filter(team=locked).delete()
        if wanted is not None:
            Retention.objects.create(team=locked, keep_samples_days=wanted)
        changed = {"keep_samples_days": [before, wanted]}
        record(Action.TEAM_EDITED, user=user, team=locked, subject=locked, changed=changed)
    return kept_days(locked)


def kept_days(team: Team) -> int | None:
    """Return for how many days a team keeps raw samples; None: for ever."""
    rows = Retention.objects.filter(team=team).values_list("keep_samples_days", flat=True)
    return rows.first()


def rule_of(team: Team) -> JsonObject:
    """Return the rule of a team, from which its revision is computed."""
    return {"keep_samples_days": kept_days(team)}
