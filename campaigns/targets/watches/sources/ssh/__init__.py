"""Watch a machine by SSH, without an agent: what its kernel counts."""

import os
from collections.abc import Callable
from pathlib import Path

from campaigns.kit.ssh.access import ActionFailed, HostKeyRefused
from campaigns.targets.watches.base import Access, Event, Sink, Source, Span, WatchFailed
from campaigns.targets.watches.over_ssh import ssh_address, ssh_place


class Ssh(Source):
    """Logs in, and runs one program that reads files of /proc and /sys and prints them."""

    name = "ssh"
    label = "SSH: processor, memory, disks, network and processes"
    description = (
        "Reads what the kernel counts: processor, memory, disks, network, pressure, services, groups of processes. "
        "Nothing is installed, and nothing is written to the target's disk."
    )
    needs = "sshd, and a user without rights whose shell runs python3, or else sh with grep, date and sleep."
    address_help = "Host name or address of the machine, and its port where it is not 22."
    uses_ssh = True
    reads = ("machine", "groups")
    steps = (1.0, 0.2)

    def check_address(self, address: str) -> str:
        """Return the address as host, or host:port. Raise ValueError with a message for the form."""
        return ssh_address(address)

    def host_and_port(self, address: str) -> tuple[str, int]:
        """Return where the worker connects to."""
        return ssh_place(address)

    def sample(self, access: Access, sink: Sink, stopped: Callable[[float], bool]) -> None:
        """Read until stopped. Raise WatchFailed, HostKeyRefused."""
        from campaigns.targets.watches.sources.ssh import sampling

        try:
            sampling.sample(access, sink, stopped, _worker())
        except HostKeyRefused:
            raise
        except ActionFailed as error:
            raise WatchFailed(str(error)) from error

    def expected_events(self, access: Access, span: Span) -> list[Event]:
        """Return the timers and cron jobs that start within a span. Raise WatchFailed, HostKeyRefused."""
        from campaigns.targets.watches.sources.ssh import sampling

        try:
            return sampling.expected_events(access, span)
        except HostKeyRefused:
            raise
        except ActionFailed as error:
            raise WatchFailed(str(error)) from error


def _worker() -> tuple[int, str, str]:
    """Return this process's number, and what its machine and namespace are known by."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
        return os.getpid(), boot, os.readlink("/proc/self/ns/pid")
    except OSError:  # not Linux
        return 0, "", ""


source = Ssh()
