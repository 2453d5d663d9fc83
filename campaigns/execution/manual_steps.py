"""Manual steps: which ones a run waits for, and their confirmation."""

from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.errors import NotPossible
from campaigns.kit.mappings import Settings
from campaigns.kit.rights import Right, require_right
from campaigns.models import Attempt, Campaign, FoundSetting, ManualStep, Run, Setting, TargetStep
from campaigns.planning.configurations import run_values
from campaigns.planning.lifecycle.rows import log, name_of
from campaigns.targets.actions import MANUAL


@transaction.atomic
def confirm(request: ManualStep, user: User | None) -> ManualStep:
    """Confirm a manual step; a run that waits for it may begin. Raise NotPossible.

    The earlier value of a setting, where a person entered it, is stored to be restored at the end.
    """
    row = ManualStep.objects.select_for_update(no_key=True).get(pk=request.pk)
    require_right(user, row.target, Right.OPERATE)
    if row.done_at is not None:
        raise NotPossible(f"It was done already, confirmed by {name_of(row.done_by)}.")
    if not open_requests().filter(pk=row.pk).exists():
        raise NotPossible("Nothing waits for it any more: its campaign was paused or is over.")
    if row.setting_id is not None:
        setting = Setting.objects.select_for_update(no_key=True).get(pk=row.setting_id)
        if row.run_id is not None and row.campaign is not None:
            _keep(setting, row.campaign)
        Setting.objects.filter(pk=setting.pk).update(manual_value=row.value, manual_at=Now())
    ManualStep.objects.filter(pk=row.pk).update(done_at=Now(), done_by=user)
    if row.campaign is not None:
        log(row.campaign, f"manual step done, confirmed by {name_of(user)}: {row.words}", row.run)
    record(Action.MANUAL_STEP_DONE, user=user, subject=row, target=row.target.name)
    return ManualStep.objects.get(pk=row.pk)


def _keep(setting: Setting, campaign: Campaign) -> None:
    if setting.manual_value is None or _set_last_by(setting) == campaign:
        return
    restore = campaign.settings_afterwards == Campaign.Afterwards.RESTORE
    FoundSetting.objects.get_or_create(
        campaign=campaign,
        setting=setting,
        restored_at=None,
        given_up="",
        defaults={"value": setting.manual_value, "restore": restore},
    )


def _set_last_by(setting: Setting) -> Campaign | None:
    """Return the campaign for whose runs a setting was last set manually; None: for none, or it was restored."""
    done = ManualStep.objects.filter(setting=setting, done_at__isnull=False)
    last = done.select_related("campaign").order_by("-done_at").first()
    return last.campaign if last is not None and last.run_id is not None else None


def open_requests(campaign: Campaign | None = None) -> QuerySet[ManualStep]:
    """Return requests that block a run which may begin, and those to restore a setting."""
    running = Q(run__campaign__state=Campaign.State.RUNNING) | Q(
        run__campaign__state=Campaign.State.DRAFT, run__purpose=Run.Purpose.TRIAL
    )
    wanted = Q(run=None) | (Q(run__state=Run.State.PLANNED) & running)
    rows = ManualStep.objects.filter(wanted, done_at=None, target__retired_at=None)
    if campaign is not None:
        rows = rows.filter(campaign=campaign)
    return rows.select_related("target", "campaign", "run", "setting", "step").order_by("pk")


def wanted_of(run: Run) -> Settings:
    """Return fixed values and levels of a run by name: of the kind and of the target."""
    return run_values(run.campaign, run.cell.levels_by_factor)


def needed(run: Run) -> list[tuple[Setting | TargetStep, Any]]:
    """Return the manual steps before a run: settings with their value, steps with None."""
    target = run.target
    if target is None:
        return []
    wanted = {name: each for name, each in wanted_of(run).items() if each not in (None, "")}
    settings = Setting.objects.filter(
        target=target, name__in=list(wanted), apply__way=MANUAL
    ).order_by("pk")
    result: list[tuple[Setting | TargetStep, Any]] = [
        (row, wanted[row.name]) for row in settings if row.manual_value != wanted[row.name]
    ]
    steps = TargetStep.objects.filter(
        target=target, purpose=TargetStep.Purpose.RESET, action__way=MANUAL
    )
    number = number_of_next_attempt(run)
    done = ManualStep.objects.filter(run=run, attempt_number=number, done_at__isnull=False)
    ready = set(done.values_list("step", flat=True))
    return result + [(step, None) for step in steps if step.pk not in ready]


def number_of_next_attempt(run: Run) -> int:
    """Return the number of a run's next attempt, from 1."""
    return run.attempts.exclude(state=Attempt.State.QUEUED).count() + 1
