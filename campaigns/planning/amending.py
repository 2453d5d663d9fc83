"""Change locked fields of a campaign after launch, with a reason that everybody sees."""

from collections.abc import Mapping, Sequence
from typing import Any

from django.contrib.auth.models import User
from django.core.exceptions import ValidationError
from django.db import transaction

from campaigns.kinds.base import Driver
from campaigns.kinds.registry import UnknownKind, driver_of
from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.forms import Text
from campaigns.kit.mappings import CleanedData, Contrast, FieldValues
from campaigns.kit.rights import Right, require_right
from campaigns.kit.structs import clean_leaf
from campaigns.models import Amendment, Campaign, Factor
from campaigns.planning.checking import time_limit_of
from campaigns.planning.contrasts import contrast_in, read_contrast
from campaigns.planning.criterion import read_criterion
from campaigns.planning.definition import FEWEST_ADAPTIVE
from campaigns.planning.design import (
    FIELDS,
    IN_BLOCKS,
    LOCKED,
    NO_BLOCKS,
    in_group,
    too_wide,
)
from campaigns.planning.lifecycle.approval import takes_two
from campaigns.planning.lifecycle.guards import require_confirmed
from campaigns.planning.lifecycle.rows import locked, log, name_of
from campaigns.planning.metrics import choosable_metrics_of
from campaigns.planning.roles import check_loads, read_roles, read_submitted, roles_of, roles_told

STOP = ("stop_rule", "stop_width", "stop_most")
AMENDABLE = (*LOCKED, "primary_metric", "primary_contrast", "criterion", "roles")
"""As a definition has them; percentages are stored as shares. Roles are those of factors, not a column."""
LONGEST_REASON = 2000
OPEN = (Campaign.State.RUNNING, Campaign.State.PAUSED)


@transaction.atomic
def amend(
    campaign: Campaign,
    changes: FieldValues,
    reason: str,
    user: User | None,
    confirmed_name: str = "",
) -> list[Amendment]:
    """Change locked fields of a launched campaign. A field whose value stays the same is not amended.

    `changes` holds fields of AMENDABLE as a definition has them. The caller asks for the analysis.
    Raise NotPossible for a draft, where the stop rule has ruled already, and where one that may load
    more needs approval by a second person; NotConfirmed where a stop rule would go on loading a production
    server; Invalid with every error by field.
    """
    campaign = locked(campaign)
    require_right(user, campaign, Right.WRITE)
    if campaign.state == Campaign.State.DRAFT:
        raise NotPossible("Nothing is locked before launch; edit the draft.")
    errors = {
        str(name): ["It cannot be amended; clone the campaign to change it."]
        for name in changes
        if name not in AMENDABLE
    }
    try:
        reason = Text(max_length=LONGEST_REASON).clean(reason)
    except ValidationError as error:
        errors["reason"] = error.messages
    after = _checked(campaign, changes, errors)
    if errors:
        raise Invalid(errors)
    before = {name: _stored(campaign, name, after[name]) for name in after}
    changed = [name for name in after if after[name] != before[name]]
    if not changed:
        raise Invalid({"": ["Nothing would change; what you sent is what the campaign has."]})
    if any(name in STOP for name in changed):
        _require_open(campaign)
        require_right(user, campaign, Right.OPERATE)
        if user is not None and takes_two(campaign):
            _require_no_more(campaign, after)
        require_confirmed(campaign, confirmed_name)
    columns = [name for name in changed if name != "roles"]
    for name in columns:
        setattr(campaign, name, after[name])
    campaign.save(update_fields=columns)
    for name, role in after["roles"].items() if "roles" in changed else ():
        campaign.factors.filter(name=name).update(role=role)
    log(campaign, f"amended by {name_of(user)}: {', '.join(changed).replace('_', ' ')}; {reason}")
    record(
        Action.CAMPAIGN_AMENDED,
        user=user,
        campaign=campaign,
        reason=reason,
        changes={name: {"before": before[name], "after": after[name]} for name in changed},
    )
    return Amendment.objects.bulk_create(
        Amendment(
            campaign=campaign,
            field=name,
            before=before[name],
            after=after[name],
            reason=reason,
            user=user,
        )
        for name in changed
    )


def _stored(campaign: Campaign, name: str, after: Any) -> Any:
    """Return the value of a field before it is amended; of roles, those of the factors that are named: empty for one that is asked for."""
    if name != "roles":
        return getattr(campaign, name)
    roles = roles_told(campaign)
    return {factor: roles[factor] for factor in after}


def _require_open(campaign: Campaign) -> None:
    if campaign.state not in OPEN:
        raise NotPossible(
            f"The campaign is {campaign.state}: its stop rule has been applied, and cannot be "
            "amended any more. Extend the campaign to measure more."
        )


def _require_no_more(campaign: Campaign, after: FieldValues) -> None:
    """Raise NotPossible for a stop rule that may measure more than the one that was approved."""
    new = {name: after.get(name, getattr(campaign, name)) for name in STOP}
    if new["stop_rule"] != Campaign.StopRule.PRECISION or (
        campaign.stop_rule == Campaign.StopRule.PRECISION
        and new["stop_most"] <= campaign.stop_most
        and new["stop_width"] >= campaign.stop_width
    ):
        return
    raise NotPossible(
        "On this server, load beyond what two people agreed to needs approval by a second "
        "person, which an amendment cannot ask for. Extend the campaign, or clone it with this "
        "stop rule and launch the clone: both ask for approval."
    )


def _checked(campaign: Campaign, changes: FieldValues, errors: dict[str, list[str]]) -> CleanedData:
    """Return the sent fields as columns hold them; add their errors."""
    try:
        driver = driver_of(campaign.kind)
    except UnknownKind as error:
        raise NotPossible(f"{error} Install the package that brings it.") from None
    after = _of_form(campaign, changes, errors)
    if "primary_metric" in changes:
        known = [metric.name for metric in choosable_metrics_of(campaign) if metric.directed]
        if changes["primary_metric"] not in known:
            value = str(changes["primary_metric"])[:50]
            errors["primary_metric"] = [
                f"“{value}” is not a metric with a direction of this campaign; there are "
                f"{', '.join(known[:20])}."
            ]
        after["primary_metric"] = changes["primary_metric"]
    if "criterion" in changes:
        factors = _factors(campaign)
        limit = time_limit_of(driver, campaign.parameters, factors)
        after["criterion"] = read_criterion(
            changes["criterion"], choosable_metrics_of(campaign), errors, limit
        )
    roles = roles_of(campaign)
    if changes.get("roles"):
        after["roles"] = _roles(campaign, changes["roles"], driver, errors)
        roles = {**roles, **after["roles"]}
    of_work = [name for name, role in roles.items() if role == Factor.Role.WORK]
    work = dict.fromkeys((*driver.work, *of_work))
    loads = [name for name, role in roles.items() if role == Factor.Role.LOAD]
    if "primary_contrast" in changes:
        value = changes["primary_contrast"]
        after["primary_contrast"] = _contrast(campaign, value, driver, errors, tuple(work), loads)
    elif "roles" in after and campaign.primary_contrast and not errors:
        _check_contrast(campaign.primary_contrast, after["roles"], errors)
    return after


def _check_contrast(contrast: Contrast, roles: FieldValues, errors: dict[str, list[str]]) -> None:
    """Add an error where a new role forbids the contrast that is there."""
    factor = contrast["factor"]
    if roles.get(factor) in (Factor.Role.LOAD, Factor.Role.WORK):
        errors["roles"] = [
            f"The primary contrast is between two levels of {factor}, and those of {roles[factor]} are not "
            "judged against each other: amend the primary contrast besides, or leave it out (null)."
        ]


def _roles(
    campaign: Campaign, values: Any, driver: Driver, errors: dict[str, list[str]]
) -> dict[str, str]:
    """Return new roles by factor: for an import any, else load and back where the kind allows it."""
    factors = _factors(campaign)
    wrong: dict[str, list[str]] = {}
    if not driver.executable:
        roles = read_submitted(values, factors, wrong)
    else:
        roles = read_roles(values, driver, factors, wrong)
        if isinstance(values, Mapping) and not wrong:
            roles = {str(name): str(role) for name, role in values.items()}
    if not wrong:
        loads = [name for name, role in roles.items() if role == Factor.Role.LOAD]
        check_loads(loads, factors, campaign.paired_factor, wrong)
        searched = (campaign.search or {}).get("load")
        if searched in roles and searched not in loads:
            wrong["roles"] = [
                f"The campaign searches for what it carries of {searched}; that stays its load."
            ]
    if wrong:
        messages = [text for texts in wrong.values() for text in texts]
        errors.setdefault("roles", []).extend(messages)
    return roles


def _factors(campaign: Campaign) -> dict[str, Sequence[Any]]:
    return {
        factor.name: [level.value for level in factor.levels.all()]
        for factor in campaign.factors.prefetch_related("levels")
    }


def _of_form(campaign: Campaign, changes: FieldValues, errors: dict[str, list[str]]) -> CleanedData:
    """Return the fields of the design as the campaign defines them."""
    after: CleanedData = {}
    for name in LOCKED:
        if name not in changes or name in errors:
            continue
        field = FIELDS[name]
        if changes[name] in (None, "") and not field.required:
            errors[name] = ["Give a value, or leave the field out to keep the one that it has."]
            continue
        value = clean_leaf(changes[name], field, name, errors)
        if name not in errors:
            after[field.column] = field.stored(value)
    if not errors:
        _check_together(campaign, after, errors)
    return after


def _check_together(campaign: Campaign, after: FieldValues, errors: dict[str, list[str]]) -> None:
    columns = (FIELDS[name].column for name in LOCKED)
    new = {column: after.get(column, getattr(campaign, column)) for column in columns}
    if new["margin"] > new["smallest_effect"]:
        errors["margin_percent"] = [too_wide(100 * new["margin"], 100 * new["smallest_effect"])]
    if new["stop_rule"] != Campaign.StopRule.PRECISION:
        for name in in_group("precision"):
            column = FIELDS[name].column
            if new[column] != getattr(campaign, column):
                errors[name] = ["Only a stop by precision has it; choose that rule, too."]
        return
    if campaign.order not in IN_BLOCKS:
        errors["stop_rule"] = [NO_BLOCKS]
    fewest = max(FEWEST_ADAPTIVE, campaign.repetitions)
    if any(name in after for name in STOP) and new["stop_most"] < fewest:
        errors["stop_most"] = [f"It has {fewest} blocks at least; allow as many."]


def _contrast(
    campaign: Campaign,
    values: Any,
    driver: Driver,
    errors: dict[str, list[str]],
    work: Sequence[str],
    loads: Sequence[str],
) -> Contrast | None:
    cells = list(campaign.cells.values_list("levels_by_factor", flat=True))
    paired = (campaign.paired_factor, campaign.baseline)
    factors = _factors(campaign)
    stated = contrast_in(values, errors)
    return read_contrast(stated, driver, factors, cells, paired, errors, work, loads)
