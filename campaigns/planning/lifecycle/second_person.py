"""Approve, reject or withdraw a request for approval by a second person."""

from django.contrib.auth.models import User
from django.db import transaction
from django.db.models.functions import Now

from campaigns.kit.activity import Action, record
from campaigns.kit.errors import NotPossible
from campaigns.kit.outbox import announce
from campaigns.kit.rights import NotAllowed, NotVisible, Right, may, require_right
from campaigns.models import Announcement, Campaign, LaunchRequest
from campaigns.planning.lifecycle import approval
from campaigns.planning.lifecycle.campaigns import extend, launch, try_or_request_approval
from campaigns.planning.lifecycle.guards import name_to_confirm
from campaigns.planning.lifecycle.rows import locked, log, name_of
from campaigns.planning.lifecycle.runs import run_again

LONGEST_TEXT = 2000
State, Step = LaunchRequest.State, LaunchRequest.Step


@transaction.atomic
def approve(request: LaunchRequest, user: User, text: str = "") -> LaunchRequest:
    """Approve the request of another operator, and perform it once.

    A request whose definition was changed since becomes void: check the state of the returned row.
    Raise NotPossible, NotAllowed.
    """
    campaign, row = _locked(request, user)
    if row.asked_by_id == user.pk:
        raise NotAllowed(
            "You requested it yourself, so another person has to approve it: another operator of "
            f"“{campaign.team}”."
        )
    if row.definition_hash != approval.definition_hash(campaign):
        return _decided(row, campaign, State.OUTDATED, None, "The definition was changed since.")
    if not may(row.asked_by, campaign.team, Right.OPERATE):
        return _decided(
            row,
            campaign,
            State.OUTDATED,
            None,
            "The person who requested it may not launch any more.",
        )
    decided = _decided(row, campaign, State.APPROVED, user, text)
    _act(decided, campaign)
    return decided


@transaction.atomic
def refuse(request: LaunchRequest, user: User, text: str = "") -> LaunchRequest:
    """Reject the request of another operator. Raise NotPossible, NotAllowed."""
    campaign, row = _locked(request, user)
    if row.asked_by_id == user.pk:
        raise NotAllowed("You requested it yourself: withdraw it instead.")
    return _decided(row, campaign, State.REFUSED, user, text)


@transaction.atomic
def withdraw(request: LaunchRequest, user: User) -> LaunchRequest:
    """Withdraw one's own request. Raise NotPossible, NotAllowed."""
    campaign, row = _locked(request, user)
    if row.asked_by_id != user.pk:
        raise NotAllowed("Only the person who requested it can withdraw it; reject it instead.")
    return _decided(row, campaign, State.WITHDRAWN, user, "")


def _locked(request: LaunchRequest, user: User) -> tuple[Campaign, LaunchRequest]:
    """Lock campaign and request: of two who decide at once, the second one is refused."""
    campaign = locked(request.campaign)
    require_right(user, campaign, Right.OPERATE)
    row = LaunchRequest.objects.select_for_update(of=("self",), no_key=True).get(pk=request.pk)
    if row.state != State.WAITING:
        by = f" by {name_of(row.decided_by)}" if row.decided_by else ""
        raise NotPossible(f"It does not wait any more: {row.get_state_display()}{by}.")
    return campaign, row


ACTIONS = {
    State.APPROVED: Action.LAUNCH_APPROVED,
    State.REFUSED: Action.LAUNCH_REFUSED,
    State.WITHDRAWN: Action.LAUNCH_WITHDRAWN,
}


def _decided(
    row: LaunchRequest,
    campaign: Campaign,
    state: LaunchRequest.State,
    user: User | None,
    text: str,
) -> LaunchRequest:
    row.state, row.decided_by, row.words = state, user, text.strip()[:LONGEST_TEXT]
    row.decided_at = Now()
    row.save(update_fields=["state", "decided_by", "words", "decided_at"])
    by = f" by {name_of(user)}" if user else ""
    why = f": {row.words}" if row.words else ""
    log(campaign, f"{row.get_step_display()} that waited for a second yes: {state.label}{by}{why}")
    if state in ACTIONS:
        record(
            ACTIONS[state],
            user=user,
            campaign=campaign,
            step=row.step,
            asked_by=name_of(row.asked_by),
            words=row.words,
        )
    if state != State.WITHDRAWN:
        announce(
            Announcement.Kind.LAUNCH_DECIDED,
            campaign.team,
            campaign=campaign,
            to=[row.asked_by],
            by=user,
            what=f"The {row.get_step_display()} of “{campaign.name}”: {state.label}{by}.",
            words=row.words,
        )
    return LaunchRequest.objects.select_related("asked_by", "decided_by", "campaign").get(pk=row.pk)


def _act(row: LaunchRequest, campaign: Campaign) -> None:
    """Perform an approved request as the user who made it. Raise NotPossible."""
    name = name_to_confirm(campaign)
    try:
        if row.step == Step.LAUNCH:
            launch(campaign, row.asked_by, name, second=row)
        elif row.step == Step.EXTEND:
            extend(campaign, row.options["blocks"], row.asked_by, name, second=row)
        elif row.step == Step.AGAIN:
            run_again(campaign.runs.at(row.options["run"]), row.asked_by, name, second=row)
        else:
            cell = campaign.cells.filter(position=row.options.get("cell")).first()
            try_or_request_approval(campaign, row.asked_by, cell, name, second=row)
    except (NotVisible, NotAllowed):
        raise NotPossible("The person who requested it may not launch any more.") from None
