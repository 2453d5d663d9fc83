"""Servers under test: list them, look whether one answers."""

from time import monotonic, sleep
from typing import Annotated, Any

import typer

from perfdash_client.connection import Server
from perfdash_client.errors import BadUse, NotEnded
from perfdash_client.exits import Exit
from perfdash_client.output import toned
from perfdash_client.session import Json, session_of

app = typer.Typer(help="Servers under test.", no_args_is_help=True)
REST_SECONDS = 0.5
TONES = {"ready": "better", "unreachable": "worse", "refused": "worse"}


@app.command("list")
def list_targets(context: typer.Context, json: Json = False) -> None:
    """List the servers that can be measured."""
    session = session_of(context)
    results = list(session.server.pages("targets"))
    if session.as_json:
        session.out.give(results)
        return
    session.out.table(
        ["id", "name", "family", "URL", "health"],
        [
            [
                target["id"],
                target["name"] + (" (production)" if target["is_production"] else ""),
                target["family"],
                target["base_url"],
                toned(target["health"], TONES.get(target["health"], "")),
            ]
            for target in results
        ],
        right=["id"],
    )


@app.command()
def probe(
    context: typer.Context,
    name: Annotated[str, typer.Argument(metavar="TARGET", help="Its name or its id.")],
    timeout: Annotated[float, typer.Option(min=0, help="Seconds to wait for the answer.")] = 30,
    json: Json = False,
) -> None:
    """Look whether a target answers. Exit code 5 where it does not."""
    session = session_of(context)
    target = find(session.server, name)
    wanted = session.server.post(f"targets/{target['id']}/probe")
    for warning in wanted.get("warnings", ()):
        session.out.say(warning, "yellow")
    result = wanted if wanted.get("warnings") else _answer(session.server, target, timeout)
    if session.as_json:
        session.out.give(result)
    else:
        session.out.draw(
            toned(f"{result['name']}: {result['health']}", TONES.get(result["health"], ""))
        )
        if result["health_message"]:
            session.out.line(result["health_message"])
        session.out.table(
            ["proof", "expected", "measured", ""],
            [
                [p["name"], p["expected"], p["measured"], "" if p["ok"] else toned("wrong", "fail")]
                for p in result["proofs"] or ()
            ],
        )
    if result["health"] != "ready":
        raise typer.Exit(Exit.NO_ANSWER)


def find(server: Server, name: str) -> dict[str, Any]:
    """Find a target by its name, or its id. Raise BadUse."""
    if name.isdigit():
        results: dict[str, Any] = server.get(f"targets/{name}")
        return results
    targets = list(server.pages("targets"))
    for target in targets:
        if target["name"] == name:
            return target
    known = ", ".join(f"“{target['name']}”" for target in targets) or "none"
    raise BadUse(f"There is no target “{name}”; there are: {known}.")


def _answer(server: Server, before: dict[str, Any], timeout: float) -> dict[str, Any]:
    """Wait until the target was probed anew. Raise NotEnded."""
    end = monotonic() + timeout
    while True:
        results: dict[str, Any] = server.get(f"targets/{before['id']}")
        if results["probed_at"] != before["probed_at"]:
            return results
        if monotonic() >= end:
            raise NotEnded(
                f"“{before['name']}” was not probed within {timeout:.0f} s. Is a worker running?"
            )
        sleep(REST_SECONDS)
