"""The definition of a stored campaign, as REST, YAML and the form state it; `drafts` stores one.

What a field of the design holds is the matter of `design.values_of`; here are the parts that are rows of their own.
"""

from collections.abc import Mapping, Sequence

from django.db.models import prefetch_related_objects

from campaigns.kit.mappings import CleanedData, Columns, FieldValues, JsonObject, Parameters
from campaigns.models import Campaign, Factor, Setting
from campaigns.planning import design, search
from campaigns.planning.configurations import as_levels
from campaigns.planning.roles import stated_roles


def definition_of(campaign: Campaign) -> CleanedData:
    """Return the definition of a campaign, of any state, as input of `checking.check`: a clone, an edit or an export begins with it."""
    factors = list(campaign.factors.all())
    prefetch_related_objects(factors, "levels")
    several = [place.target_id for place in campaign.places.all()]
    return {
        "question": campaign.question,  # first, as people write it
        "name": campaign.name,
        "kind": campaign.kind,
        "target": campaign.target_id,
        **_several(several),
        "parameters": campaign.parameters,
        "factors": as_levels(
            {
                factor.name: [level.value for level in factor.levels.all()]
                for factor in factors
                if not campaign.search or factor.name != campaign.search["load"]
                if factor.role != Factor.Role.TARGET or campaign.target_id is None
            },
            campaign.configurations,
        ),
        **({"search": search.shown(campaign.search)} if campaign.search else {}),
        "excluded": campaign.excluded,
        "primary_metric": campaign.primary_metric,
        **_contrast(campaign),
        **_hard(campaign, factors, several),
        **_criterion(campaign),
        **_roles(campaign, factors),
        **design.values_of(campaign),
    }


def revised(campaign: Campaign) -> Columns:
    """Return the values that the revision of a draft covers: the same fields of every draft."""
    always: JsonObject = {
        "primary_contrast": campaign.primary_contrast,
        "hard_to_change": [],
        "criterion": {},
        "roles": {},
        "search": {},
        "targets": [],
    }
    return always | definition_of(campaign) | design.values_of(campaign, every=True)


def with_changes(campaign: Campaign, changes: FieldValues) -> CleanedData:
    """Return `definition_of` with other fields: parameters are replaced one by one, the others as a whole."""
    data = {**definition_of(campaign), **changes}
    if "targets" in changes or "target" in changes:  # either names all of them
        data |= {"target": None, "targets": None, **changes}
    if data["order"] != campaign.order:
        data |= {"paired_factor": "", "baseline": "", **changes}
    return with_parameters(data, campaign.parameters, changes)


def with_parameters(data: CleanedData, parameters: Parameters, changes: FieldValues) -> CleanedData:
    """Return a definition whose parameters are replaced one by one, without those that are factors now, and their roles.

    data: with the changes. What has another shape stays: it is refused when it is read.
    """
    sent, factors = changes.get("parameters"), data.get("factors") or {}
    if sent in (None, "", [], ()):
        sent = {}
    if not isinstance(sent, Mapping) or not isinstance(factors, Mapping):
        return data
    merged = {**parameters, **sent}
    data["parameters"] = {name: value for name, value in merged.items() if name not in factors}
    if "roles" not in changes and "roles" in data:
        data["roles"] = {name: role for name, role in data["roles"].items() if name in factors}
    return data


def _contrast(campaign: Campaign) -> JsonObject:
    """Return the contrast only where there is one: the hash of older campaigns does not cover it."""
    return {"primary_contrast": campaign.primary_contrast} if campaign.primary_contrast else {}


def _criterion(campaign: Campaign) -> JsonObject:
    """Return the criterion only where one is stated, for the same reason."""
    return {"criterion": campaign.criterion} if campaign.criterion else {}


def _roles(campaign: Campaign, factors: Sequence[Factor]) -> JsonObject:
    """Return the roles only where some are stated, for the same reason. Several targets are a factor by themselves."""
    stated = stated_roles(campaign.kind, factors)
    return {"roles": stated} if stated else {}


def _several(keys: Sequence[int]) -> JsonObject:
    """Return the targets only where there are several: the hash of other campaigns does not cover them."""
    return {"targets": keys} if keys else {}


def _hard(campaign: Campaign, factors: Sequence[Factor], several: Sequence[int]) -> JsonObject:
    """Return the factors only where some are hard to change, or might be."""
    hard = [factor.name for factor in factors if factor.hard_to_change]
    return (
        {"hard_to_change": hard} if hard or several or _varies_settings(campaign, factors) else {}
    )


def _varies_settings(campaign: Campaign, factors: Sequence[Factor]) -> bool:
    """Return whether a factor is one that a target's setting may mark as hard to change."""
    if campaign.target_id is None:
        return False
    names = [*(factor.name for factor in factors), *campaign.configured]
    return Setting.objects.filter(target=campaign.target_id, name__in=names).exists()
