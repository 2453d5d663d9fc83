"""Run a command within namespaces of its own, and say how it ended. Executed as a file; standard library only.

`python -I -S inside.py TELLS GIVEN ARGUMENTS`: the environment of the command is read from the descriptor GIVEN, as JSON, so that it
reaches nothing but the command. One line of JSON is written to the descriptor TELLS before the namespaces end, and all that is
in them. Instants are of the monotonic clock, which all namespaces share.
"""

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress


def main() -> None:
    """Run the command, count what it leaves, and report."""
    descriptor, arguments = int(sys.argv[1]), sys.argv[3:]
    with os.fdopen(int(sys.argv[2]), encoding="utf-8") as given:
        environment = json.load(given)
    begun = time.monotonic()
    try:
        process = subprocess.Popen(arguments, env=environment)  # noqa: S603 - an operator has defined it
    except OSError as error:
        report(descriptor, {"not_started": f"{error.strerror or error}"})
        return
    _, status, usage = os.wait4(process.pid, 0)
    report(
        descriptor,
        {
            "status": status,
            "seconds": time.monotonic() - begun,
            "cpu_seconds": usage.ru_utime + usage.ru_stime,
            "left": end_others(),
        },
    )


def report(descriptor: int, told: dict[str, object]) -> None:
    """Write what is told, as one line."""
    os.write(descriptor, json.dumps(told).encode() + b"\n")


def end_others() -> list[str]:
    """Kill all other processes of the namespace but its first one; return their names."""
    names = []
    for name in os.listdir("/proc"):
        if not name.isdecimal() or int(name) in (1, os.getpid()):
            continue
        with suppress(OSError, ValueError, IndexError):
            with open(f"/proc/{name}/stat", "rb") as file:
                if file.read().rpartition(b")")[2].split()[0] in (b"Z", b"X"):
                    continue
            with open(f"/proc/{name}/comm", encoding="utf-8", errors="replace") as file:
                names.append(file.read().strip())
            os.kill(int(name), signal.SIGKILL)
    return names


if __name__ == "__main__":
    main()
