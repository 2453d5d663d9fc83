"""Feeds at loopback or private addresses, which workers read for the runs of a target once their owner has confirmed that."""

from dataclasses import replace

from django.contrib.auth.models import User
from django.db import transaction

from campaigns.kit import network
from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid
from campaigns.kit.rights import Right, require_right
from campaigns.models import Target
from campaigns.targets.forms import rule_to_confirm
from campaigns.targets.saving import rules_for

MOST_FEEDS = 100


def rule_of_feed(target: Target, url: str) -> str:
    """Return the rule that its owner has to confirm before workers read a feed; an empty text where they may.

    Raise NetworkError for a URL that no owner may confirm.
    """
    return rule_to_confirm(url, replace(rules_for(target), of="feed"))


def why_not_read(target: Target, url: str, why: str) -> str:
    """Return why workers may not read a feed for the runs of a target, and what to do; empty where they may. why: they do so."""
    try:
        rule = rule_of_feed(target, url)
    except network.NetworkError as error:
        return f"{error} {why}"
    if not rule:
        return ""
    return (
        f"{rule} is a loopback or private address. {why} An operator of the team “{target.team}” confirms that it "
        "is yours, here or on the target."
    )


@transaction.atomic
def confirm_feed(target: Target, url: str, user: User) -> str:
    """Let workers read a feed for the runs of a target; return the rule. Raise Invalid, NotAllowed."""
    target = Target.objects.select_for_update(of=("self",), no_key=True).get(pk=target.pk)
    require_right(user, target, Right.OPERATE)
    try:
        rule = rule_of_feed(target, url)
    except network.NetworkError as error:
        raise Invalid({"url": [str(error)]}) from None
    if rule:
        if len(target.confirmed_feeds) >= MOST_FEEDS:
            raise Invalid({"url": [f"A target has at most {MOST_FEEDS} feeds: withdraw one."]})
        target.confirmed_feeds = [*target.confirmed_feeds, rule]
        target.save(update_fields=["confirmed_feeds"])
        record(Action.FEED_CONFIRMED, user=user, subject=target, rule=rule, url=url)
    return rule


@transaction.atomic
def withdraw_feed(target: Target, rule: str, user: User) -> None:
    """Let workers read a confirmed address no more. Raise Invalid where it is none, NotAllowed."""
    target = Target.objects.select_for_update(of=("self",), no_key=True).get(pk=target.pk)
    require_right(user, target, Right.OPERATE)
    if rule not in target.confirmed_feeds:
        known = ", ".join(target.confirmed_feeds) or "none"
        raise Invalid({"rule": [f"The confirmed addresses of feeds are: {known}."]})
    target.confirmed_feeds = [each for each in target.confirmed_feeds if each != rule]
    target.save(update_fields=["confirmed_feeds"])
    record(Action.FEED_WITHDRAWN, user=user, subject=target, rule=rule)
