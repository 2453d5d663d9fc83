"""The programs in the database, as kinds. The drivers themselves use no database."""

import re
from collections.abc import Callable, Iterable, Sequence

from django.db.models import Q, QuerySet

from campaigns.kinds.base import Driver
from campaigns.kinds.program.definition import stored_definition
from campaigns.kinds.program.driver import Program as ProgramDriver
from campaigns.kinds.program.driver import driver_for
from campaigns.kit import encryption
from campaigns.models import Program

MOST_CACHED = 500
RUNS = (Program.State.PUBLISHED, Program.State.SUPERSEDED)
"""States of versions that campaigns may run: those that began with a superseded one go on with it."""
NAMED = re.compile(r"[a-z][a-z0-9-]*\Z", re.ASCII)
"""The letters of names and versions; no other text is asked for in the database."""
VERSION = "[a-z][a-z0-9-]*-[0-9a-f]{8}"
_drivers: dict[str, ProgramDriver] = {}


def is_version(kind: str) -> bool:
    """Return whether a kind looks like a version of a program; no kind of perfdash's own does. Asks no database."""
    return re.fullmatch(VERSION, kind) is not None


def in_use(teams: Iterable[int] | None = None, chosen: str = "") -> QuerySet[Program]:
    """Return the versions that new campaigns may choose; teams: of these alone. chosen: a superseded one besides."""
    wanted = Q(state=Program.State.PUBLISHED)
    if chosen:
        wanted |= Q(kind=chosen, state=Program.State.SUPERSEDED)
    rows = Program.objects.filter(wanted)
    return rows if teams is None else rows.filter(team__in=list(teams))


def not_drafts(teams: Iterable[int]) -> QuerySet[Program]:
    """Return the versions of teams that campaigns may have."""
    return Program.objects.filter(team__in=list(teams)).exclude(state=Program.State.DRAFT)


def label_of_row(row: Program) -> str:
    """Return how people call a version."""
    label = row.definition.get("label") or row.name
    return label if row.state == Program.State.PUBLISHED else f"{label}, version {row.version}"


def program_of(kind: str) -> Program | None:
    """Return the version of a kind, or the newest one in use of a name; None where there is none."""
    if not NAMED.match(kind):
        return None
    wanted = Q(kind=kind) | Q(name=kind, state=Program.State.PUBLISHED)
    return Program.objects.filter(wanted).first()


def why_not_run(kind: str) -> str:
    """Return why no run of a kind may begin; empty where it may, or is no program."""
    if not is_version(kind):
        return ""
    row = Program.objects.filter(kind=kind).exclude(state__in=RUNS).first()
    if row is None:
        return ""
    return f"The program “{row}” is retired. Choose another version."


def stored_driver(kind: str, families: Callable[[], Sequence[str]]) -> Driver | None:
    """Return the driver of a version or a name; None where there is none. families: of servers, where it names none."""
    if kind in _drivers:
        return _drivers[kind]
    row = program_of(kind)
    return None if row is None else driver_of_row(row, families())


def driver_of_row(row: Program, families: Sequence[str]) -> ProgramDriver:
    """Return the driver of a version. It is cached by its kind, which is the hash of its definition."""
    key = row.kind
    if key is not None and key in _drivers:
        return _drivers[key]
    driver = driver_for(stored_definition(row.definition), families)
    if key is not None:
        if len(_drivers) >= MOST_CACHED:
            _drivers.clear()
        _drivers[key] = driver
    return driver


def secrets_of_kind(kind: str) -> dict[str, str]:
    """Return the decrypted secrets of a kind by name; none of a kind that is no program. Raise SecretUnreadable."""
    row = Program.objects.filter(kind=kind).first() if is_version(kind) else None
    return {} if row is None else secrets_of(row)


def secrets_of(row: Program) -> dict[str, str]:
    """Return the decrypted secrets of a version. Raise SecretUnreadable."""
    return {name: encryption.decrypt(text) for name, text in row.secrets.items() if text}
