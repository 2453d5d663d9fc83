"""Somebody says that what was asked for is done by hand."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from campaigns.execution.manual_steps import open_requests
from campaigns.kit.activity import Action, record
from campaigns.kit.allowing import require_right
from campaigns.kit.errors import NotPossible
from campaigns.kit.rights import Right
from campaigns.models import Campaign, FoundSetting, HandRequest, Setting
from campaigns.planning.life.rows import log, name_of


@transaction.atomic
def confirm(request: HandRequest, user: User | None) -> HandRequest:
    """Note that it is done; what waits for it may begin. Raise NotPossible.

    What a setting was before, where a person said so, is kept to be set back at the end.
    """
    row = HandRequest.objects.select_for_update(no_key=True).get(pk=request.pk)
    require_right(user, row.target, Right.OPERATE)
    if row.done_at is not None:
        raise NotPossible(f"It was done already, confirmed by {name_of(row.done_by)}.")
    if not open_requests().filter(pk=row.pk).exists():
        raise NotPossible("Nothing waits for it any more: its campaign was paused or is over.")
    if row.setting_id is not None:
        setting = Setting.objects.select_for_update(no_key=True).get(pk=row.setting_id)
        if row.run_id is not None and row.campaign is not None:
            _keep(setting, row.campaign)
        Setting.objects.filter(pk=setting.pk).update(hand_value=row.value, hand_at=Now())
    HandRequest.objects.filter(pk=row.pk).update(done_at=Now(), done_by=user)
    if row.campaign is not None:
        log(row.campaign, f"manual step done, confirmed by {name_of(user)}: {row.words}", row.run)
    record(Action.HAND_DONE, user=user, subject=row, target=row.target.name)
    return HandRequest.objects.get(pk=row.pk)


def _keep(setting: Setting, campaign: Campaign) -> None:
    if setting.hand_value is None or _set_last_by(setting) == campaign:
        return
    restore = campaign.settings_afterwards == Campaign.Afterwards.RESTORE
    FoundSetting.objects.get_or_create(
        campaign=campaign,
        setting=setting,
        restored_at=None,
        given_up="",
        defaults={"value": setting.hand_value, "restore": restore},
    )


def _set_last_by(setting: Setting) -> Campaign | None:
    """The campaign for whose runs a setting was set by hand last; None: for none, or it was set back."""
    done = HandRequest.objects.filter(setting=setting, done_at__isnull=False)
    last = done.select_related("campaign").order_by("-done_at").first()
    return last.campaign if last is not None and last.run_id is not None else None
