"""Store, change, clone and delete drafts."""

from collections.abc import Iterable, Sequence, Set
from typing import Any

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from campaigns.kinds.base.values import BLIND_LABEL, TARGET
from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.kit.revisions import Seen, require_seen
from campaigns.kit.rights import Right, require_right, require_right_of_sender
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
from campaigns.planning.checking import CheckedDefinition
from campaigns.planning.plan import cells_of
from campaigns.planning.storage import definition_of, revised


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
    before = definition_of(locked)
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
    after = definition_of(locked)
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
