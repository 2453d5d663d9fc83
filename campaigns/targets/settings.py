"""Define settings and steps of a target."""

from collections.abc import Sequence
from copy import copy
from typing import Any

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from campaigns.kit import activity, network
from campaigns.kit.activity import record
from campaigns.kit.errors import Invalid
from campaigns.kit.forms import messages_of
from campaigns.kit.mappings import Columns, FieldValues, Json
from campaigns.kit.network import SQL_SCHEMES
from campaigns.models import (
    Campaign,
    FoundSetting,
    Setting,
    SshLogin,
    Target,
    TargetStep,
    on_target,
)
from campaigns.targets.actions import MANUAL, SQL, Action, BadAction, Role, parse
from campaigns.targets.actions.values import flaws_together
from campaigns.targets.saving import rules_for
from campaigns.targets.setting_forms import SettingForm, StepForm
from campaigns.targets.ssh_logins import require_admin
from campaigns.targets.variables import field_of


def revised_setting(setting: Setting) -> Columns:
    """Return the values that the revision of a setting covers."""
    return {
        name: getattr(setting, name) for name in (*SettingForm.Meta.fields, "apply", "read_back")
    }


def revised_step(step: TargetStep) -> Columns:
    """Return the values that the revision of a step covers."""
    return {name: getattr(step, name) for name in (*StepForm.Meta.fields, "action")}


@transaction.atomic
def save_setting(
    data: FieldValues, target: Target, user: User, setting: Setting | None = None
) -> Setting:
    """Create or change a setting. Raise Invalid, PermissionDenied."""
    before = copy(setting)
    form = SettingForm(
        {"type": Setting.Type.INTEGER, "hard_to_change": True, **data},
        instance=setting or Setting(target=target),
    )
    errors = messages_of(form)
    apply = _action(data.get("apply"), Role.APPLY, "apply", target, errors)
    read = _action(data.get("read_back"), Role.READ, "read_back", target, errors)
    if apply and read and read.way == MANUAL and apply.way != MANUAL:
        errors["read_back"] = [
            "What a worker sets is read back by HTTP, SQL or a command, so that it is known to be in force."
        ]
    if read and read.way == MANUAL and form.cleaned_data.get("is_build"):
        errors["read_back"] = [
            "Read a build back by HTTP or a command: only the server itself knows which version runs."
        ]
    if apply and read:
        errors |= {
            f"read_back.{name}": [text] for name, text in flaws_together(apply, read).items()
        }
    if errors or apply is None or read is None:
        raise Invalid(errors)
    _require_for(user, [apply, read], [before.apply, before.read_back] if before else None)
    row = form.instance
    if before is not None:
        _refuse_in_use(before, row.name)
    row.apply, row.read_back = apply.to_json(), read.to_json()
    row.look_failure, row.looked_at, row.look_value = "", None, None
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise Invalid({"name": [f"There is a setting “{row.name}” already."]}) from None
    action = activity.Action.SETTING_EDITED if setting else activity.Action.SETTING_CREATED
    record(action, user=user, subject=row, target=target.name, ways=[apply.way, read.way])
    return row


@transaction.atomic
def delete_setting(setting: Setting, user: User) -> None:
    """Delete a setting. Raise Invalid while a campaign needs it, PermissionDenied."""
    _require_for(user, [], [setting.apply, setting.read_back])
    _refuse_in_use(setting, "")
    record(activity.Action.SETTING_DELETED, user=user, subject=setting, target=setting.target.name)
    setting.delete()


@transaction.atomic
def save_step(
    data: FieldValues, target: Target, user: User, step: TargetStep | None = None
) -> TargetStep:
    """Create or change a reset command or a readiness check. Raise Invalid, PermissionDenied."""
    before = copy(step)
    form = StepForm(data, instance=step or TargetStep(target=target))
    errors = messages_of(form)
    row = form.instance
    action = _action(data.get("action"), Role(row.purpose), "action", target, errors)
    if errors or action is None:
        raise Invalid(errors)
    _require_for(user, [action], [before.action] if before else None)
    row.action = action.to_json()
    try:
        with transaction.atomic():
            row.save()
    except IntegrityError:
        raise Invalid({"name": [f"There is a step “{row.name}” already."]}) from None
    done = activity.Action.STEP_EDITED if step else activity.Action.STEP_CREATED
    record(done, user=user, subject=row, target=target.name, way=action.way)
    return row


@transaction.atomic
def delete_step(step: TargetStep, user: User) -> None:
    """Delete a step. Raise PermissionDenied."""
    _require_for(user, [], [step.action])
    record(activity.Action.STEP_DELETED, user=user, subject=step, target=step.target.name)
    step.delete()


def _action(
    data: Any, role: Role, path: str, target: Target, errors: dict[str, list[str]]
) -> Action | None:
    try:
        action = parse(data, role)
    except BadAction as bad:
        errors.update(
            {(f"{path}.{name}" if name else path): [text] for name, text in bad.errors.items()}
        )
        return None
    if action.url and not action.url.startswith("/"):
        try:
            network.check_url(action.url, rules_for(target))
        except network.NetworkError as error:
            errors[f"{path}.url"] = [str(error)]
    if action.login and not target.username:
        errors[f"{path}.login"] = [f"“{target.name}” has no user name that could be sent."]
    if action.way == SQL and not target.base_url.startswith(f"{SQL_SCHEMES[0]}://"):
        errors[f"{path}.way"] = [
            "SQL reaches a target of the family postgresql alone: use a command on the machine of the database."
        ]
    elif action.arguments and not SshLogin.objects.filter(target=target).exists():
        errors[f"{path}.way"] = ["Say first how commands reach the target: give its SSH login."]
    return action


def _require_for(
    user: User, actions: Sequence[Action | None], stored: Sequence[Json] | None
) -> None:
    """Raise PermissionDenied where a command is new or replaced, and the user is no administrator."""
    programs = [action.arguments for action in actions if action]
    if any([*programs, *(each.get("arguments") for each in stored or ())]):
        require_admin(user)


def _refuse_in_use(setting: Setting, name: str) -> None:
    """Raise Invalid where an active campaign needs the setting, or its first value has to be restored."""
    active = Campaign.objects.filter(on_target(setting.target), state__in=list(Campaign.ACTIVE))
    for campaign in active:
        factors = {factor.name for factor in campaign.factors.all()}
        if setting.name in factors | campaign.configured | set(campaign.parameters):
            raise Invalid({"name": [f"The campaign “{campaign.name}” needs it as it is."]})
    waiting = FoundSetting.objects.filter(setting=setting, restored_at=None, given_up="")
    if name != setting.name and waiting.filter(restore=True).exists():
        raise Invalid({"name": ["It has to be set back to what it was first."]})


def as_levels(setting: Setting) -> str:
    """Return a text on the possible values of a setting."""
    field = field_of(setting)
    low, high = getattr(field, "min_value", None), getattr(field, "max_value", None)
    unit = f" {setting.unit}" if setting.unit else ""
    if setting.unlimited is not None:
        unit += f", {setting.unlimited:g} is no limit"
    if setting.type == Setting.Type.CHOICE:
        return ", ".join(map(str, setting.choices))
    if low is None and high is None:
        return f"any {setting.get_type_display()}{unit}"
    bounds = " to ".join("…" if each is None else f"{each:.15g}" for each in (low, high))
    return f"{bounds}{unit}"
