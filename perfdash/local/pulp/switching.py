"""Several versions of pulpcore in turn on the same ports: a directory of its own for each, one of which runs."""

from dataclasses import replace
from pathlib import Path

from perfdash.local.directory import DirectoryRefused
from perfdash.local.ports import PortTaken
from perfdash.local.postgres import ClusterFailed
from perfdash.local.pulp import installation, running
from perfdash.local.pulp.choices import Wishes
from perfdash.local.pulp.directory import PulpDirectory
from perfdash.local.pulp.installation import PASSWORD, Say
from perfdash.local.pulp.state import Choices, State
from perfdash.local.supervisor import StartFailed

FAILURES = (ClusterFailed, DirectoryRefused, OSError, PortTaken, StartFailed)


def switch(home: Path, version: str, wishes: Wishes, say: Say) -> State:
    """Install a version, stop the one that runs in `home`, and start the new one on its ports, with its password.

    What cannot be installed disturbs nothing; where the new version cannot be started, the one of before is started
    again. Nobody else may switch in `home` meanwhile. Raise StartFailed.
    """
    before, has_run = _before(home, version)
    if before is not None:
        wishes = _as_before(before, wishes)
        before.lock()
    is_new = not (home / version / PulpDirectory.marker).exists()
    directory = PulpDirectory(home / version)
    directory.lock()
    is_stopped = False
    try:
        rpm = bool(wishes.rpm) or _state(directory).choices.rpm
        installation.install(directory, say, Choices(core=version, rpm=rpm))
        if before is not None:
            is_stopped = True
            running.stop(before, say)
        return running.start(directory, replace(wishes, core=version), say)
    except FAILURES as error:
        if is_stopped:
            running.stop(directory, say)
        if is_new:
            directory.delete()
        if before is None or not has_run:
            raise
        goes_on = f"pulpcore {before.path.name} goes on."
        raise StartFailed(f"{error}\n{_put_back(before, say) if is_stopped else goes_on}") from None


def _before(home: Path, version: str) -> tuple[PulpDirectory | None, bool]:
    """Return the directory of the other version that was started last, and whether it was not stopped since.

    One that was stopped, as by a switch that was killed in its middle, still tells ports and password.
    """
    found = [
        directory
        for marker in home.glob(f"*/{PulpDirectory.marker}")
        if marker.parent.name != version
        and (directory := PulpDirectory.existing(marker.parent)).state.exists()
    ]
    runs = {each.path: bool(_state(each).services) for each in found}
    found.sort(key=lambda each: (runs[each.path], each.state.stat().st_mtime))
    return (found[-1], runs[found[-1].path]) if found else (None, False)


def _as_before(before: PulpDirectory, wishes: Wishes) -> Wishes:
    was = _state(before).choices
    return replace(
        wishes,
        port=wishes.port or was.port,
        content_port=wishes.content_port or was.content_port,
        workers=wishes.workers or was.workers,
        rpm=wishes.rpm or was.rpm,
        fast_auth=was.fast_auth if wishes.fast_auth is None else wishes.fast_auth,
        password_file=wishes.password_file or before.path / "secrets" / PASSWORD,
    )


def _put_back(before: PulpDirectory, say: Say) -> str:
    """Start the version of before again, and return a sentence on how that ended."""
    name = before.path.name
    try:
        running.start(before, Wishes(), say)
    except FAILURES as error:
        return f"pulpcore {name} could not be started again either; no version runs: {error}"
    return f"pulpcore {name} was started again."


def _state(directory: PulpDirectory) -> State:
    return State.load(directory.state, directory.path)
