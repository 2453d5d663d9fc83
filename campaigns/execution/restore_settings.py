"""Restore the settings that a campaign has changed on a target, once it has ended."""

from collections.abc import Callable
from datetime import timedelta
from time import monotonic

from django.db.models import Exists, F, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from campaigns.execution.server_steps import Workbench
from campaigns.execution.set_levels import set_one, value_before
from campaigns.kinds.base import Cancelled, DriverError
from campaigns.kit.encryption import SecretUnreadable
from campaigns.kit.redaction import storable
from campaigns.models import Campaign, FoundSetting, LogLine, ManualStep, Run, Target
from campaigns.targets.actions import MANUAL
from campaigns.targets.reaching import apply_of, seconds_to_set, server_of

AGAIN_SECONDS = 60.0
"""Seconds from a failed try to the next one: a server that restarts is away for a while."""

MOST_TRIES = 3


def restore(target_pk: int) -> None:
    """Restore what dispatch has claimed on a target; a late message does nothing."""
    target = Target.objects.filter(pk=target_pk).first()
    claimed = FoundSetting.objects.filter(
        setting__target=target_pk, restored_at=None, given_up="", claimed_until__gt=Now()
    )
    rows = list(claimed.select_related("setting", "campaign"))
    if target is None or not rows:
        return
    ends = monotonic() + seconds_to_set([row.setting for row in rows], target)

    def check() -> None:
        if monotonic() > ends:
            raise Cancelled

    for row in rows:
        _restore(row, target, check)


def _restore(row: FoundSetting, target: Target, check: Callable[[], None]) -> None:
    setting, name = row.setting, row.setting.name
    if apply_of(setting).way == MANUAL:
        if setting.manual_value == row.value:
            _notify(row, f"{name} is {row.value}, as it was before the campaign")
            _done(row)
            return
        _notify(row, f"{name} was {row.value} before; somebody is asked to set it back manually")
        ManualStep.objects.create(
            target=target,
            campaign=row.campaign,
            setting=setting,
            value=row.value,
            words=f"Set {name} back to {row.value}, as it was before the campaign.",
        )
        _done(row)
        return
    try:
        server = server_of(target)
        bench = Workbench(target, lambda: server, check, lambda _: None, lambda action: action())
        if value_before(setting, bench) != row.value:
            set_one(setting, row.value, bench)
    except (DriverError, SecretUnreadable, Cancelled) as error:
        why = storable(str(error) or "it took too long")
        tries = row.tries + 1
        FoundSetting.objects.filter(pk=row.pk).update(
            tries=F("tries") + 1,
            claimed_until=Now() + timedelta(seconds=AGAIN_SECONDS),
            given_up=why if tries >= MOST_TRIES else "",
        )
        if tries >= MOST_TRIES:
            _notify(
                row,
                f"{name} could not be set back to {row.value}, tried {tries} times: {why} Set "
                "it back manually.",
                LogLine.Tone.BAD,
            )
        return
    _notify(row, f"{name} is {row.value} again, as it was before the campaign")
    _done(row)


def _done(row: FoundSetting) -> None:
    FoundSetting.objects.filter(pk=row.pk).update(restored_at=Now(), claimed_until=None)


def _notify(row: FoundSetting, text: str, tone: str = LogLine.Tone.PLAIN) -> None:
    if row.campaign is not None:
        LogLine.objects.create(campaign=row.campaign, text=storable(text), tone=tone)


def due() -> QuerySet[FoundSetting]:
    """Return settings of campaigns that have ended, or of drafts whose try-out has ended."""
    open_runs = Run.objects.filter(campaign=OuterRef("campaign"), state__in=Run.OPEN)
    over = Q(campaign=None) | Q(campaign__state__in=list(Campaign.CLOSED))
    tried = Q(campaign__state=Campaign.State.DRAFT) & ~Exists(open_runs)
    return FoundSetting.objects.filter(over | tried, restore=True, restored_at=None, given_up="")


def addresses_held() -> set[str]:
    """Return the servers on which nothing begins before their settings are restored."""
    return set(due().values_list("setting__target__address", flat=True))
