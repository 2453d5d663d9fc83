"""A launch on a production server that waits for approval by a second person, and what became of it."""

from collections.abc import Mapping
from typing import Any

from perfdash_client.connection import Server
from perfdash_client.errors import LaunchRefused, WaitsForYes

Campaign = Mapping[str, Any]
Request = Mapping[str, Any]
OPEN = frozenset({"waiting", "approved"})


def waiting_launch(campaign: Campaign) -> Request | None:
    """Return the launch request that waits for a decision, or None."""
    wanted: Request | None = campaign["launch_request"]
    return wanted if wanted is not None and wanted["step"] == "launch" else None


def who_decides(server: Server, campaign: Campaign, asked: Request) -> str:
    """Return a message: what waits, who can approve it, and where."""
    team = server.get(f"teams/{campaign['team']}", fields="name")["name"]
    return (
        f"Campaign {campaign['id']} is not launched yet: {asked['asked_by']} asked for it, and it"
        f" waits for approval by a second person. Another operator of “{team}” can approve it "
        "on the page:"
        f" {campaign['links']['page']}"
    )


def require_launched(server: Server, campaign: Campaign) -> None:
    """Raise WaitsForYes where the launch waits for approval by a second person."""
    if wanted := waiting_launch(campaign):
        wait = f"Wait for it: perfdash campaign watch {campaign['id']}"
        raise WaitsForYes(f"{who_decides(server, campaign, wanted)}\n{wait}", wanted)


def may_begin(server: Server, campaign: Campaign) -> bool:
    """Say whether it is a draft that a second person's yes launches. Raise LaunchRefused after a no."""
    if waiting_launch(campaign):
        return True
    if campaign["state"] != "draft":
        return False
    rows = server.get("launch-requests", campaign=campaign["id"], limit=1)["results"]
    if not rows or rows[0]["step"] != "launch":
        return False
    last: Request = rows[0]
    if last["state"] in OPEN:  # decided, or asked for anew, since the campaign was read
        return True
    raise LaunchRefused(
        f"Campaign {campaign['id']} was not launched: {_became(last)}."
        f" Ask for it anew: perfdash campaign launch {campaign['id']}",
        last,
    )


def _became(request: Request) -> str:
    text = request["words"].rstrip(".")
    if request["state"] == "refused":
        return f"{request['decided_by']} rejected it{f' ({text})' if text else ''}"
    if request["state"] == "withdrawn":
        return f"{request['asked_by']} withdrew the request"
    return f"the request is void ({text or 'its definition was changed since'})"
