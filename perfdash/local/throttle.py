"""The command of script/throttle: a PostgreSQL behind an HAProxy whose `maxconn` can be set, as a target.

docs/how-to/throttling.md describes the study that it is for. PostgreSQL is that of perfdash's own wheel; HAProxy, socat and
sshd are Debian's. All of them listen on loopback and end with this process. The target is made in the perfdash that runs with
`--perfdash`.
"""

import argparse
import getpass
import json
import os
import shutil
import socket
import subprocess
import sys
from functools import partial
from pathlib import Path

import psycopg
from psycopg import sql

from perfdash.local import ownership, ports, postgres, private, running
from perfdash.local.directory import AlreadyRunning, DataDirectory, DirectoryRefused
from perfdash.local.journal import Journal
from perfdash.local.ports import HOST, PortTaken
from perfdash.local.process import Service
from perfdash.local.services import ROOT
from perfdash.local.supervisor import StartFailed, Stopped, Supervisor

DEFAULT = ROOT / ".perfdash-throttle"
PLACES = "/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin"
PACKAGES = {
    "haproxy": "haproxy",
    "socat": "socat",
    "sshd": "openssh-server",
    "ssh-keygen": "openssh-client",
}
LOGIN, LOGIN_SECRET = "bench", "bench_password"
"""The user of the target, and the secret that is its password."""
FIRST_PORTS = (5478, 5479, 5480)
"""Of HAProxy, PostgreSQL and sshd, or the next free ones."""
SETTINGS = ("listen_addresses=127.0.0.1", "max_connections=150", "shared_buffers=128MB")
HAPROXY = """global
    stats socket "{socket}" mode 600 level admin
defaults
    mode tcp
    timeout connect 10s
    timeout client 1m
    timeout server 1m
listen psql
    bind 127.0.0.1:{port}
    server pg1 127.0.0.1:{behind}
"""
SSHD = """Port {port}
ListenAddress 127.0.0.1
HostKey "{keys}/host"
AuthorizedKeysFile "{keys}/user.pub"
PidFile none
StrictModes no
UsePAM no
LogLevel ERROR
PasswordAuthentication no
PermitRootLogin prohibit-password
PermitTTY no
AllowTcpForwarding no
X11Forwarding no
"""


class ProgramMissing(Exception):
    """A program of Debian is not installed; the message says which package to install."""


EXPECTED = (AlreadyRunning, DirectoryRefused, PortTaken, ProgramMissing, StartFailed, postgres.ClusterFailed)  # fmt: skip


class ThrottleDirectory(DataDirectory):
    """The directory of the database, with the configurations and the keys of SSH."""

    marker = ".perfdash-throttle"
    maker = "script/throttle"
    parts = ("secrets", "log", "run", "ssh")


def main(arguments: list[str]) -> int:
    """Run it until a stop is requested; return the exit code."""
    options = _parser().parse_args(arguments)
    try:
        programs = found_programs()
        directory = ThrottleDirectory(options.data)
        directory.lock()
        return serve(directory, programs, options.perfdash)
    except KeyboardInterrupt:
        return 130
    except EXPECTED as error:
        sys.stderr.write(f"{error}\n")
        return 1


def found_programs() -> dict[str, str]:
    """Return the paths of Debian's programs by name. Raise ProgramMissing."""
    found = {name: shutil.which(name, path=PLACES) for name in PACKAGES}
    if missing := [PACKAGES[name] for name, path in found.items() if path is None]:
        raise ProgramMissing(f"Install what is missing: apt-get install {' '.join(missing)}")
    return {name: path for name, path in found.items() if path is not None}


def serve(directory: ThrottleDirectory, programs: dict[str, str], perfdash: Path | None) -> int:
    """Start all services, make the target, and keep them running. Raise StartFailed."""
    journal = Journal(directory.log, sys.stdout)
    for line in ownership.claim(directory):
        journal.say(line)
    held = ports.hold_again(directory.path / "ports.json", FIRST_PORTS)
    port, behind, ssh_port = map(ports.number, held)
    supervisor = Supervisor(journal)
    try:
        for each in held:
            each.close()
        supervisor.start(
            [
                postgres.service(directory, (*SETTINGS, f"port={behind}")),
                haproxy(directory, programs, port, behind),
                sshd(directory, programs, ssh_port),
            ]
        )
        supervisor.wait_until_ready()
        make_login(directory, behind)
        target = _written(directory, port, ssh_port)
        journal.say(f"PostgreSQL at {HOST}:{behind}, behind HAProxy at {HOST}:{port}.")
        if perfdash is not None:
            command = ["prepare", "--throttled-database", str(target)]
            if code := running.manage(DataDirectory.existing(perfdash), command, sys.stderr):
                return code
        journal.say("Ctrl-C stops it.")
        supervisor.watch()
    except Stopped:
        journal.say("Stopped before everything was up.")
    finally:
        supervisor.stop()
    return 0


def make_login(directory: DataDirectory, port: int) -> None:
    """Make the login of the target, where it is missing: scripts of campaigns have its rights, so it is no superuser."""
    name, password = sql.Identifier(LOGIN), sql.Literal(directory.secret(LOGIN_SECRET))
    with psycopg.connect(
        host=HOST,
        port=port,
        user=postgres.NAME,
        password=directory.secret("database_password"),
        dbname=postgres.NAME,
        autocommit=True,
    ) as connection:
        if connection.execute("SELECT FROM pg_roles WHERE rolname = %s", [LOGIN]).fetchone():
            return
        # A superuser may have made it before: then only that one could drop it.
        connection.execute("DROP SCHEMA IF EXISTS perfdash_bench CASCADE")
        connection.execute(sql.SQL("CREATE ROLE {} LOGIN PASSWORD {}").format(name, password))
        database = sql.Identifier(postgres.NAME)
        connection.execute(sql.SQL("GRANT CREATE ON DATABASE {} TO {}").format(database, name))
        connection.execute(sql.SQL("GRANT pg_monitor, pg_checkpoint TO {}").format(name))
        connection.execute(sql.SQL("GRANT EXECUTE ON FUNCTION pg_stat_reset() TO {}").format(name))


def haproxy(directory: DataDirectory, programs: dict[str, str], port: int, behind: int) -> Service:
    """Describe HAProxy, whose runtime socket sets and tells `maxconn` of the server psql/pg1."""
    configuration = directory.path / "haproxy.cfg"
    configuration.write_text(
        HAPROXY.format(socket=socket_of(directory), port=port, behind=behind), encoding="ascii"
    )
    return Service(
        name="haproxy",
        command=(programs["haproxy"], "-db", "-f", str(configuration)),
        environment={"PATH": os.defpath},
        stage=1,
        ready=partial(_listens, port),
    )


def socket_of(directory: DataDirectory) -> Path:
    """Return the place of HAProxy's runtime socket."""
    return directory.run / "haproxy.sock"


def sshd(directory: DataDirectory, programs: dict[str, str], port: int) -> Service:
    """Describe an sshd that lets in this user with the key that is made for it."""
    keys = directory.path / "ssh"
    for name in ("host", "user"):
        if not (keys / name).exists():
            command = [programs["ssh-keygen"], "-q", "-t", "ed25519", "-N", "", "-C", "perfdash", "-f", str(keys / name)]  # fmt: skip
            subprocess.run(command, check=True, stdin=subprocess.DEVNULL)
    if os.geteuid() == 0:
        Path("/run/sshd").mkdir(mode=0o755, exist_ok=True)  # its privilege separation wants it
    configuration = keys / "sshd_config"
    configuration.write_text(SSHD.format(port=port, keys=keys), encoding="utf-8")
    return Service(
        name="sshd",
        command=(programs["sshd"], "-D", "-e", "-f", str(configuration)),
        environment={"PATH": os.defpath},
        stage=1,
        ready=partial(_listens, port),
    )


def _written(directory: DataDirectory, port: int, ssh_port: int) -> Path:
    """Write down for `manage.py prepare` what the target is to be; return the file."""
    keys = directory.path / "ssh"
    target = {
        "base_url": f"postgresql://{HOST}:{port}/{postgres.NAME}",
        "username": LOGIN,
        "password": directory.secret(LOGIN_SECRET),
        "socket": str(socket_of(directory)),
        "ssh": {
            "host": HOST,
            "port": ssh_port,
            "username": getpass.getuser(),
            "key": (keys / "user").read_text(encoding="ascii"),
            "host_key": " ".join((keys / "host.pub").read_text(encoding="ascii").split()[:2]),
        },
    }
    path = directory.path / "run" / "target.json"
    private.replace(path, json.dumps(target).encode())
    return path


def _listens(port: int, _: int) -> bool:
    with socket.socket() as tried:
        return tried.connect_ex((HOST, port)) == 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="script/throttle",
        description="Starts a PostgreSQL behind an HAProxy whose maxconn can be set, and makes them a target of a running"
        " perfdash. Ctrl-C stops it.",
    )
    parser.add_argument(
        "--data", type=Path, default=DEFAULT, help="directory of its data (default: %(default)s)"
    )
    parser.add_argument(
        "--perfdash",
        type=Path,
        metavar="DIR",
        default=ROOT / ".perfdash",
        help="data directory of the perfdash that gets the target (default: %(default)s)",
    )
    parser.add_argument(
        "--no-target",
        dest="perfdash",
        action="store_const",
        const=None,
        help="make no target; run/target.json in the data directory describes it",
    )
    return parser


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
