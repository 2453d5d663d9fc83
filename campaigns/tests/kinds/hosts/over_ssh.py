"""What a smart proxy in the mode ssh does on a host, with OpenSSH's own client: one connection, and a program for each step."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

SSH = shutil.which("ssh")
SECONDS = 60.0


def new_key(place: Path, name: str = "id_proxy", kind: str = "ed25519") -> Path:
    """Make a key by ssh-keygen, and return the file of its private half."""
    path = place / name
    command = ["ssh-keygen", "-q", "-t", kind, "-N", "", "-C", "foreman-proxy", "-f", str(path)]
    subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    return path


def public(key: Path) -> str:
    return Path(f"{key}.pub").read_text()


@dataclass
class Done:
    """How a program ended."""

    status: int
    output: str
    errors: str


class Connection:
    """A connection that all steps share."""

    def __init__(self, place: Path, key: Path, port: int) -> None:
        self.socket = place / f"s{port}"
        self.port = port
        self._options = [
            *("-F", "none", "-o", "User=root", "-o", f"Port={port}", "-o", f"IdentityFile={key}"),
            *("-o", "IdentitiesOnly=yes", "-o", "StrictHostKeyChecking=accept-new"),
            *("-o", f"UserKnownHostsFile={place / 'known_hosts'}", "-o", "LogLevel=error"),
            *("-o", "ControlMaster=auto", "-o", f"ControlPath={self.socket}"),
            *("-o", "ControlPersist=yes", "-o", "ServerAliveInterval=15"),
            *("-o", "PreferredAuthentications=publickey", "-o", "NumberOfPasswordPrompts=0"),
        ]

    def establish(self) -> Done:
        """Log in; a program stays in the background that has the connection."""
        errors = self.socket.with_suffix(".errors")
        with errors.open("wb") as file:  # the one in the background has it as long as it lives
            done = subprocess.run(
                [str(SSH), *self._options, "127.0.0.1", "true"],
                stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=file, timeout=SECONDS,
            )  # fmt: skip
        return Done(done.returncode, "", errors.read_text())

    def run(self, command: str, stdin: str | None = None, terminal: bool = False) -> Done:
        """Run a command to its end."""
        data = None if stdin is None else f"{stdin.removesuffix(chr(10))}\n"
        done = subprocess.run(
            self.command(command, terminal=terminal), input=(data or "").encode(), capture_output=True, timeout=SECONDS
        )  # fmt: skip
        return Done(done.returncode, done.stdout.decode(), done.stderr.decode())

    def command(self, *command: str, terminal: bool = False) -> list[str]:
        """Return what runs a command on the connection."""
        flags = ["-tt"] if terminal else []
        options = ["-F", "none", "-o", f"ControlPath={self.socket}", "-o", "LogLevel=quiet"]
        return [str(SSH), *options, "127.0.0.1", *flags, *command]

    def leave(self) -> None:
        """End the connection."""
        subprocess.run(
            self.command("-O", "exit"), stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS
        )  # fmt: skip


@contextmanager
def connected(place: Path, key: Path, port: int) -> Iterator[Connection]:
    """A connection until the block is left."""
    connection = Connection(place, key, port)
    try:
        done = connection.establish()
        assert done.status == 0, done.errors
        yield connection
    finally:
        connection.leave()


def directory_of(job: str) -> str:
    return f"/var/tmp/foreman-ssh-cmd-{job}"  # noqa: S108 - of no machine


def upload(connection: Connection, path: str, data: str, mode: str = "500") -> None:
    """Take a file to the host, in two steps."""
    assert connection.run(f"mkdir -p {path.rpartition('/')[0]}").status == 0
    done = connection.run(f"tee {path} >/dev/null && chmod {mode} {path}", stdin=data)
    assert done.status == 0


def prepare(connection: Connection, job: str, script: str, user: str = "") -> str:
    """Do what comes before the script's run; return the command that runs it. user: as whom it runs, where it is not root."""
    place = directory_of(job)
    upload(connection, f"{place}/script", "#!/bin/sh\nexec true")
    assert connection.run(f"{place}/script").status == 0
    if user:
        assert connection.run(f"setfacl -m u:{user}:rx {place}/script").status == 0
        sudo = f"sudo -p 'rex login: ' -u {user}  {place}/script"
        assert connection.run(sudo, terminal=True).status == 0
    assert connection.run(f"rm {place}/script").status == 0
    upload(connection, f"{place}/script", script)
    upload(connection, f"{place}/script-wrapper", "echo the wrapper")
    if user:
        rights = f"setfacl -m u:{user}:rx {place}/script-wrapper {place}/script"
        assert connection.run(rights).status == 0
    upload(connection, f"{place}/output", "", "600")
    return f"{place}/script-wrapper"


def job_on(place: Path, key: Path, port: int, job: str, script: str, user: str = "") -> Done:
    """Do all steps of a job on a host, and return how its script ended."""
    with connected(place, key, port) as connection:
        done = connection.run(prepare(connection, job, script, user), terminal=True)
        assert connection.run(f"rm -rf {directory_of(job)}").status == 0
        return done
