"""Read the files of the cgroups of services: version 2, and version 1 as far as it has them. Pure."""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from campaigns.targets.watches.sources.ssh.proc import PRESSURES, fields, number, pressure

ROOT = "/sys/fs/cgroup"
_V2 = re.compile(ROOT + r"(/.*)?/((?:cpu|memory|io)\.[a-z]+)")
_V1 = re.compile(ROOT + r"/(cpuacct|cpu|memory|blkio)(/.*)?/([a-z_.]+)")


@dataclass(slots=True)
class Service:
    """What a cgroup has used so far. None: not known there. pressures: seconds by (resource, kind)."""

    cpu: float | None = None
    memory: float | None = None
    cache: float = 0.0
    oom_kills: float | None = None
    periods: float | None = None
    throttled: float | None = None
    read: float | None = None
    written: float | None = None
    pressures: dict[tuple[str, str], float] = field(default_factory=dict)

    @property
    def used(self) -> float | None:
        """Return the memory that is not just cache of files which nobody uses now."""
        return None if self.memory is None else max(self.memory - self.cache, 0.0)


def services_of(parts: Mapping[str, str]) -> dict[str, Service]:
    """Return the cgroups of a frame by path; the empty path is the root, in a container the container itself."""
    found: dict[str, Service] = {}
    for path, text in parts.items():
        if not path.startswith(ROOT):
            continue
        if match := _V1.fullmatch(path):
            _read_v1(found.setdefault(match[2] or "", Service()), match[3], text)
        elif match := _V2.fullmatch(path):
            _read_v2(found.setdefault(match[1] or "", Service()), match[2], text)
    return found


def _read_v2(service: Service, name: str, text: str) -> None:
    if name == "cpu.stat":
        found = fields(text)
        service.cpu = _scaled(found.get("usage_usec"), 1e6)
        service.periods, service.throttled = found.get("nr_periods"), found.get("nr_throttled")
    elif name == "memory.current":
        service.memory = number(text.strip())
    elif name == "memory.stat":
        service.cache = fields(text).get("inactive_file", 0.0)
    elif name == "memory.events":
        service.oom_kills = fields(text).get("oom_kill")
    elif name == "io.stat":
        service.read = _sum(text, r"\brbytes=(\d{1,18})\b")
        service.written = _sum(text, r"\bwbytes=(\d{1,18})\b")
    elif name.endswith(".pressure") and (resource := name.partition(".")[0]) in PRESSURES:
        for key, value in pressure(text, resource).items():
            service.pressures[resource, key.quantity.rpartition(".")[2]] = value


def _read_v1(service: Service, name: str, text: str) -> None:
    if name == "cpuacct.usage":
        service.cpu = _scaled(number(text.strip()), 1e9)
    elif name == "cpu.stat":
        found = fields(text)
        service.periods, service.throttled = found.get("nr_periods"), found.get("nr_throttled")
    elif name == "memory.usage_in_bytes":
        service.memory = number(text.strip())
    elif name == "memory.stat":
        service.cache = fields(text).get("total_inactive_file", 0.0)
    elif name == "memory.oom_control":
        service.oom_kills = fields(text).get("oom_kill")
    elif name == "blkio.throttle.io_service_bytes":
        service.read = _sum(text, r"^\d+:\d+ Read (\d{1,18})$")
        service.written = _sum(text, r"^\d+:\d+ Write (\d{1,18})$")


def _scaled(value: float | None, by: float) -> float | None:
    return None if value is None else value / by


def _sum(text: str, pattern: str) -> float | None:
    found = re.findall(pattern, text, re.MULTILINE)
    return float(sum(map(int, found))) if found else None
