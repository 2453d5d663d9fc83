"""Tries the tests that failed in the last run once more, alone.

They have to be few, and none of a quick tier: programs and browsers share the machine with each other, those
do not. Exit code 1 where one fails again, or where they may not be tried.
"""

import json
import subprocess
import sys
from pathlib import Path

MOST = 3
NOTHING_COLLECTED = 5


def main() -> int:
    """Give the exit code."""
    record = Path(".pytest_cache/v/cache/lastfailed")
    if not record.exists():
        return 1
    failed = list(json.loads(record.read_text()))
    pytest = [sys.executable, "-m", "pytest"]
    quick = [*pytest, "--collect-only", "--quiet", "-m", "unit or db", *failed]
    if len(failed) > MOST:
        return 1
    if subprocess.run(quick, stdout=subprocess.DEVNULL).returncode != NOTHING_COLLECTED:
        return 1
    print("Tried once more, alone, since they failed beside others:", *failed, sep="\n  ")
    return min(1, subprocess.run([*pytest, *failed]).returncode)


if __name__ == "__main__":
    sys.exit(main())
