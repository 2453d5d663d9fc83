"""Known cases: a machine with one limit that somebody made, and what the rule has to say of it. MONITORING.md 9.

Each is made with Debian's packages, watched by the real sources, and judged as a run is. The figures want a machine that
does nothing else: on a busy one the CPU binds as well.
"""

import getpass
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch
from urllib.request import urlopen

import psycopg

from campaigns.kit import kernel
from campaigns.kit.network import parse_rules
from campaigns.kit.ssh.access import SshAccess
from campaigns.results.watched import watched_run
from campaigns.stats.binding import Bound, Resource, RunBinding, RunWord, in_front
from campaigns.targets.watches.base import Access, Source
from campaigns.targets.watches.collect import Collecting
from campaigns.targets.watches.groups import default_groups
from campaigns.targets.watches.sources import haproxy, postgresql, puma, ssh
from campaigns.tests.kinds.sql import servers
from campaigns.tests.ports import free_port
from campaigns.tests.targets import ssh_server

SECONDS, SETTLING, STEP = 6.0, 1.5, 0.5
"""How long each case is watched, how long it goes on before, and the seconds between two samples."""
LOOPBACK = parse_rules("127.0.0.1:*")
CORES = os.cpu_count() or 1
TOKEN = "control-token"  # noqa: S105
LOOP = "while True: pass"
LIGHT = "import time\nwhile True:\n t = time.perf_counter()\n while time.perf_counter() < t + 0.02: pass\n time.sleep(0.08)"
"""A service that uses a fifth of a core."""
UPDATE = "BEGIN;\nUPDATE one SET n = n + 1;\n\\sleep 5 ms\nEND;\n"
"""A client that holds the row for a moment: what waits is the next client, not a processor."""
WALK = """
import mmap, os, sys
size = int(sys.argv[2])
with open(sys.argv[3], "w") as procs:
    procs.write(str(os.getpid()))
with open(sys.argv[1], "r+b") as file:
    whole = mmap.mmap(file.fileno(), size)
    while True:
        for place in range(0, size, 4096):
            whole[place]
"""
SLEEPING = 'run lambda { |env| sleep 0.05; [200, {"Content-Type" => "text/plain"}, ["ok"]] }\n'
WORKING = """run lambda { |env|
  ends = Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) + 0.05
  nil while Process.clock_gettime(Process::CLOCK_THREAD_CPUTIME_ID) < ends
  [200, {"Content-Type" => "text/plain"}, ["ok"]]
}
"""
HAPROXY = """
global
    maxconn 4096
    stats socket 127.0.0.1:{runtime} level user
defaults
    mode http
    timeout connect 5s
    timeout client 60s
    timeout server 60s
    timeout queue 10s
listen web
    bind 127.0.0.1:{port}
    server one 127.0.0.1:{behind} maxconn 3
"""
CGROUPS = (Path("/sys/fs/cgroup/unified"), Path("/sys/fs/cgroup"))

Watches = list[tuple[Source, Access]]


class CannotBeMade(Exception):
    """This machine lacks what the case needs; the message says what."""


@dataclass(frozen=True)
class Case:
    """A known case. make: sets it up, and yields the watches that it needs besides SSH. says: whether a judgement is right."""

    make: Callable[[Path], "Iterator[Watches]"]
    says: Callable[[RunBinding], bool]
    must_say: str


def observe(case: Case, place: Path) -> RunBinding:
    """Set up a case, watch it, and return the judgement. Raise CannotBeMade."""
    if not ssh_server.SSHD:
        raise CannotBeMade("sshd is not installed (openssh-server)")
    with ExitStack() as stack:
        (place / "sshd").mkdir()
        machine = stack.enter_context(ssh_server.openssh(place / "sshd"))
        # Nobody's load generator: what this process starts is the target.
        stack.enter_context(patch.object(ssh, "_worker", lambda: (0, "", "")))
        groups = default_groups("postgresql")
        access = Access(
            f"127.0.0.1:{machine.port}",
            LOOPBACK,
            step_seconds=STEP,
            ssh=SshAccess(
                host="127.0.0.1",
                port=machine.port,
                username=machine.username,
                key=machine.key,
                password="",
                host_key=machine.host_key,
            ),
            groups=groups,
        )
        more = stack.enter_context(contextmanager(case.make)(place))
        collecting = Collecting([(ssh.source, access), *more])
        collecting.start()
        ends = time.monotonic() + 10
        while collecting.awaited() and time.monotonic() < ends:
            time.sleep(0.05)
        time.sleep(SETTLING)
        zero = time.monotonic()
        time.sleep(SECONDS)
        seconds = time.monotonic() - zero
        wall = datetime.now(UTC).timestamp() - time.monotonic()
        run = watched_run(collecting.finish(), zero, seconds, wall)
    assert run.binding is not None
    if run.binding.missing:
        raise CannotBeMade("; ".join(f"{each.source}: {each.reason}" for each in run.sources))
    return run.binding


@contextmanager
def program(
    *command: str, cwd: Path | None = None, **options: object
) -> Iterator[subprocess.Popen[bytes]]:
    """Run a program until the end."""
    process = subprocess.Popen(
        command,
        cwd=cwd,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
        preexec_fn=partial(kernel.die_with_parent, os.getpid(), signal.SIGKILL),
        **options,  # type: ignore[call-overload]
    )
    try:
        yield process
    finally:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait(10)


def needed(name: str, package: str) -> str:
    """Return the path of a program. Raise CannotBeMade."""
    found = servers.program(name)
    if not found:
        raise CannotBeMade(f"{name} is not installed ({package})")
    return found


@contextmanager
def programs(commands: Sequence[Sequence[str]]) -> Iterator[None]:
    """Run several programs."""
    with ExitStack() as stack:
        for command in commands:
            stack.enter_context(program(*command))
        yield


def idle(place: Path) -> Iterator[Watches]:
    """Make nothing."""
    yield []


def cpu(place: Path) -> Iterator[Watches]:
    """Run twice as many busy loops as there are cores."""
    with programs([(sys.executable, "-c", LOOP)] * 2 * CORES):
        yield []


def one_core(place: Path) -> Iterator[Watches]:
    """Run one busy loop, pinned."""
    if CORES < 2:
        raise CannotBeMade("it takes two cores")
    with programs([(needed("taskset", "util-linux"), "-c", "0", sys.executable, "-c", LOOP)]):
        yield []


def niced(place: Path) -> Iterator[Watches]:
    """Run niced loops on all cores beside a light service."""
    nice = (needed("nice", "coreutils"), "-n", "19", sys.executable, "-c", LOOP)
    with programs([nice] * CORES + [(sys.executable, "-c", LIGHT)]):
        yield []


def reads(place: Path) -> Iterator[Watches]:
    """Read at random places of a file, past the cache, in blocks for which a disk takes longer than a core."""
    with _fio(place, "randread", "256k", 8):
        yield []


@contextmanager
def _fio(place: Path, way: str, block: str, jobs: int) -> Iterator[None]:
    """Keep the disk busy with so many programs that each do one request after the other."""
    fio = needed("fio", "fio")
    file = (f"--filename={place}/data", "--size=512m")
    subprocess.run(
        (fio, "--name=lay", "--rw=write", "--bs=1m", "--end_fsync=1", *file),
        check=True,
        capture_output=True,
    )
    load = (
        "--thread",
        "--direct=1",
        f"--rw={way}",
        f"--bs={block}",
        f"--numjobs={jobs}",
        "--group_reporting",
    )
    with program(fio, "--name=load", "--time_based", "--runtime=60", *load, *file):
        yield


def _pgbench() -> str:
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/pgbench"))
    if not found:
        raise CannotBeMade("pgbench is not installed (postgresql)")
    return str(found[-1])


def _watch(database: servers.Database) -> Watches:
    access = Access(
        f"127.0.0.1:{database.port}/bench",
        LOOPBACK,
        step_seconds=1.0,
        username=servers.USER,
        password=database.password,
    )
    return [(postgresql.source, access)]


def _clients(database: servers.Database, *arguments: str) -> tuple[tuple[str, ...], dict[str, str]]:
    command = (
        _pgbench(),
        "-h",
        "127.0.0.1",
        "-p",
        str(database.port),
        "-U",
        servers.USER,
        *arguments,
        "bench",
    )
    return command, {**os.environ, "PGPASSWORD": database.password}


def commits(place: Path) -> Iterator[Watches]:
    """Commit small transactions of 8 clients, who touch no row of one another, to a disk that others keep busy."""
    with servers.database(place, "fsync=on", "synchronous_commit=on") as database:
        made, environment = _clients(database, "-i", "-q", "-s", "20")
        subprocess.run(made, env=environment, check=True, capture_output=True)
        command, environment = _clients(
            database, "-b", "simple-update", "-c", "8", "-j", "2", "-T", "60"
        )
        with _fio(place, "write", "1m", 8), program(*command, env=environment):
            yield _watch(database)


def locks(place: Path) -> Iterator[Watches]:
    """Update one row by 32 clients, each of whom holds it for 5 ms."""
    script = place / "update.sql"
    script.write_text(UPDATE)
    with servers.database(place, "synchronous_commit=off", "max_connections=60") as database:
        database.run("CREATE TABLE one (n integer)")
        database.run("INSERT INTO one VALUES (0)")
        command, environment = _clients(
            database, "-n", "-f", str(script), "-c", "32", "-j", "2", "-T", "60"
        )
        with program(*command, env=environment):
            yield _watch(database)


def connections(place: Path) -> Iterator[Watches]:
    """Let 40 clients try again and again for one of 20 connections."""
    over = threading.Event()
    with servers.database(place, "max_connections=20") as database:
        # Its own login must be no superuser, who may use the reserved connections.
        database.run("CREATE ROLE client LOGIN PASSWORD 'client'")

        def connect() -> None:
            while not over.is_set():
                with (
                    suppress(psycopg.Error),
                    psycopg.connect(
                        host="127.0.0.1",
                        port=database.port,
                        dbname="bench",
                        user="client",
                        password="client",  # noqa: S106
                    ),
                ):
                    over.wait(5)
                over.wait(0.2)

        threads = [threading.Thread(target=connect, daemon=True) for _ in range(40)]
        try:
            yield _starting(threads, _watch(database))
        finally:
            over.set()
            for thread in threads:
                if thread.ident:
                    thread.join()


def _starting(threads: Sequence[threading.Thread], watches: Watches) -> Watches:
    """Start threads a second later: the watch has a session of its own by then."""
    for thread in threads:
        threading.Timer(1.0, thread.start).start()
    return watches


def memory(place: Path) -> Iterator[Watches]:
    """Walk through a file of twice the memory that the program's cgroup may have."""
    limit = 64 * 2**20
    data = place / "data"
    with data.open("wb") as file:
        for _ in range(2 * limit // 2**20):
            file.write(os.urandom(2**20))
        file.flush()
        os.fsync(file.fileno())
    # What was read before belongs to nobody's limit.
    with data.open("rb") as file:
        os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    with (
        _cgroup(limit) as procs,
        programs([(sys.executable, "-c", WALK, str(data), str(2 * limit), str(procs))]),
    ):
        yield []


@contextmanager
def _cgroup(limit: int) -> Iterator[Path]:
    """Make a cgroup with so much memory: of version 2, else of 1. Raise CannotBeMade."""
    name = f"perfdash-known-case-{os.getpid()}"
    for root in CGROUPS:
        controllers = root / "cgroup.controllers"
        if controllers.exists() and "memory" in controllers.read_text().split():
            where, setting = root / name, "memory.high"
            break
    else:
        where, setting = Path("/sys/fs/cgroup/memory") / name, "memory.limit_in_bytes"
    try:
        where.mkdir()
        (where / setting).write_text(str(limit))
    except OSError as error:
        with suppress(OSError):
            where.rmdir()
        raise CannotBeMade(f"no cgroup with limited memory can be made: {error}") from error
    try:
        yield where / "cgroup.procs"
    finally:
        for _ in range(100):
            with suppress(OSError):
                where.rmdir()
                break
            time.sleep(0.05)


@contextmanager
def _puma(
    place: Path, threads: int, workers: int = 0, answer: str = SLEEPING
) -> Iterator[tuple[int, int]]:
    """Serve answers that take 50 ms, by so many threads of each worker; yield the ports of server and control."""
    name = needed("puma", "puma")
    rack = place / "config.ru"
    rack.write_text(answer)
    port, control = free_port(), free_port()
    command = [
        name, "-b", f"tcp://127.0.0.1:{port}", "-t", f"{threads}:{threads}", "-w", str(workers),
        "--control-url", f"tcp://127.0.0.1:{control}", "--control-token", TOKEN, str(rack),
    ]  # fmt: skip
    with servers.running(command, control, place):
        yield port, control


@contextmanager
def _asking(number: int, port: int, pause: float = 0.0) -> Iterator[None]:
    """Ask a web server by so many clients at once."""
    over = threading.Event()

    def ask() -> None:
        while not over.is_set():
            with suppress(OSError):
                urlopen(f"http://127.0.0.1:{port}/", timeout=10).read()
            over.wait(pause)

    threads = [threading.Thread(target=ask, daemon=True) for _ in range(number)]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join()


def _watch_puma(control: int) -> Watches:
    address = puma.source.check_address(f"127.0.0.1:{control}")
    access = Access(address, LOOPBACK, step_seconds=STEP, password=TOKEN)
    return [(puma.source, access)]


def threads(place: Path) -> Iterator[Watches]:
    """Ask a server of 4 threads by 32 clients."""
    with _puma(place, 4) as (port, control), _asking(32, port):
        yield _watch_puma(control)


def cpu_behind_threads(place: Path) -> Iterator[Watches]:
    """Ask a server whose answers take CPU, with a worker of 2 threads for each core, by 32 clients."""
    with _puma(place, 2, CORES, WORKING) as (port, control), _asking(32, port):
        yield _watch_puma(control)


def slow_client(place: Path) -> Iterator[Watches]:
    """Ask a server of 4 threads by one client that takes its time."""
    with _puma(place, 4) as (port, control), _asking(1, port, pause=0.2):
        yield _watch_puma(control)


def throttle(place: Path) -> Iterator[Watches]:
    """Let at most 3 of 8 clients through to a server that has room for all."""
    name = needed("haproxy", "haproxy")
    with _puma(place, 16) as (behind, _):
        ports = {each: free_port() for each in ("port", "runtime")}
        config = place / "haproxy.cfg"
        config.write_text(HAPROXY.format(behind=behind, **ports))
        command = [name, "-db", "-q", "-f", str(config)]
        with servers.running(command, ports["port"], place), _asking(8, ports["port"]):
            access = Access(
                haproxy.source.check_address(f"tcp://127.0.0.1:{ports['runtime']}"),
                LOOPBACK,
                step_seconds=STEP,
            )
            yield [(haproxy.source, access)]


def binds(*resources: Resource) -> Callable[[RunBinding], bool]:
    """Return whether just these resources are said to bind, whatever their labels and the queues in front of them."""

    def says(run: RunBinding) -> bool:
        return {each.resource for each in in_front(run.strongest)[0]} == set(resources)

    return says


def names(resource: Resource, *others: Resource) -> Callable[[RunBinding], bool]:
    """Return whether a resource is said to bind, alone or with some others."""

    def says(run: RunBinding) -> bool:
        named = {each.resource for each in in_front(run.strongest)[0]}
        return resource in named and named <= {resource, *others}

    return says


def cpu_and_threads(run: RunBinding) -> bool:
    """Return whether the CPU is said to bind, with the queue at the threads in front of it."""
    behind, queues = in_front(run.strongest)
    return [each.resource for each in behind] == [Resource.CPU] and Resource.THREADS in {
        each.resource for each in queues
    }


def none_seen(run: RunBinding) -> bool:
    """Return whether nothing is named, and that is known."""
    return run.word == RunWord.NONE


CASES = {
    "idle": Case(idle, none_seen, "none seen"),
    "cpu": Case(cpu, binds(Resource.CPU), "CPU"),
    "one core": Case(one_core, binds(Resource.CORE), "one core"),
    "niced": Case(niced, binds(Resource.CPU), "CPU, of niced programs"),
    "disk, reads": Case(reads, binds(Resource.DISK), "disk"),
    "disk, commits": Case(
        commits, binds(Resource.DISK, Resource.DATABASE_IO), "disk, and database I/O"
    ),
    "memory": Case(memory, binds(Resource.MEMORY), "memory"),
    "database locks": Case(locks, binds(Resource.LOCKS), "database locks"),
    "database connections": Case(
        connections, binds(Resource.CONNECTIONS), "database connections"
    ),
    "application threads": Case(
        threads, names(Resource.THREADS, Resource.LISTEN_QUEUE), "application threads"
    ),
    "CPU behind threads": Case(
        cpu_behind_threads, cpu_and_threads, "CPU; requests queue at the threads"
    ),
    "throttle": Case(throttle, binds(Resource.THROTTLE), "a limit that was set"),
    "slow client": Case(slow_client, none_seen, "none seen"),
}  # fmt: skip


def counted(name: str) -> tuple[bool, list[Bound], RunBinding]:
    """Make a case once, and return whether the rule named it, with what it named. Raise CannotBeMade."""
    case = CASES[name]
    with TemporaryDirectory(prefix="perfdash-known-case-", dir="/var/tmp") as place:
        run = observe(case, Path(place))
    return case.says(run), list(run.strongest), run


def account() -> str:
    """Return as whom the cases are made, for a report."""
    return getpass.getuser()
