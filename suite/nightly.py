"""Runs the tests that take too long for every check, and records what they said.

A nightly test guards paths of the repository (`nightly.toml`). What has passed stays passed as long as none of them, nor
the test, has changed; what has changed since is *due*. Continuous integration runs what is due.
Usage: python -m suite.nightly [--due [--minutes N] | --last] [--list] [PATH …] [-- pytest's arguments]
"""

import argparse
import hashlib
import json
import os
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from math import inf
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
TABLE = Path(__file__).with_name("nightly.toml")
RECORD = Path(__file__).with_name("nightly.json")
COUNTS = "PERFDASH_NIGHTLY_COUNTS"
"""The environment variable that names the file into which a run of pytest writes what it counted."""
WHOLE = "e2e/"
"""Tests below start a whole perfdash or take the machine for themselves: each entry is a run of its own."""
UNKNOWN_SECONDS = 600.0
"""What an entry is taken to need that has never been run."""
NO_TESTS = 5


@dataclass(frozen=True)
class Result:
    """What the last run of an entry said."""

    at: str
    """UTC, ISO 8601, to the minute."""
    passed: int
    failed: int
    skipped: int
    seconds: float
    digest: str
    """Of the files that it guards, and of its own, as they were."""

    @property
    def good(self) -> bool:
        return self.passed > 0 and self.failed == 0


def guarded_paths() -> dict[str, list[str]]:
    """Return what each file or folder of nightly tests guards."""
    return tomllib.loads(TABLE.read_text(encoding="utf-8"))


def entry_of(path: str, table: Iterable[str]) -> str | None:
    """Return the longest entry that a test's file lies in."""
    found = [entry for entry in table if path == entry or path.startswith(f"{entry}/")]
    return max(found, key=len, default=None)


def require_guards(items: Iterable[pytest.Item]) -> None:
    """Raise pytest.UsageError if a nightly test belongs to no entry of the table."""
    table = guarded_paths()
    files = {item.nodeid.partition("::")[0] for item in items if item.get_closest_marker("nightly")}
    if missing := sorted(file for file in files if not entry_of(file, table)):
        raise pytest.UsageError(
            f"Nightly tests that guard nothing: {', '.join(missing)}. Say in suite/nightly.toml which paths they guard."
        )


def recorded() -> dict[str, Result]:
    """Return the last result of each entry that was ever run."""
    if not RECORD.exists():
        return {}
    stored = json.loads(RECORD.read_text(encoding="utf-8"))
    return {entry: Result(**result) for entry, result in stored.items()}


def record(results: Mapping[str, Result]) -> None:
    """Write the results of a run over those of earlier ones; forget entries that have gone."""
    there = guarded_paths()
    merged = {entry: each for entry, each in (recorded() | dict(results)).items() if entry in there}
    text = json.dumps({entry: asdict(merged[entry]) for entry in sorted(merged)}, indent=1)
    RECORD.write_text(text + "\n", encoding="utf-8")


def digest_of(entry: str, paths: Sequence[str], root: Path = ROOT) -> str:
    """Return a digest of the tracked files below the paths and of the tests, as they lie there now."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--", *paths, entry],
        cwd=root,
        capture_output=True,
        check=True,
        text=True,
    )
    digest = hashlib.sha256()
    for name in sorted(filter(None, listed.stdout.split("\0"))):
        file = root / name
        content = file.read_bytes() if file.is_file() else b""
        digest.update(f"{name}\0{hashlib.sha256(content).hexdigest()}\n".encode())
    return digest.hexdigest()[:16]


def due_entries() -> list[str]:
    """Return the entries that have not passed with the files as they are."""
    last = recorded()
    return [
        entry
        for entry, paths in guarded_paths().items()
        if entry not in last
        or not last[entry].good
        or last[entry].digest != digest_of(entry, paths)
    ]


def within(entries: Sequence[str], minutes: float) -> tuple[list[str], list[str]]:
    """Divide entries into those that fit into so many minutes, the shortest first, and the others."""
    last = recorded()
    seconds = {
        entry: last[entry].seconds if entry in last else UNKNOWN_SECONDS for entry in entries
    }
    fitting: list[str] = []
    left: list[str] = []
    total = 0.0
    for entry in sorted(entries, key=seconds.__getitem__):
        total += seconds[entry]
        (fitting if total <= minutes * 60 else left).append(entry)
    return fitting, left


def write_counts(reports: Iterable[tuple[str, str, float]]) -> None:
    """Write outcome and seconds of each phase of each test where a nightly run asked for them."""
    if place := os.environ.get(COUNTS):
        Path(place).write_text(json.dumps(list(reports)), encoding="utf-8")


def run(entries: Sequence[str], arguments: Sequence[str]) -> int:
    """Run the entries, record each as soon as it has ended, and return the exit code."""
    whole = [[entry] for entry in entries if entry.startswith(WHOLE)]
    others = [entry for entry in entries if not entry.startswith(WHOLE)]
    status = 0
    for together in [*([others] if others else []), *whole]:
        workers = str(os.cpu_count() or 1) if together == others and len(others) > 1 else "0"
        status = max(status, _run_together(together, ["--numprocesses", workers, *arguments]))
    return status


def _run_together(entries: Sequence[str], arguments: Sequence[str]) -> int:
    table = guarded_paths()
    digests = {entry: digest_of(entry, table[entry]) for entry in entries}
    pytest_command = [sys.executable, "-m", "pytest", "-m", "nightly", "--dist", "loadfile"]
    with tempfile.NamedTemporaryFile("r", prefix="perfdash-nightly-") as counts:
        done = subprocess.run(
            [
                *(sys.executable, "-m", "perfdash.local", "run"),
                *(*pytest_command, *arguments, *entries),
            ],
            cwd=ROOT,
            env={**os.environ, COUNTS: counts.name},
        )
        written = counts.read()
    reports = json.loads(written) if written else []
    if not any(argument.startswith("-k") for argument in arguments):
        record(
            {entry: _result(entry, reports, digests[entry], done.returncode) for entry in entries}
        )
    return 0 if done.returncode == NO_TESTS else done.returncode


def _result(
    entry: str, reports: Sequence[tuple[str, str, float]], digest: str, code: int
) -> Result:
    own = [each for each in reports if entry_of(each[0].partition("::")[0], [entry])]
    ends = {outcome: {node for node, said, _ in own if said == outcome} for outcome in OUTCOMES}
    interrupted = int(code not in {0, 1, NO_TESTS})
    return Result(
        at=datetime.now(UTC).strftime("%Y-%m-%dT%H:%MZ"),
        passed=len(ends["passed"]),
        failed=len(ends["failed"] | ends["error"]) + interrupted,
        skipped=len(ends["skipped"]),
        seconds=round(sum(seconds for _, _, seconds in own), 1),
        digest=digest,
    )


OUTCOMES = ("passed", "failed", "error", "skipped")


def table_of_results() -> str:
    """Return the last result of each entry as lines of text."""
    last, due = recorded(), set(due_entries())
    wide = max(map(len, guarded_paths()))
    lines = [f"{'tests':{wide}}  passed failed skipped minutes  when (UTC)         since"]
    for entry in guarded_paths():
        since = "due: what it guards has changed" if entry in due else "nothing has changed"
        if (result := last.get(entry)) is None:
            lines.append(f"{entry:{wide}}  was never run here")
            continue
        lines.append(
            f"{entry:{wide}}  {result.passed:6} {result.failed:6} {result.skipped:7}"
            f" {result.seconds / 60:7.1f}  {result.at:18}  {since if result.good else 'due: it did not pass'}"
        )
    return "\n".join(lines)


def main(words: Sequence[str]) -> int:
    """Do what the command line says and return the exit code."""
    split = words.index("--") if "--" in words else len(words)
    parser = argparse.ArgumentParser(prog="script/test --nightly")
    parser.add_argument("--due", action="store_true", help="only what has not passed as it is now")
    parser.add_argument(
        "--minutes", type=float, default=inf, help="with --due: leave out what does not fit"
    )
    parser.add_argument("--list", action="store_true", help="print what would be run")
    parser.add_argument("--last", action="store_true", help="run nothing, print the last results")
    parser.add_argument("paths", nargs="*")
    options = parser.parse_args(words[:split])
    if options.last:
        sys.stdout.write("" if options.list else table_of_results() + "\n")
        return 0
    table = guarded_paths()
    entries = list(table)
    if options.paths:
        wanted = [path.rstrip("/") for path in options.paths]
        entries = [entry for entry in table if any(entry_of(entry, [path]) for path in wanted)]
        if not entries:
            sys.stderr.write(f"No nightly tests there; there are {', '.join(table)}.\n")
            return 2
    left: list[str] = []
    if options.due:
        due = set(due_entries())
        entries, left = within([each for each in entries if each in due], options.minutes)
    if options.list:
        sys.stdout.writelines(f"{entry}\n" for entry in entries)
        return 0
    if options.due:
        sys.stdout.write(f"Nightly tests that are due: {', '.join(entries) or 'none'}.\n")
        if left:
            sys.stdout.write(f"Due, but left to the night: {', '.join(left)}.\n")
        sys.stdout.flush()
    return run(entries, words[split + 1 :])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
