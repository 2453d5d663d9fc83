# mypy: ignore-errors
# ruff: noqa: TID251, UP031
"""Runs on the target, as the argument of `python3 -c`: Python 3.6, no packages, and nothing is written to a disk.

It prints frames: a line `perfdash F length at uptime cpu`, and that many bytes of zlib: of each file a line with its
length and path, and its bytes. It answers a line `Q n` with its clock, on standard error. It ends with its
standard input, and where no line came for `lease` seconds, as after a connection that was cut.
"""

import glob
import os
import select
import signal
import sys
import time
import zlib

step, lease, look, most = float(sys.argv[1]), int(sys.argv[2]), float(sys.argv[3]), 700000
TICKS = os.sysconf("SC_CLK_TCK")
FAST = (
    ("/proc/stat", b"cpu", b"ctxt", b"btime", b"processes", b"procs_"),
    ("/proc/pressure/cpu",),
    ("/proc/pressure/memory",),
    ("/proc/pressure/io",),
    ("/proc/meminfo", b"MemTotal", b"MemFree", b"MemAvail", b"Buffers", b"Cached", b"SwapT", b"SwapF", b"Dirty"),
    ("/proc/vmstat", b"pswp", b"pgmajfault", b"pgscan_direct ", b"pgscan_direct_n", b"pgscan_direct_d", b"pgscan_direct_m", b"allocstall", b"workingset_refault", b"oom_kill"),
    ("/proc/diskstats",),
    ("/proc/net/dev",),
    ("/proc/net/netstat", b"TcpExt"),
    ("/proc/net/snmp", b"Tcp:"),
    ("/proc/net/sockstat", b"TCP"),
    ("/proc/loadavg",),
)  # fmt: skip
SLOW = (
    "/proc/sys/fs/file-nr",
    "/proc/mdstat",
    "/sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq",
    "/sys/devices/system/cpu/cpu*/thermal_throttle/*_throttle_count",
    "/sys/block/dm-*/dm/uuid",
    "/sys/block/*/device/ioerr_cnt",
)
ONCE = (
    "/proc/sys/kernel/osrelease",
    "/proc/sys/kernel/random/boot_id",
    "/proc/sys/net/ipv4/ip_local_port_range",
    "/etc/os-release",
    "/sys/class/net/*/speed",
)
UNITS = (
    "{}/system.slice/*",
    "{}/system.slice/*.slice/*",
    "{}/machine.slice/*",
    "{}/user.slice/*/user@*/*.slice/*",
)
V2 = (
    ("cpu.stat", b"usage_usec", b"nr_periods", b"nr_throttled", b"throttled_usec"),
    ("memory.current",),
    ("memory.stat", b"inactive_file"),
    ("memory.events", b"oom_kill "),
    ("io.stat",),
    ("cpu.pressure",),
    ("memory.pressure",),
    ("io.pressure",),
)
V1 = (
    ("cpuacct/{}/cpuacct.usage",),
    ("cpu/{}/cpu.stat",),
    ("memory/{}/memory.usage_in_bytes",),
    ("memory/{}/memory.stat", b"total_inactive_file"),
    ("memory/{}/memory.oom_control", b"oom_kill "),
    ("blkio/{}/blkio.throttle.io_service_bytes",),
)
DISKS = (b"ext2", b"ext3", b"ext4", b"xfs", b"btrfs", b"zfs", b"f2fs", b"vfat")
kept, before, limits = {}, {}, {}


def read(path, keep=False):
    try:
        file = kept[path] if path in kept else os.open(path, os.O_RDONLY)
        try:
            data = more = os.pread(file, 65536, 0)
            while more and len(data) < 262144:  # one read gives a page of some of these files
                more = os.pread(file, 65536, len(data))
                data += more
        finally:
            if keep:
                kept[path] = file
            else:
                os.close(file)
    except OSError:
        return b""
    return data


def listed(path):
    try:
        return os.listdir(path)
    except OSError:  # it has ended meanwhile, or is another's
        return []


def wanted(path, begins, keep=False):
    data = read(path, keep)
    return (
        b"\n".join(line for line in data.split(b"\n") if line.startswith(begins))
        if begins
        else data
    )


def word(text, length):
    """Return another's bytes without separators."""
    return b"".join(b"%c" % c if 32 < c < 127 else b"?" for c in text[:length]) or b"?"


def processes(seconds, with_files):
    """Yield a line for each process, with its cgroup and first word where they are new; then threads of busy ones, and which are niced."""
    global before
    now, lines, threads, niced, size, left_out = {}, [], [], [], 0, 0
    for pid in os.listdir("/proc"):
        stat = read("/proc/%s/stat" % pid) if pid.isdigit() else b""
        if not stat:
            continue
        if size > most:
            left_out += 1
            continue
        comm, part = (
            stat[stat.find(b"(") + 1 : stat.rfind(b")")],
            stat[stat.rfind(b")") + 2 :].split(),
        )
        name, own = (pid, part[19], comm), int(part[11]) + int(part[12])
        fresh, files = b"", b"-"
        if before.get(pid, (0,))[0] != name:
            cgroups = [each.split(b":", 2) for each in read("/proc/%s/cgroup" % pid).split(b"\n")]
            cgroups = [
                each[2] for each in cgroups if len(each) == 3 and each[1] in (b"", b"name=systemd")
            ]
            first = read("/proc/%s/cmdline" % pid).split(b"\0")[0].split(b" ")[0].split(b"=")[0]
            fresh = b" " + word(max(cgroups or [b""], key=len), 250) + b" " + word(first, 60)
        elif own - before[pid][1] > 0.5 * seconds * TICKS and int(part[17]) > 1:
            for task in listed("/proc/%s/task" % pid)[:2000]:
                busy = read("/proc/%s/task/%s/stat" % (pid, task)).rpartition(b")")[2].split()
                if busy:
                    threads.append("%s %s %d" % (pid, task, int(busy[11]) + int(busy[12])))
        now[pid] = (name, own)
        if int(part[16]) > 0:
            niced.append(pid)
        if with_files:
            try:  # st_size is their number from Linux 6.2 on
                count = os.stat("/proc/%s/fd" % pid).st_size or len(os.listdir("/proc/%s/fd" % pid))
                if name not in limits:
                    text = read("/proc/%s/limits" % pid).partition(b"Max open files")[2].split()
                    limits[name] = text[0] if text and text[0].isdigit() else b"0"
                files = b"%d/%s" % (count, limits[name])
            except OSError:
                pass
        # pid, parent, own and children's ticks, threads, start, resident pages, descriptors, name
        lines.append(b"%s %s %d %d %s %s %s %s %s" % (pid.encode(), part[1], own, int(part[13]) + int(part[14]), part[17], part[19], part[21], files, word(comm, 30)) + fresh)  # fmt: skip
        size += len(lines[-1]) + 1
    before = now
    for name in [each for each in limits if before.get(each[0], (0,))[0] != each]:
        del limits[name]
    yield "processes", b"\n".join(lines)
    yield "threads", "\n".join(threads).encode()
    yield "niced", " ".join(niced).encode()
    if left_out:
        yield "left_out", b"%d" % left_out


def services():
    root, new = "/sys/fs/cgroup", os.path.exists("/sys/fs/cgroup/cgroup.controllers")
    bases = [root] if new else ["/sys/fs/cgroup/cpuacct", "/sys/fs/cgroup/memory"]
    units = {each[len(base) + 1 :] for base in bases for form in UNITS for each in glob.glob(form.format(base)) if each.endswith((".service", ".scope"))}  # fmt: skip
    for unit in ["", *sorted(units)[:400]]:
        for form, *begins in V2 if new else V1:
            path = (
                os.path.join(root, unit, form)
                if new
                else os.path.join(root, form.format(unit)).replace("//", "/")
            )
            if unit or path.endswith("/cpu.stat"):
                yield path, wanted(path, tuple(begins))


def mounts():
    for line in read("/proc/self/mountinfo").split(b"\n"):
        part = line.partition(b" - ")[2].split()
        if part and part[0] in DISKS:  # these answer without waiting for another machine
            try:
                room = os.statvfs(line.split()[4].replace(b"\\040", b" ").replace(b"\\134", b"\\"))
                yield b"%d %d %s" % (room.f_blocks, room.f_bavail, line)
            except OSError:
                pass


def disks():
    for path in glob.glob("/sys/block/*"):
        parts = [
            os.path.basename(os.path.dirname(each)) for each in glob.glob(path + "/*/partition")
        ]
        yield " ".join([os.path.basename(path), *parts, *listed(path + "/slaves")]).encode()


def frame(turn, every, seldom):
    for path, *begins in FAST:
        yield path, wanted(path, tuple(begins), True)
    if turn == 0:
        yield "self", b"%d %d %d" % (os.getpid(), os.sysconf("SC_PAGE_SIZE"), TICKS)
        yield "pid_namespace", os.readlink("/proc/self/ns/pid").encode()
        yield "model", read("/proc/cpuinfo").partition(b"model name")[2].partition(b"\n")[0]
        yield "disks", b"\n".join(disks())
        for path in (each for form in ONCE for each in glob.glob(form)):
            yield path, read(path)
    if turn % every == 0:
        yield from processes(every * step, turn % seldom == 0)
        yield from services()
        if turn % seldom == 0:
            yield "mounts", b"\n".join(mounts())
            for path in (each for form in SLOW for each in glob.glob(form)):
                yield path, read(path)


def main():
    os.nice(19)
    signal.alarm(lease)  # ends this program, also while nobody takes its output
    turn, due, rest = 0, time.monotonic(), b""
    while True:
        wait = due - time.monotonic()
        if select.select([0], [], [], max(wait, 0))[0]:
            asked = os.read(0, 4096)
            if not asked:
                return
            signal.alarm(lease)
            *lines, rest = (rest[-100:] + asked).split(b"\n")
            for line in lines:
                if line.startswith(b"Q "):
                    os.write(2, line[:40] + b" %.6f\n" % time.time())
            continue
        every = max(1, round(look * (2 if len(before) > 1000 else 1) / step))
        at, uptime = time.time(), time.clock_gettime(7)
        parts = []
        seldom = every * max(1, round(2 * look / step / every))
        for path, data in frame(turn, every, seldom):
            if data:
                parts += [b"%d " % len(data), os.fsencode(path).replace(b"\n", b"?"), b"\n", data]
        packed = zlib.compress(b"".join(parts), 1)
        packed = (
            b"perfdash F %d %.6f %.3f %.4f\n" % (len(packed), at, uptime, time.process_time())
            + packed
        )
        while packed:
            packed = packed[os.write(1, packed) :]
        turn, due = turn + 1, max(due + step, time.monotonic() - step)


if __name__ == "__main__":
    main()
