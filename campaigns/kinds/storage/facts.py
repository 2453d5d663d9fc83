"""Facts of a machine by SSH, of which tuning guides speak: one short script, no change. Pure.

Clock skew, tuned profile, transparent huge pages, governor: Satellite performance tuning guide 4.2, 4.3, 5.6.
"""

from collections.abc import Mapping

SCRIPT = r"""
say() { printf '%s=%s\n' "$1" "$2"; }
say kernel "$(uname -srm)"
say ram_bytes "$(awk '/^MemTotal:/ {printf "%.0f", $2 * 1024}' /proc/meminfo)"
say clock "$(date +%s.%N)"
if command -v tuned-adm >/dev/null; then
  say tuned "$(tuned-adm active 2>/dev/null | sed -n 's/^Current active profile: //p')"
else
  say tuned "not installed"
fi
say huge_pages "$(sed 's/.*\[\(.*\)\].*/\1/' /sys/kernel/mm/transparent_hugepage/enabled 2>/dev/null)"
say governor "$(cat /sys/devices/system/cpu/cpu*/cpufreq/scaling_governor 2>/dev/null | sort -u | paste -sd, -)"
say fio "$(fio --version 2>/dev/null)"
if [ -n "$1" ]; then
  [ -d "$1" ] && [ -w "$1" ] && say directory writable || say directory "no directory that this user may write"
  say device "$(findmnt -n -o SOURCE -T "$1" 2>/dev/null)"
  say file_system "$(findmnt -n -o FSTYPE -T "$1" 2>/dev/null)"
  say free_bytes "$(df -PB1 "$1" 2>/dev/null | awk 'NR == 2 {print $4}')"
fi
"""
UNKNOWN = "unknown"


def read_facts(printed: str) -> dict[str, str]:
    """Return the facts by name; what the machine does not say is UNKNOWN."""
    pairs = (line.partition("=") for line in printed.splitlines() if "=" in line)
    return {name: text.strip() or UNKNOWN for name, _, text in pairs}


def number_of(facts: Mapping[str, str], name: str) -> float | None:
    """Return a fact as a number; None where it is none."""
    try:
        return float(facts.get(name, ""))
    except ValueError:
        return None
