"""Follows a campaign until it ends: by the server's long poll, and through its restarts."""

from collections.abc import Iterator, Mapping
from time import monotonic, sleep
from typing import Any

from perfdash_client.approval import may_begin, waiting_launch
from perfdash_client.connection import Server
from perfdash_client.errors import NotEnded
from perfdash_client.results import CLOSED

WAIT_SECONDS = 30
FIELDS = (
    "id,team,name,state,state_reason,runs,seconds_left,analysis_pending,links,version,"
    "launch_request,search"
)
"""What is read again and again; not the findings, which the server would have to collect."""
REST_SECONDS = 1.0
LONGEST_ANALYSIS_SECONDS = 600.0
WAITS_FOR_PEOPLE = {
    "draft": "is a draft. Launch it: perfdash campaign launch {id}",
    "paused": "is paused{reason}. Go on: perfdash campaign resume {id}",
}

Campaign = Mapping[str, Any]


def follow(server: Server, number: int, *, timeout: float | None = None) -> Iterator[Campaign]:
    """Give the campaign as it is, again and again; the last one is closed and analysed.

    timeout: seconds. Raise NotEnded when they have passed, and where it waits for somebody, except
    for approval by a second person: wait for it. Raise LaunchRefused where it is rejected.
    """
    begin = monotonic()
    end = begin + timeout if timeout is not None else float("inf")
    closed_since = None
    known: Campaign = {}
    while True:
        wanted = monotonic()
        wait = int(min(WAIT_SECONDS, max(0, end - wanted))) if known else 0
        campaign, rest = _ask(server, number, wait, known)
        yield campaign
        if campaign["state"] in CLOSED:
            closed_since = closed_since or monotonic()
            waited = monotonic() - closed_since
            if not campaign.get("analysis_pending") or waited > LONGEST_ANALYSIS_SECONDS:
                return
        elif campaign["state"] in WAITS_FOR_PEOPLE and not may_begin(server, campaign):
            raise NotEnded(_waits(campaign))
        if monotonic() >= end:
            on = "its launch still waits" if waiting_launch(campaign) else "it goes on"
            raise NotEnded(
                f"Campaign {number} has not ended within {timeout:.0f} s; {on}."
                f" Watch it again: perfdash campaign watch {number}"
            )
        if rest or monotonic() - wanted < REST_SECONDS:
            sleep(max(0.0, min(rest or REST_SECONDS, end - monotonic())))
        known = campaign


def _ask(server: Server, number: int, wait: int, known: Campaign) -> tuple[Campaign, float]:
    """Give the campaign once it is another than the one that is known, or after `wait` seconds.

    And how long to wait: the server lets only a few clients wait, and sends Retry-After to the others.
    """
    query: dict[str, Any] = {"fields": FIELDS}
    if wait and known.get("version"):
        query |= {"wait": wait, "seen": known["version"]}
    return server.get_with_rest(f"campaigns/{number}", **query)


def _waits(campaign: Campaign) -> str:
    reason = f" ({campaign['state_reason']})" if campaign["state_reason"] else ""
    text = WAITS_FOR_PEOPLE[campaign["state"]].format(id=campaign["id"], reason=reason)
    return f"Campaign {campaign['id']} {text}"
