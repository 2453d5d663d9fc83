"""Plant one fault in a copy of the product, and run tests there."""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from time import monotonic
from typing import NamedTuple

from bench.mistakes.faults import Fault

ROOT = Path(__file__).resolve().parent.parent.parent
QUICK = "unit or db"
PASSED, FAILED, NOT_COLLECTED, NOTHING_THERE = 0, 1, 2, 5
LONGEST_TEST_SECONDS = 900


class NotThere(LookupError):
    """A fault cannot be planted: its file, its text or its tests are not there any more."""


class TestsBroken(RuntimeError):
    """pytest ended without a result."""


class Ran(NamedTuple):
    """The tests that failed, and how long all of them took by the clock."""

    failed: list[str]
    seconds: float


class Copy:
    """A copy of the product at one commit. Tests run on the database of this process, which is migrated once."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @contextmanager
    def planted(self, fault: Fault) -> Iterator[None]:
        """Plant a fault, and take it out again. Raise NotThere."""
        file = self.path / fault.file
        if not file.exists():
            raise NotThere(f"{fault.file} is not there any more")
        text = file.read_text(encoding="utf-8")
        if (times := text.count(fault.before)) != 1:
            raise NotThere(f"{fault.file} has {times} times, not once: {fault.before}")
        file.write_text(text.replace(fault.before, fault.after), encoding="utf-8")
        try:
            yield
        finally:
            file.write_text(text, encoding="utf-8")

    def existing(self, paths: Sequence[str]) -> list[str]:
        """Return the paths of tests that exist here. Raise NotThere if none does."""
        found = [path for path in paths if (self.path / path.partition("::")[0]).exists()]
        if not found:
            raise NotThere(f"there are no tests any more: {', '.join(paths)}")
        return found

    def test(self, paths: Sequence[str] = (), *, to_the_end: bool = False) -> Ran:
        """Run the quick tests of some paths, or all, in one process and in their order, until one fails.

        Raise TestsBroken.
        """
        record = self.path / ".pytest_cache/v/cache/lastfailed"
        record.unlink(missing_ok=True)
        started = monotonic()
        done = subprocess.run(  # noqa: S603 - tests of this repository
            [
                *(sys.executable, "-m", "pytest", "-q", "-p", "no:randomly", "-m", QUICK),
                *("--reuse-db", "--tb", "short", "--timeout", str(LONGEST_TEST_SECONDS)),
                *([] if to_the_end else ["-x"]),
                *paths,
            ],
            cwd=self.path,
            env={**os.environ, "PYTHONPATH": str(self.path)},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        seconds = monotonic() - started
        if done.returncode in (FAILED, NOT_COLLECTED) and record.exists():
            return Ran(sorted(json.loads(record.read_text())), seconds)
        if done.returncode not in (PASSED, NOTHING_THERE):
            raise TestsBroken(
                f"pytest ended with {done.returncode}: {' '.join(done.stdout[-300:].split())}"
            )
        return Ran([], seconds)


@contextmanager
def copy_of(commit: str) -> Iterator[Copy]:
    """Make a working tree of a commit in a temporary directory, and remove it."""
    with tempfile.TemporaryDirectory(prefix="perfdash-planted-") as directory:
        path = Path(directory) / "tree"
        git = ["git", "-C", str(ROOT), "worktree"]
        add, remove = (
            ["add", "--quiet", "--detach", str(path), commit],
            ["remove", "--force", str(path)],
        )
        subprocess.run([*git, *add], check=True)  # noqa: S603
        try:
            yield Copy(path)
        finally:
            subprocess.run([*git, *remove], check=True)  # noqa: S603
