"""REST resource of the queues: list, move a campaign up or down."""

from typing import ClassVar

from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.reverse import reverse

from campaigns.execution import move_in_queue, queues
from campaigns.kit.api.openapi import operation
from campaigns.kit.api.outputs import Part, Selectable
from campaigns.kit.api.views import Api
from campaigns.kit.events import work_waits
from campaigns.kit.mappings import JsonObject
from campaigns.kit.rights import May, Right
from campaigns.models import Campaign, Target
from campaigns.planning.api.base import CampaignApi
from campaigns.targets.api.outputs import TargetName


class TryOutOutput(Part):
    """A try-out that waits or is on."""

    campaign = serializers.IntegerField()
    name = serializers.CharField()
    position = serializers.IntegerField()
    on = serializers.BooleanField()


class WaitingOutput(Part):
    """A campaign in a queue; times in seconds, null where nobody knows."""

    place = serializers.IntegerField()
    campaign = serializers.IntegerField()
    name = serializers.CharField()
    state = serializers.ChoiceField(choices=Campaign.State.choices)
    target = serializers.CharField()
    runs_left = serializers.IntegerField()
    seconds_left = serializers.FloatField(allow_null=True)
    begins_in_seconds = serializers.FloatField(allow_null=True)
    run_on = serializers.IntegerField(allow_null=True)
    why = serializers.CharField(allow_null=True)
    url = serializers.URLField()


class QueueOutput(Selectable):
    """Everybody who wants one server, and who holds it."""

    address = serializers.CharField()
    targets = TargetName(many=True)
    held_by = serializers.CharField(allow_null=True)
    holder = serializers.IntegerField(allow_null=True)
    pools_without_worker = serializers.ListField(child=serializers.CharField())
    try_outs = TryOutOutput(many=True)
    waiting = WaitingOutput(many=True)


class Queues(Api):
    """GET: the queue of each server in use."""

    @operation("list_queues", "queues", answer=QueueOutput, whole=True)
    def get(self, request: Request) -> Response:
        """The queue of each server in use, the longest first."""
        return self.whole(
            [_queue(each, request) for each in queues.queues(May(self.user))], QueueOutput
        )


class Move(CampaignApi):
    """POST: another place in the queue of a campaign's server."""

    takes = {"post": Right.OPERATE}

    up: ClassVar[bool]

    def move(self, request: Request, pk: int) -> Response:
        """Move a campaign, request dispatch, and return the new queue."""
        move = move_in_queue.move_up if self.up else move_in_queue.move_down
        campaign = move(self.campaign(pk), self.user)
        work_waits.send(sender=None)
        server = Target.objects.get(campaign=campaign)
        return Response(_queue(queues.queue_of(server, May(self.user)), request))


class MoveUp(Move):
    """Go before the campaign that is before this one."""

    up = True

    @operation("move_campaign_up", "queues", answer=QueueOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Let a campaign go before the one that is before it in the queue of its server."""
        return self.move(request, pk)


class MoveDown(Move):
    """Let the next campaign go before this one."""

    up = False

    @operation("move_campaign_down", "queues", answer=QueueOutput)
    def post(self, request: Request, pk: int) -> Response:
        """Let the next campaign in the queue of its server go before this one."""
        return self.move(request, pk)


def _queue(queue: queues.Queue, request: Request) -> JsonObject:
    return {
        "address": queue.address,
        "targets": [{"id": target.pk, "name": target.name} for target in queue.targets],
        "held_by": queue.held_by or None,
        "holder": queue.holder,
        "pools_without_worker": list(queue.empty_pools),
        "try_outs": [
            {"campaign": run.campaign, "name": run.name, "position": run.position, "on": run.on}
            for run in queue.try_outs
        ],
        "waiting": [_waiting(entry, request) for entry in queue.waiting],
    }


def _waiting(entry: queues.Waiting, request: Request) -> JsonObject:
    return {
        "place": entry.place,
        "campaign": entry.pk,
        "name": entry.name,
        "state": entry.state,
        "target": entry.target,
        "runs_left": entry.runs_left,
        "seconds_left": entry.seconds_left,
        "begins_in_seconds": entry.begins_in,
        "run_on": entry.on,
        "why": entry.why.why if entry.why else None,
        "url": reverse("api-campaign", [entry.pk], request=request) if entry.pk else None,
    }
