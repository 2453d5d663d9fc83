"""The runs of a campaign as a file."""

import sys
from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from perfdash_client.connection import Server
from perfdash_client.errors import BadUse
from perfdash_client.session import Campaign, Json, session_of


class Format(StrEnum):
    """What is written: a line a run, everything there is, or a typed row a run and metric."""

    CSV = "csv"
    JSON = "json"
    PARQUET = "parquet"


def add_to(app: typer.Typer) -> None:
    """Add the command of this module."""
    app.command()(export)


def export(
    context: typer.Context,
    campaign: Campaign,
    format_name: Annotated[
        Format | None, typer.Option("--format", help="By the file's ending unless given, else csv.")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--output", "-o", metavar="FILE", help="Instead of standard output."),
    ] = None,
    json: Json = False,
) -> None:
    """Write the runs of a campaign as CSV or Parquet, or all that is known of it as JSON."""
    session = session_of(context)
    chosen = format_name or (Format.JSON if json and output is None else _by_ending(output))
    if session.as_json and output is None and chosen != Format.JSON:
        raise BadUse(
            f"--json prints JSON, and --format {chosen} is none. Write it to a file: -o FILE."
        )
    if chosen == Format.PARQUET and output is None and sys.stdout.isatty():
        raise BadUse("Parquet is no text for a terminal. Write it to a file: -o FILE.")
    content = _content(session.server, campaign, chosen)
    if output is None:
        sys.stdout.flush()
        sys.stdout.buffer.write(content)
        sys.stdout.buffer.flush()
        return
    try:
        output.write_bytes(content)
    except OSError as error:
        raise BadUse(f"{output} cannot be written: {error.strerror}.") from None
    session.out.say(f"Wrote {output}: {len(content):,} bytes.")
    if session.as_json:
        session.out.give({"file": str(output), "format": str(chosen), "bytes": len(content)})


def _by_ending(output: Path | None) -> Format:
    ending = output.suffix.lower().removeprefix(".") if output else ""
    return Format(ending) if ending in set(Format) else Format.CSV


def _content(server: Server, campaign: int, chosen: Format) -> bytes:
    return server.read_bytes(f"campaigns/{campaign}/export", format=str(chosen)).content
