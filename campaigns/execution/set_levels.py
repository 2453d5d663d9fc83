"""Apply settings of a target: read, apply what differs, wait, read back."""

from typing import Any

from campaigns.execution.proofs import proofs_text
from campaigns.execution.server_steps import SettingFailed, Workbench, until_ready
from campaigns.kinds.base import EffectiveSetting
from campaigns.kit.mappings import Settings
from campaigns.kit.redaction import redact
from campaigns.models import Campaign, FoundSetting, Setting
from campaigns.targets.actions import MANUAL, ActionFailed, perform, read_value
from campaigns.targets.reaching import apply_of, read_of
from campaigns.targets.ssh_logins import note_offered_key
from campaigns.targets.variables import as_read

UNKNOWN = "unknown"


def put_in_force(
    wanted: Settings, bench: Workbench, campaign: Campaign | None, anew: bool = False
) -> list[EffectiveSetting]:
    """Return the value in force of each wanted setting; only those that differ are applied, anew: all.

    All are read before any is applied, since a change may restart the server. The value of a setting before the campaign is stored.
    Raise SettingFailed where a setting could not be set or read back, or could not be restored afterwards; for a value that differs the
    effective setting is not ok.
    """
    rows = {row.name: row for row in bench.patiently(lambda: list(_rows(bench, wanted)))}
    if missing := [name for name in wanted if name not in rows]:
        raise SettingFailed(
            f"“{bench.target.name}” has no setting “{missing[0]}” any more. Define it again, or clone "
            "the campaign without it."
        )
    found = {name: _found(rows[name], bench, campaign) for name in wanted}
    changed = False
    for name, value in wanted.items():
        before = value_before(rows[name], bench) if changed else found[name]
        if before == value and not anew:
            continue
        if apply_of(rows[name]).way == MANUAL:
            _ask_again(rows[name], bench)
            continue
        if campaign is not None and found[name] != UNKNOWN:
            store_original(rows[name], found[name], campaign, bench)
        _apply(rows[name], value, bench)
        changed = True
    if changed:
        await_all(bench)
    return [_in_force(rows[name], value, bench) for name, value in wanted.items()]


def store_original(setting: Setting, value: Any, campaign: Campaign, bench: Workbench) -> None:
    """Store the value of a setting before the campaign first changed it."""
    restore = campaign.settings_afterwards == Campaign.Afterwards.RESTORE
    bench.patiently(
        lambda: FoundSetting.objects.get_or_create(
            campaign=campaign,
            setting=setting,
            restored_at=None,
            given_up="",
            defaults={"value": value, "restore": restore},
        )
    )


def await_all(bench: Workbench) -> None:
    """Wait until the server is ready after a change. Raise SettingFailed."""
    for proof in until_ready(bench):
        if not proof.ok:
            raise SettingFailed(f"{proof.name}: {proof.measured}")


def value_of(setting: Setting, bench: Workbench) -> Any:
    """Read a setting back, or return what a person entered last. Raise SettingFailed."""
    action = read_of(setting)
    if action.way == MANUAL:
        return setting.manual_value
    try:
        return as_read(setting, read_value(action, bench.server, bench.check))
    except ActionFailed as error:
        note_offered_key(bench.target, error)
        raise SettingFailed(
            f"The setting {setting.name} cannot be read back: {redact(str(error))}"
        ) from error
    except ValueError as error:
        raise SettingFailed(
            f"The setting {setting.name} cannot be read back: {redact(str(error))}"
        ) from None


def _found(setting: Setting, bench: Workbench, campaign: Campaign | None) -> Any:
    """Return the value in force before anything is applied; UNKNOWN where it cannot be read and need not be known.

    Raise SettingFailed where the campaign is to restore it, and has not found it before: nothing could put it back.
    """
    try:
        return value_of(setting, bench)
    except SettingFailed as error:
        if campaign is not None and _is_to_be_restored(setting, campaign, bench):
            raise SettingFailed(
                f"{_sentence(error)} It was not set, since it could not be restored afterwards. See to it that it can be read, or launch a "
                "clone of the campaign that leaves settings as they are afterwards."
            ) from error
        bench.say(f"{error} It is applied anyway.")
        return UNKNOWN


def _is_to_be_restored(setting: Setting, campaign: Campaign, bench: Workbench) -> bool:
    """Return whether a campaign restores a setting whose former value it does not know."""
    known = FoundSetting.objects.filter(
        campaign=campaign, setting=setting, restored_at=None, given_up=""
    )
    restores = campaign.settings_afterwards == Campaign.Afterwards.RESTORE
    return restores and not bench.patiently(known.exists)


def _sentence(error: SettingFailed) -> str:
    return f"{str(error).rstrip('.')}."


def value_before(setting: Setting, bench: Workbench) -> Any:
    """Return the value in force; UNKNOWN where it cannot be read, which applying may repair."""
    try:
        return value_of(setting, bench)
    except SettingFailed as error:
        bench.say(f"{error} It is applied anyway.")
        return UNKNOWN


def set_one(setting: Setting, value: Any, bench: Workbench) -> None:
    """Apply a value, wait for the server and read the value back. Raise SettingFailed."""
    _apply(setting, value, bench)
    await_all(bench)
    result = _in_force(setting, value, bench)
    if not result.ok:
        raise SettingFailed(f"{proofs_text([result])}.")


def _rows(bench: Workbench, wanted: Settings) -> Any:
    return Setting.objects.filter(target=bench.target, name__in=list(wanted))


def _apply(setting: Setting, value: Any, bench: Workbench) -> None:
    try:
        done = perform(apply_of(setting), bench.server, bench.check, value=value)
    except ActionFailed as error:
        note_offered_key(bench.target, error)
        raise SettingFailed(
            f"The setting {setting.name} could not be set to {value}: {redact(str(error))}"
        ) from error
    bench.say(f"{setting.name} set to {value}: {redact(str(done))}")


def _in_force(setting: Setting, value: Any, bench: Workbench) -> EffectiveSetting:
    result = value_of(setting, bench)
    return EffectiveSetting(
        setting.name, value, UNKNOWN if result is None else result, result == value
    )


def _ask_again(setting: Setting, bench: Workbench) -> None:
    """Mark the value in force as unknown; dispatch requests a manual step before the next attempt."""
    rows = Setting.objects.filter(pk=setting.pk)
    bench.patiently(lambda: rows.update(manual_value=None))
    setting.manual_value = None
