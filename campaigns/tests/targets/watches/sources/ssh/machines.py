"""Frames of machines that are not here, constructed after the kernel's documentation of its files.

Documentation/filesystems/proc.rst, admin-guide/iostats.rst, accounting/psi.rst, admin-guide/cgroup-v2.rst and
cgroup-v1/*. What differs between systems is what counts here: no pressure information on Enterprise Linux 8, cgroups
of version 1 there, shorter lines of older kernels. `recorded/debian12.frames` was recorded from a real one.
"""

import zlib
from dataclasses import dataclass, field
from pathlib import Path

from campaigns.targets.watches.sources.ssh.frames import Raw

RECORDED = Path(__file__).parent / "recorded"
BOOT = 1_700_000_000.0
TICKS = 100
SECRET = "s3cr3t-of-a-command-line"  # noqa: S105
HOSTILE = (
    "a) R 1 1 1 1 1",
    "x\nperfdash F 9 1.000000 1.000 1.0000\n",
    "\x1b[2J\x00",
    "((()))",
    "1 2 3 4 5 6 7 - x / y",
    "é\xff",
)


@dataclass
class Program:
    """A program of a machine. share: of a core that it takes."""

    pid: int
    comm: str
    cgroup: str
    share: float = 0.0
    parent: int = 1
    threads: int = 1
    word: str = ""
    start: float = 0.0
    pages: int = 2000


PROGRAMS = (
    Program(1, "systemd", "/init.scope"),
    Program(700, "postmaster", "/system.slice/postgresql.service", 0.2),
    Program(701, "postmaster", "/system.slice/postgresql.service", 0.3, 700),
    Program(800, "pulpcore-worker", r"/system.slice/system-pulpcore\x2dworker.slice/pulpcore-worker@1.service", 0.4),
    Program(801, "pulpcore-worker", r"/system.slice/system-pulpcore\x2dworker.slice/pulpcore-worker@2.service", 0.1),
    Program(810, "gunicorn", "/system.slice/pulpcore-content.service", 0.05, word="gunicorn:"),
    Program(900, "dnf", "/system.slice/dnf-makecache.service", 0.15),
    Program(500, "sshd", "/system.slice/sshd.service"),
    Program(990, "sshd", "/user.slice/user-1000.slice/session-7.scope", 0.001, 500),
    Program(991, "sshd", "/user.slice/user-1000.slice/session-7.scope", 0.001, 990),
    Program(992, "python3", "/user.slice/user-1000.slice/session-7.scope", 0.005, 991),
)  # fmt: skip


@dataclass
class Kernel:
    """A machine. cgroups: their version; 0: none are shown, as in a container."""

    release: str
    system: str
    cores: int
    psi: bool = True
    cgroups: int = 2
    old: bool = False
    programs: tuple[Program, ...] = PROGRAMS
    extra: dict[str, str] = field(default_factory=dict)

    def parts(self, second: float, turn: int = 0) -> dict[str, str]:
        """Return the files after so many seconds of uptime. turn: of the sampler."""
        busy = sum(each.share * max(second - each.start, 0) for each in self.programs)
        parts = {
            "/proc/stat": self._stat(second, busy),
            "/proc/meminfo": f"MemTotal:       {4 << 20} kB\nMemFree: 100000 kB\nMemAvailable:   {2 << 20} kB\n"
            "Dirty:               300 kB\nSwapTotal:       2097148 kB\nSwapFree:        2000000 kB",
            "/proc/vmstat": f"pswpin 0\npswpout 0\npgmajfault {int(second)}\nallocstall_normal 0\noom_kill 0\n"
            "pgscan_direct 0\npgscan_direct_throttle 7\n"
            + ("workingset_refault 5" if self.old else "workingset_refault_anon 1\nworkingset_refault_file 4"),
            "/proc/diskstats": self._diskstats(second),
            "/proc/net/dev": "Inter-|   Receive  |  Transmit\n face |bytes packets\n"
            f"    lo: 1 1 0 0 0 0 0 0 1 1 0 0 0 0 0 0\n  ens3:{int(1000 * second)} 5 0 2 1 0 0 0 {int(2000 * second)} 6 0 3 0 0 0 0",
            "/proc/net/netstat": "TcpExt: SyncookiesSent ListenOverflows ListenDrops TCPTimeouts TCPBacklogDrop\n"
            "TcpExt: 0 1 2 3 4",
            "/proc/net/snmp": "Tcp: RtoAlgorithm MaxConn CurrEstab OutSegs RetransSegs\nTcp: 1 -1 9 1000 10",
            "/proc/net/sockstat": "TCP: inuse 31 orphan 0 tw 17 alloc 35 mem 82",
            "/proc/loadavg": "1.50 1.00 0.50 2/300 4321",
        }  # fmt: skip
        if self.psi:
            for resource in ("cpu", "memory", "io"):
                some = f"some avg10=0.00 avg60=0.00 avg300=0.00 total={int(250_000 * second)}"
                full = f"full avg10=0.00 avg60=0.00 avg300=0.00 total={int(50_000 * second)}"
                # EL9's kernel, as others from 5.13 on, prints `full` of the CPU, too.
                parts[f"/proc/pressure/{resource}"] = f"{some}\n{full}"
        if turn == 0:
            parts |= {
                "self": "992 4096 100",
                "pid_namespace": "pid:[4026531836]",
                "/proc/sys/kernel/osrelease": self.release,
                "/proc/sys/kernel/random/boot_id": "11111111-2222-3333-4444-555555555555",
                "/etc/os-release": f'NAME="x"\nPRETTY_NAME="{self.system}"',
                "model": "\t: A processor",
                "/sys/class/net/ens3/speed": "10000",
                "/proc/sys/net/ipv4/ip_local_port_range": "32768\t60999",
                "disks": "sda sda1 sda2\ndm-0 sda2\nloop0",
            }
        if turn % 5 == 0:
            parts |= {"processes": self._processes(second, fresh=turn == 0), **self._units(second)}
        if turn % 10 == 0:
            parts |= {
                "mounts": "1000 300 28 1 253:0 / / rw,relatime shared:1 - xfs /dev/mapper/root rw,seclabel\n"
                "1000 50 30 28 8:1 / /boot rw,relatime shared:9 - xfs /dev/sda1 rw",
                "/proc/sys/fs/file-nr": "1000\t0\t100000",
                "/sys/devices/system/cpu/cpu0/cpufreq/scaling_cur_freq": "2000000",
                "/sys/devices/system/cpu/cpu0/thermal_throttle/core_throttle_count": "0",
                "/sys/block/dm-0/dm/uuid": "LVM-" + "a" * 64,
            }
        return parts | self.extra

    def _stat(self, second: float, busy: float) -> str:
        """The mode `guest` is in `user`; a core's line has as many numbers as the kernel is old."""
        ticks, each = busy * TICKS, busy * TICKS / self.cores
        idle = second * TICKS * self.cores - ticks
        line = "{} {:.0f} 0 {:.0f} {:.0f} 0 0 0 0 0 0"
        lines = [line.format("cpu ", 0.7 * ticks, 0.3 * ticks, idle)]
        lines += [
            line.format(f"cpu{core}", 0.7 * each, 0.3 * each, idle / self.cores)
            for core in range(self.cores)
        ]
        return "\n".join([*lines, f"ctxt {int(5000 * second)}", f"btime {BOOT:.0f}", f"processes {int(10 * second)}", "procs_running 3", "procs_blocked 1"])  # fmt: skip

    def _diskstats(self, second: float) -> str:
        """Until 4.17 a line has 11 numbers, then 15 with discards, from 5.5 on 17 with flushes."""
        more = "" if self.old else " 0 0 0 0 5 6"
        ms = int(100 * second)
        row = f"{int(second)} 0 {int(8 * second)} {ms} {int(second)} 0 {int(16 * second)} {ms} 0 {ms} {2 * ms}{more}"
        names = ("   8       0 sda", "   8       1 sda1", "   8       2 sda2", " 253       0 dm-0", "   7       0 loop0")  # fmt: skip
        return "\n".join(f"{name} {row}" for name in names)

    def _processes(self, second: float, *, fresh: bool) -> str:
        lines = []
        for each in self.programs:
            ticks = int(each.share * max(second - each.start, 0) * TICKS)
            comm = "".join(c if "!" <= c <= "~" else "?" for c in each.comm)
            new = (
                f" {each.cgroup or '/'} {each.word or '?'}"
                if fresh or each.start > second - 5
                else ""
            )
            lines.append(f"{each.pid} {each.parent} {ticks} 0 {each.threads} {int(each.start * TICKS)} {each.pages} 10/1024 {comm}{new}")  # fmt: skip
        return "\n".join(lines)

    def _units(self, second: float) -> dict[str, str]:
        if not self.cgroups:
            return {}
        parts: dict[str, str] = {}
        root = "/sys/fs/cgroup"
        units = {each.cgroup for each in self.programs if each.cgroup.endswith(".service")}
        for unit in units:
            seconds = sum(
                each.share * max(second - each.start, 0)
                for each in self.programs
                if each.cgroup == unit
            )
            if self.cgroups == 2:
                parts |= {
                    f"{root}{unit}/cpu.stat": f"usage_usec {int(seconds * 1e6)}\nnr_periods {int(10 * second)}\nnr_throttled 0\nthrottled_usec 0",
                    f"{root}{unit}/memory.current": str(300 << 20),
                    f"{root}{unit}/memory.stat": f"inactive_file {100 << 20}",
                    f"{root}{unit}/memory.events": "oom_kill 0",
                    f"{root}{unit}/io.stat": f"8:0 rbytes={int(512 * second)} wbytes={int(1024 * second)} rios=1 wios=2 dbytes=0 dios=0",
                    f"{root}{unit}/cpu.pressure": f"some avg10=0 avg60=0 avg300=0 total={int(1e5 * second)}\nfull avg10=0 avg60=0 avg300=0 total=9",
                }
            else:
                parts |= {
                    f"{root}/cpuacct{unit}/cpuacct.usage": str(int(seconds * 1e9)),
                    f"{root}/cpu{unit}/cpu.stat": "nr_periods 0\nnr_throttled 0\nthrottled_time 0",
                    f"{root}/memory{unit}/memory.usage_in_bytes": str(300 << 20),
                    f"{root}/memory{unit}/memory.stat": f"total_inactive_file {100 << 20}",
                    f"{root}/memory{unit}/memory.oom_control": "oom_kill_disable 0\nunder_oom 0\noom_kill 0",
                    f"{root}/blkio{unit}/blkio.throttle.io_service_bytes": f"8:0 Read {int(512 * second)}\n8:0 Write {int(1024 * second)}\nTotal 0",
                }
        return parts

    def raw(self, second: float, turn: int = 0, jump: float = 0.0) -> Raw:
        """Return a frame. jump: of its clock."""
        return Raw(BOOT + second + jump, second, second, self.parts(second, turn), 0.001 * second)

    def frames(self, seconds: int, begin: float = 1000.0) -> list[bytes]:
        """Return frames as the sampler prints them, one a second."""
        return [packed(self.raw(begin + turn, turn)) for turn in range(seconds)]


def _word(text: str) -> str:
    """Return a text as the sampler sends it."""
    return "".join(letter if "!" <= letter <= "~" else "?" for letter in text) or "?"


def packed(raw: Raw) -> bytes:
    """Return a frame as the sampler prints it."""
    texts = {path: text.encode("latin-1") for path, text in raw.parts.items()}
    body = b"".join(b"%d %s\n%s" % (len(text), path.encode("latin-1").replace(b"\n", b"?"), text) for path, text in texts.items())  # fmt: skip
    data = zlib.compress(body, 1)
    return (
        b"perfdash F %d %.6f %.3f %.4f\n" % (len(data), raw.at, raw.uptime or 0.0, raw.cpu or 0.0)
        + data
    )


def shell_lines(raw: Raw, token: str) -> bytes:
    """Return a frame as the script for `sh` prints it; its processes in the kernel's own lines."""
    lines = [f"{token} F {raw.at:.9f} {raw.uptime:.2f} {raw.uptime:.2f}"]
    sections = {"self", "pid_namespace", "model"}
    for path, text in raw.parts.items():
        if path.startswith("/"):
            lines += [f"{path}:{line}" for line in text.split("\n")]
    for name in sections & set(raw.parts):
        lines += [f"{token} S {name}", raw.parts[name]]
    lines.append(f"{token} S")
    for line in raw.parts.get("processes", "").split("\n"):
        words = line.split(" ")
        if len(words) >= 9:
            pid, parent, own, waited, threads, start, pages, _, comm = words[:9]
            numbers = f"{parent} 1 1 0 -1 4194560 1 1 1 1 {own} 0 {waited} 0 20 0 {threads} 0 {start} 1000 {pages}"
            lines.append(f"/proc/{pid}/stat:{pid} ({comm}) S {numbers}")
            if len(words) == 11:
                lines.append(f"/proc/{pid}/cgroup:0::{words[9]}")
    return "\n".join([*lines, f"{token} E", ""]).encode("latin-1")


def el8(cores: int = 16) -> Kernel:
    """Enterprise Linux 8: no pressure without psi=1, cgroups of version 1."""
    return Kernel("4.18.0-553.el8_10.x86_64", "Red Hat Enterprise Linux 8.10 (Ootpa)", cores, psi=False, cgroups=1, old=True)  # fmt: skip


def el9(cores: int = 64) -> Kernel:
    """Enterprise Linux 9 with psi=1, cgroups of version 2."""
    return Kernel("5.14.0-503.el9.x86_64", "Red Hat Enterprise Linux 9.5 (Plow)", cores)


def debian12(cores: int = 2) -> Kernel:
    """Debian 12."""
    return Kernel("6.1.0-31-amd64", "Debian GNU/Linux 12 (bookworm)", cores)


def container(cores: int = 2) -> Kernel:
    """A container: no files of pressure, and no units."""
    programs = (
        Program(1, "s6-svscan", "/"),
        Program(20, "nginx", "/", 0.2, 1),
        Program(21, "python3", "/", 0.3, 1, word="/usr/bin/pulpcore-content"),
        Program(992, "python3", "/", 0.01, 1),
    )
    return Kernel("6.1.0-31-amd64", "CentOS Stream 9", cores, psi=False, cgroups=0, programs=programs)  # fmt: skip


MACHINES = {
    "el8, 16 cores": el8(),
    "el9, 64 cores": el9(),
    "debian12, 2 cores": debian12(),
    "container": container(),
}
