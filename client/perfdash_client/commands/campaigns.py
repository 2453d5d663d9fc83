"""Campaigns: define, launch, watch, judge."""

from pathlib import Path
from typing import Annotated, Any

import typer

from perfdash_client.approval import require_launched, waiting_launch
from perfdash_client.commands.watching import FailOn, Timeout, Watch, judged, watched
from perfdash_client.definitions import SCHEMA, as_yaml, definition_of, read_definition
from perfdash_client.errors import BadUse
from perfdash_client.formats import about, levels
from perfdash_client.output import Output, toned
from perfdash_client.progress import tally
from perfdash_client.session import Campaign, Json, Session, session_of
from perfdash_client.verdicts import read_words

app = typer.Typer(help="Campaigns: define, launch, watch, judge.", no_args_is_help=True)

File = Annotated[
    Path, typer.Argument(metavar="FILE", help="A definition in YAML; - is standard input.")
]
Confirm = Annotated[
    str,
    typer.Option(
        metavar="NAME", help="The target's name, typed by you: needed for a production server."
    ),
]
Anyway = Annotated[
    bool,
    typer.Option("--anyway", help="Launch although the targets lack something that runs need."),
]
Into = Annotated[
    Path | None, typer.Option("--output", "-o", metavar="FILE", help="Instead of standard output.")
]
TONES = {"finished": "better", "running": "info", "paused": "warn", "cancelled": "thin"}


@app.command("list")
def list_campaigns(
    context: typer.Context,
    state: Annotated[str, typer.Option(help="draft, running, paused, cancelling, …")] = "",
    kind: Annotated[str, typer.Option()] = "",
    tag: Annotated[str, typer.Option()] = "",
    search: Annotated[str, typer.Option("--search", "-q", help="In name and question.")] = "",
    limit: Annotated[int, typer.Option(min=1, max=500)] = 20,
    json: Json = False,
) -> None:
    """List campaigns, newest first."""
    session = session_of(context)
    query = {"state": state, "kind": kind, "tag": tag, "q": search}
    wanted = {name: value for name, value in query.items() if value}
    result = session.server.get("campaigns", limit=limit, **wanted)["results"]
    if session.as_json:
        session.out.give(result)
        return
    session.out.table(
        ["id", "state", "runs", "name"],
        [
            [
                each["id"],
                toned(each["state"], TONES.get(each["state"], "")),
                "{} of {}".format(*tally(each)),
                each["name"],
            ]
            for each in result
        ],
        right=["id"],
    )


@app.command()
def create(
    context: typer.Context,
    file: File,
    check: Annotated[
        bool, typer.Option("--check", help="Say what it would do; store nothing.")
    ] = False,
    launch: Annotated[
        bool, typer.Option("--launch", help="Launch it at once, or store nothing.")
    ] = False,
    watch: Watch = False,
    confirm_target: Confirm = "",
    anyway: Anyway = False,
    fail_on: FailOn = None,
    timeout: Timeout = None,
    json: Json = False,
) -> None:
    """Store the definition of a campaign as a draft, or launch it."""
    session = session_of(context)
    text = read_words(fail_on or ())
    if check and (launch or watch):
        raise BadUse("--check stores nothing; leave out --launch and --watch.")
    if (watch or text or timeout is not None) and not launch:
        raise BadUse("A draft cannot be watched: add --launch.")
    if check:
        _preview(session, file)
        return
    fields, document = read_definition(file)
    more = {
        "launch": True,
        "confirm_target": confirm_target,
        **({"anyway": True} if anyway else {}),
    }
    body = {**fields, **more} if launch else fields
    made = session.server.post("campaigns", body, lines=document.lines, file=document.name)
    number = made["id"]
    launched = launch and not waiting_launch(made)
    session.out.say(
        f"{'Launched' if launched else 'Stored'} campaign {number}: {made['links']['page']}"
    )
    if watch or text or timeout is not None:
        judged(session, watched(session, number, timeout), text)
        return
    if not session.as_json:
        session.out.line(str(number))
    if launch:
        require_launched(session.server, made)
    if session.as_json:
        session.out.give(made)
    else:
        after = "watch" if launch else "launch"
        session.out.say(f"Next: perfdash campaign {after} {number}")


@app.command()
def preview(context: typer.Context, file: File, json: Json = False) -> None:
    """Say what a definition would do; store nothing."""
    _preview(session_of(context), file)


def _preview(session: Session, file: Path) -> None:
    fields, document = read_definition(file)
    plan = session.server.post(
        "campaigns/preview", fields, lines=document.lines, file=document.name
    )
    if session.as_json:
        session.out.give(plan)
    else:
        _show_plan(session.out, plan)


def _show_plan(out: Output, plan: dict[str, Any]) -> None:
    warm_ups = f" and {plan['warm_up_runs']} warm-ups" if plan["warm_up_runs"] else ""
    out.line(
        f"{plan['measured_runs']} runs{warm_ups} in {plan['blocks']} blocks, {plan['order']},"
        f" about {about(plan['seconds'])}",
        "bold",
    )
    out.table(
        ["cell", "levels"],
        [
            [cell["position"], levels(cell["levels"]) or "all parameters are fixed"]
            for cell in plan["cells"]
        ],
        right=["cell"],
    )
    for remark in plan["remarks"]:
        out.draw(toned(remark["text"], "" if remark["tone"] == "pass" else remark["tone"]))


@app.command()
def edit(context: typer.Context, campaign: Campaign, file: File, json: Json = False) -> None:
    """Replace the definition of a draft by that of a file; its try-outs go."""
    session = session_of(context)
    fields, document = read_definition(file)
    result = session.server.put(
        f"campaigns/{campaign}", fields, lines=document.lines, file=document.name
    )
    session.out.say(f"Changed campaign {campaign}: {result['links']['page']}")
    _told(session, result)


@app.command()
def delete(context: typer.Context, campaign: Campaign) -> None:
    """Delete a draft; what was launched stays."""
    session = session_of(context)
    session.server.delete(f"campaigns/{campaign}")
    session.out.say(f"Deleted campaign {campaign}.")


@app.command()
def launch(
    context: typer.Context,
    campaign: Campaign,
    watch: Watch = False,
    confirm_target: Confirm = "",
    anyway: Anyway = False,
    fail_on: FailOn = None,
    timeout: Timeout = None,
    json: Json = False,
) -> None:
    """Launch a draft: lock its definition, and begin."""
    session = session_of(context)
    text = read_words(fail_on or ())
    said = {"confirm_target": confirm_target, "anyway": anyway}
    body = {name: value for name, value in said.items() if value} or None
    result = session.server.post(f"campaigns/{campaign}/launch", body)
    if "definition_hash" in result:  # a launch request instead of a campaign
        result = session.server.get(f"campaigns/{campaign}")
    if not waiting_launch(result):
        session.out.say(f"Launched campaign {campaign}: {result['links']['page']}")
    if watch or text or timeout is not None:
        judged(session, watched(session, campaign, timeout), text)
    else:
        require_launched(session.server, result)
        _told(session, result)


@app.command()
def watch(
    context: typer.Context,
    campaign: Campaign,
    fail_on: FailOn = None,
    timeout: Timeout = None,
    json: Json = False,
) -> None:
    """Watch a campaign until it has ended; print its result. Ctrl-C leaves it alone."""
    session = session_of(context)
    text = read_words(fail_on or ())
    judged(session, watched(session, campaign, timeout), text)


@app.command()
def result(
    context: typer.Context, campaign: Campaign, fail_on: FailOn = None, json: Json = False
) -> None:
    """Print the results, as far as they are known."""
    session = session_of(context)
    text = read_words(fail_on or ())
    judged(session, session.server.get(f"campaigns/{campaign}"), text)


@app.command()
def pause(context: typer.Context, campaign: Campaign, json: Json = False) -> None:
    """Begin no further run; the one that is on ends."""
    _step(session_of(context), campaign, "pause")


@app.command()
def resume(
    context: typer.Context, campaign: Campaign, confirm_target: Confirm = "", json: Json = False
) -> None:
    """Go on after a pause."""
    body = {"confirm_target": confirm_target} if confirm_target else None
    _step(session_of(context), campaign, "resume", body)


@app.command()
def cancel(
    context: typer.Context,
    campaign: Campaign,
    reason: Annotated[str, typer.Option(help="Kept, and shown on the page.")] = "",
    json: Json = False,
) -> None:
    """End a campaign before its time."""
    _step(session_of(context), campaign, "cancel", {"reason": reason})


@app.command()
def definition(
    context: typer.Context, campaign: Campaign, output: Into = None, json: Json = False
) -> None:
    """Write the definition of a campaign as YAML, for git."""
    session = session_of(context)
    result = definition_of(session.server.get(f"campaigns/{campaign}"))
    if session.as_json and output is None:
        session.out.give(result)
        return
    _write(session, as_yaml(result, session.server.url, campaign), output)


@app.command()
def schema(context: typer.Context, output: Into = None, json: Json = False) -> None:
    """Write the JSON Schema of definitions, as this server knows its kinds."""
    session = session_of(context)
    answer = session.server.read_bytes(SCHEMA)
    text = Output.as_text(answer.json())
    _write(session, text, output)


def _write(session: Session, text: str, output: Path | None) -> None:
    if output is None:
        session.out.raw(text)
        return
    try:
        output.write_text(text, encoding="utf-8")
    except OSError as error:
        raise BadUse(f"{output} cannot be written: {error.strerror}.") from None
    session.out.say(f"Wrote {output}.")
    if session.as_json:
        session.out.give({"file": str(output)})


def _step(session: Session, campaign: int, step: str, body: dict[str, Any] | None = None) -> None:
    _told(session, session.server.post(f"campaigns/{campaign}/{step}", body))


def _told(session: Session, campaign: dict[str, Any]) -> None:
    if session.as_json:
        session.out.give(campaign)
    else:
        session.out.line(f"Campaign {campaign['id']} is {campaign['state']}.")
