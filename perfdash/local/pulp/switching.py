"""Several versions of pulpcore in turn on the same ports: a directory of its own for each, one of which runs."""

from dataclasses import replace
from pathlib import Path

from perfdash.local.pulp import running
from perfdash.local.pulp.choices import Wishes
from perfdash.local.pulp.directory import PulpDirectory
from perfdash.local.pulp.installation import PASSWORD, Say
from perfdash.local.pulp.state import State
from perfdash.local.supervisor import StartFailed


def switch(home: Path, version: str, wishes: Wishes, say: Say) -> State:
    """Stop the version that runs in `home`, and start another one on its ports, with its password.

    Where that one cannot be installed or started, the one of before is started again. Raise StartFailed.
    """
    before = _running(home, version)
    if before is not None:
        was = State.load(before.state, before.path)
        wishes = replace(
            wishes,
            port=wishes.port or was.choices.port,
            content_port=wishes.content_port or was.choices.content_port,
            workers=wishes.workers or was.choices.workers,
            rpm=wishes.rpm or was.choices.rpm,
            fast_auth=was.choices.fast_auth if wishes.fast_auth is None else wishes.fast_auth,
            password_file=wishes.password_file or before.path / "secrets" / PASSWORD,
        )
        before.lock()
        running.stop(before, say)
    is_new = not (home / version / PulpDirectory.marker).exists()
    directory = PulpDirectory(home / version)
    directory.lock()
    try:
        return running.start(directory, replace(wishes, core=version), say)
    except StartFailed as error:
        running.stop(directory, say)
        if is_new:
            directory.delete()
        if before is None:
            raise
        running.start(before, Wishes(), say)
        raise StartFailed(f"{error}\npulpcore {before.path.name} was started again.") from None


def _running(home: Path, version: str) -> PulpDirectory | None:
    """Return the directory of the other version that was started last and not stopped."""
    for marker in sorted(home.glob(f"*/{PulpDirectory.marker}")):
        directory = PulpDirectory.existing(marker.parent)
        if marker.parent.name != version and State.load(directory.state, directory.path).services:
            return directory
    return None
