"""Tells how a Pulp is. Changes nothing."""

import json
from dataclasses import asdict, dataclass
from typing import Any, TextIO

import psutil

from perfdash.local import postgres, stale
from perfdash.local.pulp import processes
from perfdash.local.pulp.directory import PulpDirectory
from perfdash.local.pulp.programs import API, DATABASE
from perfdash.local.pulp.readiness import missing, online
from perfdash.local.pulp.state import State

READY, NOT_READY = 0, 3


@dataclass(frozen=True, slots=True)
class Status:
    """The state of Pulp; `lack`: what keeps it from being ready. Sizes in bytes."""

    ready: bool
    lack: str
    base_url: str
    content_url: str
    user: str
    state_file: str
    versions: dict[str, str]
    processes: dict[str, dict[str, Any]]


def report(directory: PulpDirectory, out: TextIO, *, as_json: bool) -> int:
    """Write the status and give the exit code: 0 where Pulp is ready, 3 where it is not."""
    status = look(directory)
    out.write(json.dumps(asdict(status), indent=1) + "\n" if as_json else _text(status))
    return READY if status.ready else NOT_READY


def look(directory: PulpDirectory) -> Status:
    """Find out everything."""
    state = State.load(directory.state, directory.path)
    mark = str(directory.path)
    result = processes.leaders(mark)
    if server := stale.server_of(postgres.cluster_of(directory)):
        result[DATABASE] = server
    answer = online(state.base_url) if state.base_url and result else None
    gone = [name for name in state.services if name not in result]
    if not result:
        lack = "it does not run"
    elif gone:
        lack = f"{' and '.join(gone)} ended; script/pulp start brings everything back"
    else:
        lack = missing(answer, processes.names(mark), set(state.services) - {API, DATABASE})
    return Status(
        ready=not lack,
        lack=lack,
        base_url=state.base_url,
        content_url=state.content_url,
        user=state.user,
        state_file=str(directory.state),
        versions={
            part["component"]: part["version"] for part in (answer or {}).get("versions", [])
        },
        processes={name: _figures(process) for name, process in sorted(result.items())},
    )


def _figures(process: psutil.Process) -> dict[str, Any]:
    try:
        return {"pid": process.pid, "memory": process.memory_info().rss}
    except psutil.Error:
        return {"pid": process.pid, "memory": 0}


def _text(status: Status) -> str:
    lines = ["Pulp is ready." if status.ready else f"Pulp is not ready: {status.lack}."]
    if status.processes:
        lines += [
            f"  {'URL':<10}{status.base_url}",
            f"  {'content':<10}{status.content_url}/pulp/content/",
            f"  {'user':<10}{status.user}; the password is in {status.state_file}",
        ]
        if status.versions:
            parts = ", ".join(f"{name} {number}" for name, number in status.versions.items())
            lines.append(f"  {'versions':<10}{parts}")
    for name, figures in status.processes.items():
        lines.append(f"  {name:<10}process {figures['pid']}, {figures['memory'] / 1e6:.0f} MB")
    return "\n".join(lines) + "\n"
