"""Results that were measured elsewhere: submit them as JSON, or import a file of another tool."""

import json as json_text
from collections.abc import Mapping
from pathlib import Path
from time import monotonic, sleep
from typing import Annotated, Any

import typer

from perfdash_client.connection import Server
from perfdash_client.documents import (
    Document,
    check_json,
    name_of,
    read_bytes,
    read_text,
    read_yaml,
    require_mapping,
)
from perfdash_client.errors import BadUse, NoAnswer, NotEnded
from perfdash_client.session import Json, Session, session_of

File = Annotated[Path, typer.Argument(metavar="FILE", help="- is standard input.")]
DryRun = Annotated[bool, typer.Option("--dry-run", help="Say what would be stored; store nothing.")]
REST_SECONDS = 1.0
WAITING = "waiting"
MAPPED = "plain_csv"
"""The one format that takes a mapping."""


def add_to(app: typer.Typer) -> None:
    """Add the commands of this module."""
    app.command()(submit)
    app.command("import")(import_file)
    app.command()(formats)


def submit(
    context: typer.Context,
    file: File,
    to: Annotated[
        int | None, typer.Option(min=1, metavar="ID", help="Add the runs to this campaign.")
    ] = None,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Submit runs that were measured elsewhere, as JSON or YAML; all of them, or none."""
    session = session_of(context)
    content, document = _submission(file)
    result = session.server.send(
        "submissions" if to is None else f"campaigns/{to}/runs",
        content,
        "application/json",
        query={"dry_run": "true"} if dry_run else {},
        compress=True,
        lines=document.lines,
        file=document.name,
    )
    if to is None:
        _tell(session, result)
    elif session.as_json:
        session.out.give(result)
    else:
        known = f"; {result['known']} were there already, exactly so" if result["known"] else ""
        would = "Would add" if result["dry_run"] else "Added"
        session.out.line(f"{would} {result['runs']} runs, {result['values']} values{known}.")


def _submission(file: Path) -> tuple[bytes, Document]:
    """Read a submission: JSON is sent as it is, YAML as JSON. Raise BadUse."""
    name = name_of(file)
    if file.suffix.lower() in (".yaml", ".yml"):
        document = read_yaml(file)
        return json_text.dumps(require_mapping(document, "a submission")).encode(), document
    text = read_text(file)
    check_json(text, name)
    return text.encode(), Document(name, None)


def import_file(
    context: typer.Context,
    file: File,
    format_name: Annotated[
        str,
        typer.Option(
            "--format", metavar="NAME", help="Found out unless given; see perfdash formats."
        ),
    ] = "",
    question: Annotated[str, typer.Option(help="What the runs shall answer.")] = "",
    name: Annotated[str, typer.Option(help="For lists.")] = "",
    source: Annotated[str, typer.Option(help="Where the runs come from.")] = "",
    tag: Annotated[list[str] | None, typer.Option(help="May be repeated.")] = None,
    metric: Annotated[str, typer.Option(help="The one that answers the question.")] = "",
    fact: Annotated[
        list[str] | None,
        typer.Option(metavar="NAME=VALUE", help="Of the environment; may be repeated."),
    ] = None,
    mapping: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="What the columns of a CSV mean, as YAML or JSON."),
    ] = None,
    load: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FACTOR",
            help="How much was asked of the target at once; its levels are not ranked. May be repeated.",
        ),
    ] = None,
    setting: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FACTOR",
            help="What the file does not declare and somebody may choose; its levels are ranked. May be repeated.",
        ),
    ] = None,
    lower: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC",
            help="Of which the file does not say that lower is better. May be repeated.",
        ),
    ] = None,
    higher: Annotated[
        list[str] | None,
        typer.Option(
            metavar="METRIC",
            help="Of which the file does not say that higher is better. May be repeated.",
        ),
    ] = None,
    timeout: Annotated[float, typer.Option(min=0, help="Seconds to wait for a large file.")] = 600,
    dry_run: DryRun = False,
    json: Json = False,
) -> None:
    """Import the file of another tool as a finished campaign; all of it, or nothing."""
    session = session_of(context)
    roles = _stated(load=load, setting=setting)
    directions = _stated(lower=lower, higher=higher)
    query = {
        "filename": "" if str(file) == "-" else file.name,
        "format": format_name or (MAPPED if mapping else ""),
        "question": question,
        "name": name,
        "source": source,
        "tags": ",".join(tag or ()),
        "primary_metric": metric,
        "context": json_text.dumps(_facts(fact)) if fact else "",
        "mapping": _mapping(mapping) if mapping else "",
        "roles": json_text.dumps(roles) if roles else "",
        "directions": json_text.dumps(directions) if directions else "",
        "dry_run": "true" if dry_run else "",
    }
    result = session.server.send(
        "imports",
        read_bytes(file),
        "application/octet-stream",
        query={name: value for name, value in query.items() if value},
        compress=True,
        file=name_of(file),
    )
    if result["submission"] and result["submission"]["state"] == WAITING:
        session.out.say("The file is large: a worker reads it.")
        result |= _when_read(session.server, result["submission"], timeout)
    _tell(session, result)


def _mapping(path: Path) -> str:
    return json_text.dumps(require_mapping(read_yaml(path), "a mapping of columns"))


def _stated(**names: list[str] | None) -> dict[str, str]:
    """Return what is said of each name: the word of its option. Raise BadUse for one of two options."""
    result: dict[str, str] = {}
    for word, given in names.items():
        for name in given or ():
            if result.setdefault(name, word) != word:
                raise BadUse(
                    f"--{word} {name}: it is given as --{result[name]}, too; give it once."
                )
    return result


def _facts(given: list[str]) -> dict[str, str]:
    """Read NAME=VALUE. Raise BadUse."""
    results = {}
    for number, text in enumerate(given, start=1):
        name, separator, value = text.partition("=")
        if not (separator and name.strip() and value.strip()):
            raise BadUse(f"--fact, number {number}: it is not written as NAME=VALUE.")
        results[name.strip()] = value.strip()
    return results


def _when_read(server: Server, submission: Mapping[str, Any], timeout: float) -> dict[str, Any]:
    """Wait until a worker has read a file. Raise NoAnswer where it is refused, NotEnded in the end."""
    end = monotonic() + timeout
    number = submission["id"]
    while True:
        result = server.get(f"submissions/{number}")
        if result["state"] == "refused":
            raise NoAnswer(f"Nothing was imported: {result['problem']}")
        if result["state"] != WAITING:
            return {
                "made": True,
                "runs": result["runs"],
                "values": result["values"],
                "dropped": result["dropped"],
                "questions": [],
                "submission": result,
            }
        if monotonic() >= end:
            raise NotEnded(f"The file was not read within {timeout:.0f} s. Is a worker running?")
        sleep(REST_SECONDS)


def _tell(session: Session, found: Mapping[str, Any]) -> None:
    """Say what became of a submission."""
    for left_out in found["dropped"]:
        session.out.say(f"Note: {left_out}", "yellow")
    for question in found["questions"] if found["made"] else ():
        session.out.say(f"Question: {question}", "yellow")
    if session.as_json:
        session.out.give(found)
        return
    what = f"{found['runs']} runs, {found['values']} values"
    if found["dry_run"] and found["made"]:
        varied = f", varying {', '.join(found['factors'])}" if found["factors"] else ""
        session.out.line(
            f"Would store “{found['name']}”: {what}{varied}. It asks: {found['question']}"
        )
        return
    campaign = found["submission"]["campaign"]
    if found["made"]:
        session.out.line(f"Stored {what} as campaign {campaign['id']}.")
    else:
        nothing = " Nothing would be stored." if found["dry_run"] else ""
        session.out.line(f"Campaign {campaign['id']} has exactly these already ({what}).{nothing}")
    session.out.line(campaign["page"], "cyan")


def formats(context: typer.Context, json: Json = False) -> None:
    """List the formats of files that can be imported."""
    session = session_of(context)
    results = list(session.server.pages("formats"))
    if session.as_json:
        session.out.give(results)
    else:
        session.out.table(["format", "of"], [[each["name"], each["label"]] for each in results])
