"""What people do with campaigns, chosen by numbers, so that a test can choose at random."""

from campaigns.execution import dispatch as dispatching
from campaigns.kit.errors import Invalid, NotPossible
from campaigns.models import Campaign, Run, Target
from campaigns.planning import checking, drafts, lifecycle, storage

REFUSALS = (NotPossible, drafts.NotADraft, Invalid)


def nth(rows, n):
    rows = list(rows)
    return rows[n % len(rows)] if rows else None


def define(design):
    """Make a campaign, and launch it or try one run of it."""
    server = nth(Target.objects.filter(retired_at=None).order_by("pk"), design["target"])
    if server is None:
        return
    data = {
        "question": "What happens?",
        "kind": "controlled",
        "target": server.pk,
        "factors": {"level": list(range(1, design["levels"] + 1))},
        "repetitions": design["repetitions"],
        "cool_down_seconds": design["cool_down"],
        "max_consecutive_failures": design["failures"],
        "time_budget_seconds": design["budget"],
        "seed": 7,
    }
    campaign = drafts.create(checking.check(data), None)
    Campaign.objects.filter(pk=campaign.pk).update(pool=design["pool"])
    if design["launched"]:
        lifecycle.launch(campaign, None)
    else:
        lifecycle.try_one(campaign, None)
    dispatching.dispatch()


def on_a_campaign(name, n):
    """What a person may do with the campaign that `n` chooses."""
    campaign = nth(Campaign.objects.order_by("pk"), n)
    if campaign is None:
        return lambda: None
    data = storage.definition_of(campaign)
    return {
        "launch": lambda: lifecycle.launch(campaign, None),
        "try_one": lambda: lifecycle.try_one(campaign, None),
        "pause": lambda: lifecycle.pause(campaign),
        "resume": lambda: lifecycle.resume(campaign),
        "cancel": lambda: lifecycle.cancel(campaign, "enough"),
        "extend": lambda: lifecycle.extend(campaign, 1, None),
        "change": lambda: drafts.change(campaign, checking.check(data)),
        "delete": lambda: drafts.delete(campaign),
    }[name]


def on_a_run(name, n):
    """What a person may do with one of the runs that it is meant for."""
    runs = Run.objects.select_related("campaign").order_by("pk")
    wanted = {
        "cancel_run": runs.filter(state__in=Run.OPEN),
        "run_again": runs.filter(state__in=[Run.State.FAILED, Run.State.VOID]),
        "exclude": runs.filter(state__in=Run.CLOSED),
        "include": runs.filter(exclusions__withdrawn_at=None, exclusions__isnull=False),
    }
    run = nth(wanted[name], n)
    if run is None:
        return lambda: None
    return {
        "cancel_run": lambda: lifecycle.cancel_run(run, "a mistake"),
        "run_again": lambda: lifecycle.run_again(run, None),
        "exclude": lambda: lifecycle.exclude(run, None, "odd"),
        "include": lambda: lifecycle.include(run),
    }[name]
