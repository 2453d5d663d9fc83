"""Hold virtual hosts that are SSH servers, let OpenSSH's client do a job on some, and report what that costs the hosts."""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

from bench.generators.own import processor
from bench.virtual_hosts import context_of
from campaigns.kinds.hosts.answering import Answered
from campaigns.kinds.hosts.answering_ssh import answering_ssh, ssh_request
from campaigns.kit import kernel
from campaigns.tests.kinds.hosts.over_ssh import SSH, Connection, job_on, new_key, public
from campaigns.tests.ports import free_ports

AT_ONCE = 4
Act = Callable[[Connection], object]


def main() -> int:
    """Measure and print."""
    options = arguments()
    kernel.raise_open_files()
    if not SSH:
        print("OpenSSH's client was not found: apt-get install openssh-client.", file=sys.stderr)
        return 1
    print(f"{processor()}, {os.cpu_count()} cores, load average {os.getloadavg()[0]:.1f}")
    with tempfile.TemporaryDirectory(prefix="perfdash-bench-") as directory:
        place = Path(directory)
        key = new_key(place)

        def whole_job(connection: Connection) -> None:
            job_on(place, key, connection.port, f"job-{connection.port}", "date")

        idle = measured(place, key, options, 0, lambda connection: None)
        report("no login", idle, idle, 0)
        logged_in = measured(place, key, options, options.logins, Connection.establish)
        report("logged in, all at a time", logged_in, idle, options.logins)
        report("13 sessions", measured(place, key, options, options.jobs, whole_job), idle, options.jobs)  # fmt: skip
    return 0


def measured(place: Path, key: Path, options: argparse.Namespace, count: int, act: Act) -> Answered:
    """Open all ports, act on the first `count` hosts, and return what they report."""
    context, port = context_of(place), free_ports(options.hosts)
    request = ssh_request(
        context, options.hosts, "127.0.0.1", port, [public(key)], processes=options.processes
    )
    connections = [Connection(place, key, port + number) for number in range(count)]
    with answering_ssh(context, request) as hosts, left(connections) as pool:
        begun = time.monotonic()
        list(pool.map(act, connections))
        print(f"  {count} hosts in {time.monotonic() - begun:.1f} s")
        return hosts.end()


@contextmanager
def left(connections: list[Connection]) -> Iterator[ThreadPoolExecutor]:
    """Threads for the clients, whose connections are ended at last."""
    with ThreadPoolExecutor(AT_ONCE) as pool:
        try:
            yield pool
        finally:
            list(pool.map(Connection.leave, connections))


def report(what: str, answered: Answered, idle: Answered, count: int) -> None:
    """Print what it took."""
    counts, more = answered.counts, answered.cpu_seconds - idle.cpu_seconds
    a_host = f", {more / count * 1000:.1f} ms for each of {count}" if count else ""
    print(
        f"  {what}: {counts['hosts_listening']} ports open after {answered.connect_seconds:.1f} s, {counts['hosts_connected']} logins, "
        f"{counts['sessions']} sessions, {counts['faults']} faults; {answered.cpu_seconds:.1f} s CPU{a_host}; "
        f"{answered.peak_memory_bytes / 2**20:.0f} MiB at most"
    )


def arguments() -> argparse.Namespace:
    """Read the options."""
    parser = argparse.ArgumentParser(prog="script/bench virtual_ssh_hosts", description=__doc__)
    parser.add_argument("--hosts", type=int, default=2000)
    parser.add_argument("--logins", type=int, default=300)
    parser.add_argument("--jobs", type=int, default=100)
    parser.add_argument("--processes", type=int, default=1)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
