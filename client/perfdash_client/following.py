"""Follows a campaign until it ends: by the server's long poll, and through its restarts."""

from collections.abc import Iterator, Mapping
from time import monotonic, sleep
from typing import Any

from perfdash_client.connection import Server
from perfdash_client.errors import NotEnded, Refused
from perfdash_client.results import CLOSED

WAIT_SECONDS = 30
FIELDS = "id,name,state,state_reason,runs,seconds_left,analysis_pending,links"
"""What is read again and again; not the findings, which the server would have to collect."""
REST_SECONDS = 1.0
BAD_REQUEST = 400
LONGEST_ANALYSIS_SECONDS = 600.0
WAITS_FOR_PEOPLE = {
    "draft": "is a draft. Launch it: perfdash campaign launch {id}",
    "paused": "is paused{reason}. Go on: perfdash campaign resume {id}",
}

Campaign = Mapping[str, Any]


def follow(server: Server, number: int, *, timeout: float | None = None) -> Iterator[Campaign]:
    """Give the campaign as it is, again and again; the last one is closed and analysed.

    timeout: seconds. Raise NotEnded when they have passed, and where it waits for somebody.
    """
    begin = monotonic()
    end = begin + timeout if timeout is not None else float("inf")
    closed_since = None
    known: Campaign = {}
    while True:
        asked = monotonic()
        wait = int(min(WAIT_SECONDS, max(0, end - asked))) if known else 0
        campaign: Campaign = _ask(server, number, wait)
        yield campaign
        if campaign["state"] in CLOSED:
            closed_since = closed_since or monotonic()
            waited = monotonic() - closed_since
            if not campaign.get("analysis_pending") or waited > LONGEST_ANALYSIS_SECONDS:
                return
        elif campaign["state"] in WAITS_FOR_PEOPLE:
            raise NotEnded(_waits(campaign))
        if monotonic() >= end:
            raise NotEnded(
                f"Campaign {number} has not ended within {timeout:.0f} s; it goes on."
                f" Watch it again: perfdash campaign watch {number}"
            )
        nothing_new = _moved(campaign) == _moved(known)
        if nothing_new or monotonic() - asked < REST_SECONDS:
            sleep(max(0.0, min(REST_SECONDS, end - monotonic())))
        known = campaign


def _ask(server: Server, number: int, wait: int) -> Campaign:
    """Ask for the campaign as it is; `wait`: seconds that the server may wait for something new."""
    try:
        found: Campaign = server.get(f"campaigns/{number}", wait=wait or None, fields=FIELDS)
    except Refused as refused:
        if not wait or refused.status != BAD_REQUEST:
            raise
        return _ask(server, number, 0)  # a server that does not know `wait`
    return found


def _moved(campaign: Campaign) -> tuple[Any, ...]:
    return campaign.get("state"), campaign.get("runs"), campaign.get("analysis_pending")


def _waits(campaign: Campaign) -> str:
    reason = f" ({campaign['state_reason']})" if campaign["state_reason"] else ""
    words = WAITS_FOR_PEOPLE[campaign["state"]].format(id=campaign["id"], reason=reason)
    return f"Campaign {campaign['id']} {words}"
