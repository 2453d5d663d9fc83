"""The commands that run on the target: fixed texts, to which nothing of a person's is added. Pure."""

import shlex
from pathlib import Path

LEASE_SECONDS = 90
"""Without a line from the worker, after which the program ends by itself."""
LOOK_SECONDS, SHELL_LOOK_SECONDS = 5.0, 10.0
"""Between two looks at processes and services; disks every second look, and above 1,000 processes all of it. `sh` starts
programs for it: so half as often."""
PROGRAM = Path(__file__).with_name("on_target.py").read_text(encoding="utf-8")
CHOOSE = (
    "for each in python3 /usr/libexec/platform-python; do "
    '"$each" -ISc "import sys, zlib; sys.exit(sys.version_info < (3, 6))" 2>/dev/null '
    '&& { echo "perfdash $each"; exit; }; done; echo "perfdash sh"'
)
"""Prints what can run the program: python3, or that of Enterprise Linux 8 that is not in the path; else sh."""
CHOICES = ("python3", "/usr/libexec/platform-python", "sh")
TIMERS = (
    "export LC_ALL=C TZ=UTC; echo 'perfdash timers'; "
    "systemctl list-timers --all --no-legend --no-pager --output=json 2>/dev/null; "
    "echo; echo 'perfdash services'; systemctl show '*.service' --no-pager "
    "--property=Id,NRestarts,ActiveEnterTimestampMonotonic,ActiveState 2>/dev/null; "
    "echo; echo 'perfdash cron'; grep -asE '^[^#]' /etc/crontab /etc/cron.d/* /var/spool/cron/* /var/spool/cron/crontabs/* "
    "2>/dev/null; echo; echo 'perfdash zone'; unset TZ; date +%z"
)
"""Prints timers, when services were started, and crontabs that this user may read."""
FAST = (
    "/proc/stat /proc/pressure/cpu /proc/pressure/memory /proc/pressure/io /proc/meminfo /proc/vmstat "
    "/proc/diskstats /proc/net/dev /proc/net/netstat /proc/net/snmp /proc/net/sockstat /proc/loadavg"
)
LINES = (
    "^( |[0-9]|cpu|ctxt|btime|processes|procs_|some|full|MemTotal|MemAvail|SwapT|SwapF|Dirty|pswp|pgmajf|pgscan_direct|"
    "allocstall|workingset_refault|oom_kill |Tcp|TCP|[^ ]+: *[0-9]+ +[0-9]+ +[0-9]+ )"
)
STAT = r"^[0-9]+ \(.*\) [A-Za-z]( -?[0-9]+){21}"
UNIT_LINES = (
    "^([0-9]|usage_usec|nr_|throttled|inactive_file|total_inactive_file|oom_kill |some|full|Total)"
)
PLACES = ("system.slice/*.service", "system.slice/*.slice/*.service", "machine.slice/*.scope")
V2 = (
    *("cpu.stat", "memory.current", "memory.stat", "memory.events", "io.stat"),
    *("cpu.pressure", "memory.pressure", "io.pressure"),
)
V1 = (
    *("cpuacct/{}/cpuacct.usage", "cpu/{}/cpu.stat", "memory/{}/memory.usage_in_bytes"),
    *("memory/{}/memory.stat", "memory/{}/memory.oom_control"),
    "blkio/{}/blkio.throttle.io_service_bytes",
)
_ROOT = "/sys/fs/cgroup"
_UNITS_V2 = " ".join(f"{_ROOT}/{place}/{name}" for place in PLACES for name in V2)
_UNITS_V1 = " ".join(f"{_ROOT}/{name.format(place)}" for place in PLACES for name in V1)
# Two processes: one reads questions and ends the other with standard input; the other prints frames. Each line of a
# file has its path before it (grep prints that for several files), so that no content can look like another file.
# The token came by standard input: nobody on the target can know it.
SHELL = f"""
read -r token || exit 1
LC_ALL=C; export LC_ALL
step=$1 every=$2 turn=0 nap=
loop() {{
  trap 'kill $nap 2>/dev/null; exit' TERM
  while :; do
    read -r up _ </proc/uptime; now=$(date +%s.%N); read -r later _ </proc/uptime
    echo "$token F $now $up $later"
    grep -asE '{LINES}' {FAST}
    if [ $turn -eq 0 ]; then
      echo "$token S self"; echo "$$ $(getconf PAGESIZE 2>/dev/null || echo 4096) $(getconf CLK_TCK 2>/dev/null || echo 100)"
      echo "$token S pid_namespace"; readlink /proc/self/ns/pid
      echo "$token S sys"; ls -d /sys/block/*/ /sys/block/*/slaves/* /sys/block/*/*/partition 2>/dev/null
      echo "$token S model"; grep -as 'model name' /proc/cpuinfo | head -n 1
      echo "$token S"; grep -as '' /proc/sys/kernel/osrelease /proc/sys/kernel/random/boot_id \\
        /proc/sys/net/ipv4/ip_local_port_range /etc/os-release /sys/class/net/*/speed
    fi
    if [ $((turn % every)) -eq 0 ]; then
      set -- /proc/[0-9]*/stat
      echo "$token S"; grep -asoE '{STAT}' "$@"
      set -- /proc/[0-9]*/cgroup
      [ $((turn % (4 * every))) -ne 0 ] || grep -asE '(^0:|:name=systemd):' "$@"
      if [ -e {_ROOT}/cgroup.controllers ]; then grep -asE '{UNIT_LINES}' {_ROOT}/cpu.stat {_UNITS_V2}
      else grep -asE '{UNIT_LINES}' {_ROOT}/cpu/cpu.stat {_UNITS_V1}; fi
      grep -as '' /proc/sys/fs/file-nr /proc/mdstat /proc/self/mountinfo /sys/devices/system/cpu/cpu*/cpufreq/scaling_cur_freq \\
        /sys/devices/system/cpu/cpu*/thermal_throttle/*_throttle_count /sys/block/dm-*/dm/uuid /sys/block/*/device/ioerr_cnt
      echo "$token S df"; df -Pkl 2>/dev/null
    fi
    echo "$token E"
    turn=$((turn + 1))
    sleep "$step" & nap=$!
    wait $nap
  done
}}
loop "$@" </dev/null &
job=$!
while read -r letter number; do
  [ "$letter" != Q ] || echo "Q $number $(date +%s.%N)" >&2
done
kill $job
"""


def sampler(choice: str, step_seconds: float) -> str:
    """Return the command that prints frames. choice: of CHOICES. Nothing that the target sent is in it."""
    if choice == "sh":
        every = max(1, round(SHELL_LOOK_SECONDS / step_seconds))
        return shlex.join(
            ["nice", "-n", "19", "sh", "-c", SHELL, "sh", f"{step_seconds:g}", str(every)]
        )
    if choice not in CHOICES:
        raise ValueError(choice)
    numbers = (f"{step_seconds:g}", str(LEASE_SECONDS), f"{LOOK_SECONDS:g}")
    return shlex.join([choice, "-ISc", PROGRAM, *numbers])
