"""How the simulator behaves; a test changes it, at the start or while it runs."""

import re
from dataclasses import dataclass, field, fields, replace
from typing import Any, Self

from sandbox.pulp.names import VERSION

_PLUGIN = re.compile(r"[a-z_]+/[a-z_-]+")


CORES = {"3.105.0": 0.3, VERSION: 0.0}
"""Versions that it can be, and by how many seconds each of their tasks is slower: builds to compare."""
MOST_CPUS = 256


class BadBehaviour(ValueError):
    """A setting that does not exist, or with a value that it cannot have."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Behaviour:
    """Settings, each with the value of a fresh Pulp that is in order."""

    user: str = "admin"
    password: str = field(default="password", repr=False)
    core: str = VERSION  # the version that it says it is, one of CORES
    plugins: tuple[str, ...] = ("file/file", "rpm/rpm")  # as in the REST paths
    workers: int = 1
    answer_seconds: float = 0.0  # before each answer
    commit_seconds: float = 0.0  # until a POST has its effect, also if its connection was closed
    start_seconds: float = 0.0  # from when a task could run until it does
    task_seconds: float = 0.0  # of each task of a worker, beside its work
    cpus: int = 0  # of its machine; with 0, none are modelled
    file_cpu_seconds: float = 0.0  # that each downloaded file takes of one of them
    content_cpu_seconds: float = (
        0.0  # that a request for content takes of one; a cold one takes twice as much
    )
    cancel_seconds: float = 0.1
    retry_seconds: float = (
        1.0  # the longest wait before the first retry of a download; then it doubles
    )
    session_seconds: float = 1_209_600.0
    heartbeat_seconds: float = 30.0  # how long a killed worker counts as online
    orphan_protection_minutes: int = 1440
    may_write: bool = True  # without it, the account may only read
    unavailable: bool = False  # 503, as a proxy answers whose Pulp is away
    database: bool = True  # without it, every answer is a 500
    clock_offset_seconds: float = 0.0
    storage_total: int = 100 * 2**30

    @classmethod
    def of(cls, document: object) -> Self:
        """Read settings from decoded JSON. Raise BadBehaviour, naming the one that is wrong."""
        return cls().changed(document)

    def changed(self, document: object) -> Self:
        """Give these settings with others in their place. Raise BadBehaviour like `of`."""
        if not isinstance(document, dict):
            raise BadBehaviour(f"settings are a JSON object, not {document!r}")
        known = {setting.name: getattr(self, setting.name) for setting in fields(self)}
        if unknown := document.keys() - known.keys():
            raise BadBehaviour(f"no such setting: {min(unknown)}; there are {', '.join(known)}")
        checked: dict[str, Any] = {
            name: _checked(name, value, known[name]) for name, value in document.items()
        }
        if (core := checked.get("core", self.core)) not in CORES:
            raise BadBehaviour(f"core: {core} cannot be installed; there are {', '.join(CORES)}")
        if checked.get("cpus", 0) > MOST_CPUS:
            raise BadBehaviour(f"cpus: at most {MOST_CPUS}, not {checked['cpus']}")
        return replace(self, **checked)

    def document(self) -> dict[str, Any]:
        """Give the settings for JSON, without the password."""
        names = (setting.name for setting in fields(self) if setting.name != "password")
        return {name: getattr(self, name) for name in names}


def _checked(name: str, value: Any, now: object) -> object:
    if isinstance(now, tuple):
        if isinstance(value, list) and all(
            isinstance(plugin, str) and _PLUGIN.fullmatch(plugin) for plugin in value
        ):
            return tuple(value)
        raise BadBehaviour(f'{name}: a list of REST names such as "file/file", not {value!r}')
    if isinstance(now, bool | str):
        if type(value) is type(now):
            return value
    elif isinstance(value, int | float) and not isinstance(value, bool):
        whole = isinstance(now, int)
        if (value >= 0 or name == "clock_offset_seconds") and (not whole or value == int(value)):
            return int(value) if whole else float(value)
    kinds = {bool: "true or false", str: "a text", int: "a whole number from 0", float: "a number"}
    raise BadBehaviour(f"{name}: {kinds[type(now)]}, not {value!r}")
