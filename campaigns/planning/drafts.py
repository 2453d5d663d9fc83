"""Store, change, clone and delete drafts."""

from collections.abc import Iterable, Mapping, Sequence, Set
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models import prefetch_related_objects
from django.db.models.functions import Now

from campaigns.kinds.base.values import BLIND_LABEL, TARGET
from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.mappings import CleanedData, Columns, FieldValues, JsonObject, Parameters
from campaigns.kit.owners import require_right, require_right_of_sender
from campaigns.kit.revisions import Seen, require_seen
from campaigns.kit.rights import Right
from campaigns.models import (
    Attempt,
    Campaign,
    CampaignTarget,
    Cell,
    Factor,
    LaunchRequest,
    Level,
    Setting,
    Target,
    Team,
)
from campaigns.planning import design, search
from campaigns.planning.checking import CheckedDefinition
from campaigns.planning.configurations import as_levels
from campaigns.planning.plan import cells_of
from campaigns.planning.roles import stated_roles


class NotADraft(NotPossible):
    """The campaign was launched already; the change is possible only before."""


@transaction.atomic
def create(
    definition: CheckedDefinition,
    author: User | None,
    clone_of: Campaign | None = None,
    *,
    with_cells: bool = True,
    team: Team | None = None,
) -> Campaign:
    """Store a draft; with its factors, levels and cells unless submitted results bring them.

    It belongs to the team of its target; without one to `team`, else to the default one. Raise
    NotVisible, NotAllowed.
    """
    campaign = Campaign(author=author, clone_of=clone_of)
    if (target := definition.campaign.target) is not None:
        campaign.team = target.team
    elif team is not None:
        campaign.team = team
    require_right(author, campaign, Right.WRITE)
    if clone_of is not None and clone_of.team_id != campaign.team_id:
        campaign.clone_of = clone_of = None  # one team does not see another team's campaigns
    definition.fill(campaign)
    if clone_of is not None and campaign.unfit_reason == clone_of.unfit_reason:
        campaign.unfit_reason = ""  # it was the reason for that launch, not for this one
    campaign.save()
    if with_cells:
        _make_cells(campaign, definition)
        _record_beginning(campaign, clone_of)
    return campaign


def _record_beginning(campaign: Campaign, clone_of: Campaign | None) -> None:
    action = Action.CAMPAIGN_CLONED if clone_of else Action.CAMPAIGN_CREATED
    if campaign.factors.filter(name=BLIND_LABEL).exists():
        action = Action.CAMPAIGN_CALIBRATED
    of = {"campaign": clone_of.pk, "name": clone_of.name} if clone_of else None
    record(action, user=campaign.author, campaign=campaign, clone_of=of)


@transaction.atomic
def change(campaign: Campaign, definition: CheckedDefinition, seen: Seen = None) -> Campaign:
    """Replace a draft's definition, and delete its try-out runs. Raise NotADraft, Changed.

    seen: the revision that was changed, of `revised`.
    """
    locked = _locked_with_runs(campaign)
    require_seen(locked, revised(locked), seen)
    if locked.runs.filter(attempts__state__in=Attempt.OPEN).exists():
        raise NotADraft("A try-out run is going on; change the campaign when it has ended.")
    if any(target.team_id != locked.team_id for target in definition.targets):
        path = "targets" if len(definition.targets) > 1 else "target"
        raise Invalid({path: ["It belongs to another team than the campaign."]})
    waiting = LaunchRequest.objects.filter(campaign=locked, state=LaunchRequest.State.WAITING)
    waiting.update(state=LaunchRequest.State.OUTDATED, decided_at=Now())
    before = as_data(locked)
    definition.fill(locked)
    locked.save()
    locked.runs.all().delete()
    locked.blocks.all().delete()
    locked.sessions.all().delete()
    locked.cells.all().delete()
    locked.factors.all().delete()
    locked.places.all().delete()
    locked.findings.all().delete()
    _make_cells(locked, definition)
    after = as_data(locked)
    record(
        Action.CAMPAIGN_EDITED,
        campaign=locked,
        fields=[name for name in after.keys() | before if after.get(name) != before.get(name)],
    )
    return locked


def require_draft(campaign: Campaign) -> None:
    """Raise NotADraft unless the campaign still is a draft."""
    if campaign.state != Campaign.State.DRAFT:
        raise NotADraft(
            f"“{campaign.name}” was launched; its definition is fixed. Clone it to change it."
        )


def _locked_with_runs(campaign: Campaign) -> Campaign:
    """Lock a draft and its try-outs, so that nothing begins meanwhile. Raise NotADraft."""
    locked = Campaign.objects.select_for_update().get(pk=campaign.pk)
    require_right_of_sender(locked, Right.WRITE)
    require_draft(locked)
    list(locked.runs.select_for_update())
    return locked


@transaction.atomic
def delete(campaign: Campaign, seen: Seen = None) -> None:
    """Delete a draft with its waiting try-out. Raise NotADraft, Changed."""
    locked = _locked_with_runs(campaign)
    require_seen(locked, revised(locked), seen)
    if locked.runs.filter(attempts__state=Attempt.State.RUNNING).exists():
        raise NotADraft("A try-out run is going on; delete the draft when it has ended.")
    record(Action.CAMPAIGN_DELETED, campaign=locked)
    locked.runs.all().delete()
    locked.delete()


def as_data(campaign: Campaign) -> CleanedData:
    """Return a campaign as input of `checking.check`: a clone or an edit begins with it."""
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
    return always | as_data(campaign) | design.values_of(campaign, every=True)


def with_changes(campaign: Campaign, changes: FieldValues) -> CleanedData:
    """Return `as_data` with other fields: parameters are replaced one by one, the others as a whole."""
    data = {**as_data(campaign), **changes}
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


def _make_cells(campaign: Campaign, definition: CheckedDefinition) -> None:
    known: dict[tuple[str, str], Level] = {}
    target = definition.campaign.target
    several = definition.targets if len(definition.targets) > 1 else ()
    CampaignTarget.objects.bulk_create(
        CampaignTarget(campaign=campaign, target=each, position=number, level=each.name)
        for number, each in enumerate(several, start=1)
    )
    builds = target.setting_rows.filter(is_build=True) if target else Setting.objects.none()
    names = set(builds.values_list("name", flat=True))
    for position, (name, levels) in enumerate(definition.factors.items(), start=1):
        factor = Factor.objects.create(
            campaign=campaign,
            name=name,
            position=position,
            hard_to_change=name in definition.hard_to_change,
            role=_role(name, names, several) or definition.roles.get(name, ""),
            unlimited=definition.unlimited.get(name),
        )
        made = Level.objects.bulk_create(
            Level(factor=factor, position=number, value=value)
            for number, value in enumerate(levels, start=1)
        )
        known |= {(name, repr(level.value)): level for level in made}
    cells = Cell.objects.bulk_create(
        Cell(
            campaign=campaign,
            position=number,
            levels_by_factor=levels,
            target=definition.target_at(levels) if several else None,
        )
        for number, levels in enumerate(cells_of(definition.design), start=1)
    )
    Cell.levels.through.objects.bulk_create(_links(cells, known), batch_size=1000)


def _role(name: str, builds: Set[str], several: Sequence[Target]) -> str:
    """Return the role to store with a factor; empty: the one that its kind declares."""
    if name == TARGET and several:
        return Factor.Role.TARGET
    return Factor.Role.BUILD if name in builds else ""


def _links(cells: Iterable[Cell], known: dict[tuple[str, str], Level]) -> list[Any]:
    return [
        Cell.levels.through(cell_id=cell.pk, level_id=known[name, repr(value)].pk)
        for cell in cells
        for name, value in cell.levels_by_factor.items()
    ]
