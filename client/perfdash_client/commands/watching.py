"""Watches a campaign, shows its result and judges it: what several commands end with."""

from collections.abc import Collection, Mapping
from typing import Annotated, Any

import typer

from perfdash_client.approval import waiting_launch, who_decides
from perfdash_client.connection import Server
from perfdash_client.errors import ClientError
from perfdash_client.exits import Exit
from perfdash_client.following import follow
from perfdash_client.progress import display, running_now
from perfdash_client.results import digest, require_answer, show
from perfdash_client.session import Session
from perfdash_client.verdicts import FAILING_WORDS, judge, judge_criterion, verdicts_of

WATCHING_PATIENCE = 600.0
"""Seconds for which a server may be away while it is watched; --patience may be longer."""

Watch = Annotated[bool, typer.Option("--watch", help="Watch it until it has ended.")]
FailOn = Annotated[
    list[str] | None,
    typer.Option(
        metavar="WORDS",
        help=f"Exit code 1 on these verdicts, with commas between: {', '.join(FAILING_WORDS)}.",
    ),
]
Timeout = Annotated[
    float | None,
    typer.Option(
        min=0, metavar="SECONDS", help="Watch no longer: exit code 6. The campaign goes on."
    ),
]


def watched(session: Session, number: int, timeout: float | None) -> dict[str, Any]:
    """Watch a campaign until it has ended. Ctrl-C raises typer.Exit, and leaves the campaign alone."""
    server = session.server
    server.patience = max(server.patience, WATCHING_PATIENCE)
    reported = False
    try:
        with display(session.out) as shown:
            for campaign in follow(server, number, timeout=timeout):
                wanted = waiting_launch(campaign)
                if wanted and not reported:
                    session.out.say(who_decides(server, campaign, wanted))
                    reported = True
                shown.show(campaign, _now(server, campaign))
    except KeyboardInterrupt:
        session.out.say(
            f"No longer watched; campaign {number} goes on."
            f"\nWatch it again: perfdash campaign watch {number}"
            f"\nEnd it:         perfdash campaign cancel {number}"
        )
        raise typer.Exit(Exit.INTERRUPTED) from None
    results: dict[str, Any] = server.get(f"campaigns/{number}")
    return results


def _now(server: Server, campaign: Mapping[str, Any]) -> str:
    """Return which run is running, or why none is; empty where that is unknown."""
    if waiting_launch(campaign):
        return "it waits for approval by a second person"
    if campaign["state"] != "running":
        return ""
    if not campaign["runs"].get("running"):
        return _why_not(server, campaign["id"])
    result = server.get(f"campaigns/{campaign['id']}/runs", state="running", limit=1)["results"]
    return running_now(result[0] if result else None)


def _why_not(server: Server, number: int) -> str:
    """Say what it waits for, as the queue of its server knows it."""
    waiting = (entry for queue in server.pages("queues") for entry in queue["waiting"])
    why = next((entry["why"] for entry in waiting if entry["campaign"] == number), None)
    return f"it waits: {why}" if why else ""


def judged(
    session: Session,
    campaign: Mapping[str, Any],
    words: Collection[str],
    otherwise: ClientError | None = None,
) -> None:
    """Print a result. otherwise: how it ends where no word fails it. Raise NotEnded or NoAnswer without one, VerdictFailed for one of `words`, NotDecided where a criterion is not shown to be kept."""
    verdict = otherwise
    try:
        require_answer(campaign)
        judge(verdicts_of(campaign["findings"]), words)
        judge_criterion(campaign["findings"], words)
    except ClientError as error:
        verdict = error
    if session.as_json:
        code = Exit.OK if verdict is None else verdict.code
        session.out.give({**digest(campaign), "exit_code": int(code)})
    else:
        show(session.out, campaign)
    if verdict is not None:
        raise verdict
