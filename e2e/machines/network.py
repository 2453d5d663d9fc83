"""Machines as network namespaces: each has a network stack, an address and a name of its own, on one switch.

Nothing of it is in the machine's own network: the switch is a bridge in a namespace, too. What tests ask there
they ask `within` a namespace.
"""

import ctypes
import os
import secrets
import shutil
import subprocess
import threading
from contextlib import contextmanager
from pathlib import Path

NET = "198.18.7."
"""Addresses for benchmarks of networks (RFC 2544), which belong to nobody."""
IP = shutil.which("ip", path=f"{os.environ['PATH']}:/usr/sbin:/sbin") or "/usr/sbin/ip"
NEW_NETWORK = 0x40000000
NAMES = Path("/etc/netns")


def why_not():
    """Return why no namespaces can be made here; empty where they can."""
    if os.geteuid() != 0:
        return "network namespaces need root"
    if not Path(IP).exists():
        return "there is no `ip` (Debian: iproute2)"
    name = f"pd-{secrets.token_hex(3)}"
    made = subprocess.run([IP, "netns", "add", name], capture_output=True, text=True)
    if made.returncode:
        return f"no network namespaces here: {made.stderr.strip()}"
    linked = [IP, "-n", name, "link", "add", "one", "type", "veth", "peer", "name", "other"]
    bridged = [IP, "-n", name, "link", "add", "switch", "type", "bridge"]
    failed = [
        done.stderr.strip()
        for done in (subprocess.run(c, capture_output=True, text=True) for c in (linked, bridged))
        if done.returncode
    ]
    subprocess.run([IP, "netns", "delete", name], check=True)
    return f"no veth pairs or bridges here: {failed[0]}" if failed else ""


class Network:
    """Namespaces on one switch, by the names of their machines."""

    def __init__(self, hosts):
        """hosts: last number of the address by name of the machine."""
        self.hosts = hosts
        self.mark = f"pd{secrets.token_hex(3)}"
        self._made = []

    def __enter__(self):
        try:
            self._add("switch")
            self._ip("switch", "link", "add", "switch", "type", "bridge")
            self._ip("switch", "link", "set", "switch", "up")
            for host in self.hosts:
                self._join(host)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *exc_info):
        for name in reversed(self._made):
            subprocess.run([IP, "netns", "delete", name], check=True)
            shutil.rmtree(NAMES / name, ignore_errors=True)
        self._made.clear()

    def address(self, host):
        return f"{NET}{self.hosts[host]}"

    def command(self, host, command):
        """Return the command that runs another one on a machine."""
        return [IP, "netns", "exec", self._name(host), *command]

    def unplug(self, host):
        """Let nothing reach or leave a machine any more; its own link stays up, as behind a broken switch."""
        self._ip("switch", "link", "set", self._plug(host), "nomaster")

    def plug(self, host):
        self._ip("switch", "link", "set", self._plug(host), "master", "switch")

    def resolve(self, host, name, address):
        """Let a name have another address on one machine; the file is changed in place, as it is mounted there."""
        path = NAMES / self._name(host) / "hosts"
        lines = [line for line in path.read_text().splitlines() if line.split()[1:] != [name]]
        path.write_text("\n".join([*lines, f"{address} {name}", ""]))

    @contextmanager
    def within(self, host):
        """Let this thread be on a machine: the sockets that it opens in the block are there."""
        libc = ctypes.CDLL(None, use_errno=True)
        own = os.open(f"/proc/self/task/{threading.get_native_id()}/ns/net", os.O_RDONLY)
        other = os.open(f"/run/netns/{self._name(host)}", os.O_RDONLY)
        try:
            self._enter(libc, other)
            yield
        finally:
            self._enter(libc, own)
            os.close(own)
            os.close(other)

    def _enter(self, libc, namespace):
        if libc.setns(namespace, NEW_NETWORK):
            raise OSError(ctypes.get_errno(), "setns")

    def _join(self, host):
        self._add(host)
        plug = self._plug(host)
        there = ("peer", "name", "eth0", "netns", self._name(host))
        self._ip("switch", "link", "add", plug, "type", "veth", *there)
        self._ip("switch", "link", "set", plug, "master", "switch")
        self._ip("switch", "link", "set", plug, "up")
        self._ip(host, "address", "add", f"{self.address(host)}/24", "dev", "eth0")
        self._ip(host, "link", "set", "eth0", "up")

    def _add(self, host):
        name = self._name(host)
        subprocess.run([IP, "netns", "add", name], check=True)
        self._made.append(name)
        self._ip(host, "link", "set", "lo", "up")
        place = NAMES / name
        place.mkdir(parents=True)
        names = [f"{self.address(each)} {each}" for each in self.hosts]
        (place / "hosts").write_text("\n".join(["127.0.0.1 localhost", *names, ""]))

    def _ip(self, host, *words):
        subprocess.run([IP, "-n", self._name(host), *words], check=True)

    def _name(self, host):
        return f"{self.mark}-{host.partition('.')[0]}"

    def _plug(self, host):
        return f"p{self.hosts[host]}"
