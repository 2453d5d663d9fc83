"""What one call of the program knows: its options, its output, the server that is meant."""

import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import httpx
import typer

from perfdash_client import servers
from perfdash_client.connection import PATIENCE_SECONDS, Server
from perfdash_client.output import Output


@dataclass
class Session:
    """Commands get it from their context. `transport`: how tests reach a server in this process."""

    as_json: bool = False
    name: str = ""
    patience: float = PATIENCE_SECONDS
    transport: httpx.BaseTransport | None = None
    environment: Mapping[str, str] = field(default_factory=lambda: os.environ)

    @cached_property
    def out(self) -> Output:
        """The output of answers and messages."""
        return Output(as_json=self.as_json)

    @cached_property
    def server(self) -> Server:
        """The server of the current login. Raise BadUse without one."""
        return self.reach(servers.choose(self.environment, self.name))

    def reach(self, login: servers.Login, patience: float | None = None) -> Server:
        """Make the connection of a login."""
        return Server(
            login,
            self.out.say,
            patience=self.patience if patience is None else patience,
            transport=self.transport,
        )


def session_of(context: typer.Context) -> Session:
    """Give the session of a command."""
    session = context.find_root().obj
    if not isinstance(session, Session):
        raise TypeError("The program was not started by its own `main`.")
    return session


def _note_json(context: typer.Context, value: bool) -> bool:
    if value:
        session_of(context).as_json = True
    return value


Json = Annotated[
    bool,
    typer.Option(
        "--json",
        help="One JSON document on stdout, and nothing else there.",
        callback=_note_json,
        is_eager=True,
    ),
]
Campaign = Annotated[int, typer.Argument(metavar="ID", min=1, help="The campaign's number.")]
