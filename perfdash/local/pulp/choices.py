"""The options of a start, and the resulting choices: ports, and what stays as it was."""

import socket
import time
from collections.abc import Collection
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path

from perfdash.local import ports
from perfdash.local.pulp.installation import Say
from perfdash.local.pulp.programs import API, CONTENT
from perfdash.local.pulp.state import Choices
from perfdash.local.supervisor import StartFailed

API_PORT, CONTENT_PORT = 24817, 24816
RELEASE_SECONDS = 5.0  # a killed process may hold its port while it is no longer listed


@dataclass(frozen=True, slots=True)
class Wishes:
    """Options of a start; None: as before."""

    port: int | None = None
    content_port: int | None = None
    workers: int | None = None
    rpm: bool | None = None
    fast_auth: bool | None = None
    core: str | None = None
    password_file: Path | None = None


def choose(before: Choices, wishes: Wishes, say: Say, *, running: Collection[str]) -> Choices:
    """Decide on everything; a process that is `running` has its port itself. Raise PortTaken."""
    with ExitStack() as held:  # both at once, so that they differ
        port = before.port
        if API not in running or wishes.port not in {None, port}:
            port = _hold(held, wishes.port, port, API_PORT, say)
        content = before.content_port
        if CONTENT not in running or wishes.content_port not in {None, content}:
            content = _hold(held, wishes.content_port, content, CONTENT_PORT, say)
    return Choices(
        port=port,
        content_port=content,
        workers=before.workers if wishes.workers is None else wishes.workers,
        rpm=before.rpm or bool(wishes.rpm),
        fast_auth=before.fast_auth if wishes.fast_auth is None else wishes.fast_auth,
        core=_core(before, wishes),
    )


def _core(before: Choices, wishes: Wishes) -> str:
    """Return the version of pulpcore. Raise StartFailed: a database that a newer one has migrated cannot go back."""
    if wishes.core is None or wishes.core == before.core:
        return before.core
    if before.port:
        raise StartFailed(
            f"This directory holds {before.core or 'the pinned version'} of pulpcore, and its database. Start "
            f"{wishes.core} with another --data; script/pulp switch keeps a directory for each version."
        )
    return wishes.core


def _hold(held: ExitStack, asked: int | None, before: int, usual: int, say: Say) -> int:
    """Reserve the requested port only, if there is one; else the previous, the default or a following one."""
    wanted = asked or before or usual
    used = _released(wanted) if wanted == before else ports.hold(wanted)
    if used is None and asked is not None:
        raise ports.PortTaken(f"Port {asked} is taken by {ports.holder(asked)}; name another.")
    if used is None:
        used = ports.hold_first(wanted)
        say(f"Port {wanted} is taken; it is {ports.number(used)} this time.")
    return ports.number(held.enter_context(used))


def _released(port: int) -> socket.socket | None:
    """Hold the port that this Pulp had before, when its killed process has let go of it."""
    end = time.monotonic() + RELEASE_SECONDS
    while not (used := ports.hold(port)) and time.monotonic() < end:
        time.sleep(0.05)
    return used
