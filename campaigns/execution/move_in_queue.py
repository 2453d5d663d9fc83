"""Move a campaign up or down in the queue of its server.

Targets with the same address share a queue. Nothing is sent; the caller requests dispatch.
"""

from django.contrib.auth.models import User
from django.db import transaction

from campaigns.execution.queues import in_queues_of
from campaigns.execution.waiting import ORDER, quoted_campaign
from campaigns.kit.activity import Action, record
from campaigns.kit.errors import NotPossible
from campaigns.kit.rights import Right, require_right
from campaigns.models import Campaign, LogLine
from campaigns.planning.lifecycle.rows import name_of


def move_up(campaign: Campaign, user: User | None) -> Campaign:
    """Swap a campaign with the one before it. Raise NotPossible where it is the first.

    An open run ends as planned.
    """
    return _move(campaign, -1, user)


def move_down(campaign: Campaign, user: User | None) -> Campaign:
    """Swap a campaign with the one after it. Raise NotPossible where it is the last."""
    return _move(campaign, 1, user)


@transaction.atomic
def _move(campaign: Campaign, step: int, user: User | None) -> Campaign:
    queue = _locked_queue(campaign)
    require_right(user, campaign, Right.OPERATE)
    if campaign.pk not in [waiting.pk for waiting in queue]:
        state = Campaign.objects.values_list("state", flat=True).get(pk=campaign.pk)
        raise NotPossible(f"“{campaign.name}” is {state}; it waits in no queue.")
    place = next(n for n, waiting in enumerate(queue) if waiting.pk == campaign.pk)
    if not 0 <= place + step < len(queue):
        end = "first" if step < 0 else "last"
        raise NotPossible(f"“{campaign.name}” is the {end} in its queue already.")
    _give_places(queue)
    moved, neighbour = queue[place], queue[place + step]
    moved.queue_place, neighbour.queue_place = neighbour.queue_place, moved.queue_place
    Campaign.objects.bulk_update(queue, ["queue_place"])
    side = "before" if step < 0 else "behind"
    _log(moved, neighbour, side, user)
    record(
        Action.CAMPAIGN_MOVED,
        user=user,
        campaign=moved,
        side=side,
        neighbour=quoted_campaign(neighbour, moved.team_id),
    )
    return Campaign.objects.get(pk=campaign.pk)


def _locked_queue(campaign: Campaign) -> list[Campaign]:
    """Lock all campaigns that wait for one of the same servers, and return them in their order.

    They are locked by key, so that two people who move at once cause no deadlock.
    """
    locked = in_queues_of(campaign).select_for_update(of=("self",), no_key=True).order_by("pk")
    keys = list(locked.values_list("pk", flat=True))
    return list(Campaign.objects.filter(pk__in=keys).order_by(*ORDER))


def _give_places(queue: list[Campaign]) -> None:
    """Keep the order, and give each a place of its own."""
    places = [waiting.queue_place for waiting in queue]
    if None not in places and len(set(places)) == len(places):
        return
    last = max((place for place in places if place is not None), default=0)
    for number, waiting in enumerate(reversed(queue)):
        waiting.queue_place = last - number


def _log(moved: Campaign, neighbour: Campaign, side: str, user: User | None) -> None:
    by, of_one_team = name_of(user), moved.team_id == neighbour.team_id
    other = quoted_campaign(neighbour, moved.team_id)
    mine = quoted_campaign(moved, neighbour.team_id)
    by_whom = f" by {by}" if of_one_team else ""
    LogLine.objects.bulk_create(
        [
            LogLine(campaign=moved, text=f"moved {side} {other} in the queue by {by}"),
            LogLine(
                campaign=neighbour,
                text=f"{mine} was moved {side} this one in the queue{by_whom}",
            ),
        ]
    )
