"""The program `perfdash`: all commands, and the one place where errors become messages and exit codes."""

import os
import sys
from collections.abc import Sequence
from typing import Annotated

import httpx
import typer
from typer.exceptions import Abort, TyperException
from typer.exceptions import Exit as Ended

from perfdash_client import __version__
from perfdash_client.commands import account, campaigns, ci, exchange, exports, kinds, targets
from perfdash_client.connection import PATIENCE_SECONDS
from perfdash_client.errors import ClientError
from perfdash_client.exits import MEANINGS, Exit
from perfdash_client.session import Session, session_of

EXITS = "Exit codes: " + "; ".join(f"{code.value} {told}" for code, told in MEANINGS.items()) + "."

app = typer.Typer(
    name="perfdash",
    help="Benchmark campaigns of a perfdash: define, launch, watch, judge.",
    epilog=EXITS,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
account.add_to(app)
kinds.add_to(app)
app.add_typer(targets.app, name="target")
app.add_typer(campaigns.app, name="campaign")
app.add_typer(ci.app, name="ci")
exchange.add_to(app)
exports.add_to(app)


def _print_version(value: bool) -> None:
    if value:
        typer.echo(f"perfdash {__version__}")
        raise typer.Exit


@app.callback()
def options(
    context: typer.Context,
    server: Annotated[
        str,
        typer.Option(
            "--server",
            envvar="PERFDASH_SERVER",
            metavar="NAME",
            help="A stored login, by its name.",
        ),
    ] = "",
    patience: Annotated[
        float,
        typer.Option(
            envvar="PERFDASH_PATIENCE",
            min=0,
            max=86400,
            metavar="SECONDS",
            help="How long requests to a server that is busy or away are repeated.",
        ),
    ] = PATIENCE_SECONDS,
    _version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Note the options that hold for every command."""
    session = session_of(context)
    session.name, session.patience = server, patience


def main(arguments: Sequence[str], transport: httpx.BaseTransport | None = None) -> int:
    """Run one command; give its exit code."""
    session = Session(transport=transport)
    try:
        code = app(list(arguments), prog_name="perfdash", standalone_mode=False, obj=session)
        return int(code or Exit.OK)
    except ClientError as error:
        return _tell(session, error)
    except TyperException as error:
        return _tell_usage(session, error)
    except Ended as ended:
        return ended.exit_code
    except BrokenPipeError:  # `| head`: nobody reads on
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return Exit.OK
    except (KeyboardInterrupt, Abort):
        session.out.say("Interrupted.")
        return Exit.INTERRUPTED


def _tell(session: Session, error: ClientError) -> int:
    session.out.say(f"perfdash: {error}", "" if error.code == Exit.VERDICT else "red")
    if session.as_json and not session.out.given:
        session.out.give({"error": error.as_data()})
    return error.code


def _tell_usage(session: Session, error: TyperException) -> int:
    if not error.format_message():  # the help was shown, since no command was given
        return error.exit_code
    context = getattr(error, "ctx", None)
    path = context.command_path if context else "perfdash"
    session.out.say(f"perfdash: {error.format_message()} More: {path} --help", "red")
    return error.exit_code


def run() -> None:
    """Run as the program that was installed."""
    sys.exit(main(sys.argv[1:]))
