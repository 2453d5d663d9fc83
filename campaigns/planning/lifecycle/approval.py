"""Decide whether loading a production server needs approval by a second person, and request it."""

import hashlib
import json
from collections.abc import Set
from typing import Any

from django.contrib.auth.models import User
from django.db.models import QuerySet
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.errors import NotPossible
from campaigns.kit.outbox import announce
from campaigns.kit.rights import Right, people_with
from campaigns.models import Announcement, Campaign, LaunchRequest
from campaigns.planning.lifecycle.rows import log, name_of
from campaigns.planning.storage import definition_of
from campaigns.targets.allowed import same_server

State = LaunchRequest.State


def takes_two(campaign: Campaign) -> bool:
    """Return whether loading the server takes two people: by the rule of the team, or of a team that marks the server."""
    servers = [row for target in campaign.targets for row in same_server(target)]
    marks = [row for row in servers if row.is_production]
    teams = [row.team for row in marks] + [campaign.team] * bool(marks)
    return any(team.second_for_production for team in teams)


def request_approval(
    campaign: Campaign, step: LaunchRequest.Step, user: User, **options: Any
) -> LaunchRequest:
    """Create a request for approval, and notify the other operators. The campaign must be locked.

    Return the waiting request where the same user made the same one before. Raise NotPossible.
    """
    wanted = definition_hash(campaign)
    waiting = waiting_of(campaign)
    if waiting is not None and waiting.definition_hash != wanted:
        outdate(campaign)
    elif waiting is not None:
        if (waiting.asked_by_id, waiting.step, waiting.options) == (user.pk, step, options):
            return waiting
        raise NotPossible(
            f"“{name_of(waiting.asked_by)}” asked for the {waiting.get_step_display()} already, and it "
            "waits for approval by a second person. Decide on that request first."
        )
    made = LaunchRequest.objects.create(
        campaign=campaign, step=step, options=options, definition_hash=wanted, asked_by=user
    )
    word = made.get_step_display()
    log(campaign, f"{word} asked for by {name_of(user)}; it waits for approval by a second person")
    record(Action.LAUNCH_REQUESTED, user=user, campaign=campaign, step=step, **options)
    announce(
        Announcement.Kind.LAUNCH_REQUESTED,
        campaign.team,
        campaign=campaign,
        to=people_with(campaign.team, Right.OPERATE).exclude(pk=user.pk),
        by=user,
        what=f"{name_of(user)} asks for the {word} of “{campaign.name}” on a production server.",
        to_do="Look at its definition, and approve or reject it on its page.",
    )
    return made


def waiting_of(campaign: Campaign) -> LaunchRequest | None:
    """Return the request that nobody has decided on; None where none waits."""
    rows = LaunchRequest.objects.filter(campaign=campaign, state=State.WAITING)
    return rows.select_related("asked_by").first()


def definition_hash(campaign: Campaign) -> str:
    """Return the hash of what is approved: the definition, and the server that it loads."""
    target = campaign.target
    where: Any = target and {"url": target.base_url, "address": target.address}
    if len(targets := campaign.targets) > 1:
        where = [{"url": each.base_url, "address": each.address} for each in targets]
    text = json.dumps([definition_of(campaign), where], sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()


def outdate(campaign: Campaign) -> None:
    """Mark the waiting request as void after a change of the definition. The campaign must be locked."""
    rows = LaunchRequest.objects.filter(campaign=campaign, state=State.WAITING)
    rows.update(state=State.OUTDATED, decided_at=Now())


def waiting_in(teams: Set[int]) -> QuerySet[LaunchRequest]:
    """Return the waiting requests of teams, the oldest first."""
    rows = LaunchRequest.objects.filter(state=LaunchRequest.State.WAITING, campaign__team__in=teams)
    return rows.select_related("campaign__target", "asked_by").order_by("pk")
