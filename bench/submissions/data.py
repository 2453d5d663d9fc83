"""The submitted numbers: builds of many tests, the same for both servers."""

import json
from datetime import UTC, datetime, timedelta
from random import Random
from typing import Any

TESTS = 1000
BEGINNING = datetime(2026, 1, 1, tzinfo=UTC)
NAMES = tuple(f"suite/group{number // 50:02d}/test{number:04d}" for number in range(TESTS))
BUILD_MINUTES = 10


def values_of(build: int) -> list[float]:
    """Seconds that each test took: scattered by 2 % around its own."""
    random = Random(build)
    return [round((1 + 0.01 * n) * random.lognormvariate(0, 0.02), 6) for n in range(TESTS)]


def began(build: int) -> datetime:
    return BEGINNING + timedelta(minutes=BUILD_MINUTES * build)


def ended(build: int) -> datetime:
    return began(build) + timedelta(minutes=BUILD_MINUTES - 1)


def metrics() -> dict[str, Any]:
    return {name: {"unit": "s", "lower_is_better": True} for name in NAMES}


def wide_run(build: int) -> dict[str, Any]:
    """A build as one run: its tests are metrics."""
    return {
        "id": f"build-{build}",
        "tags": {},
        "values": dict(zip(NAMES, values_of(build), strict=True)),
        "started_at": began(build).isoformat(),
        "finished_at": ended(build).isoformat(),
    }


def wide(name: str, builds: range) -> dict[str, Any]:
    """A campaign of whole builds."""
    return {
        "id": name,
        "campaign": {"question": f"Do builds stay as fast? {name}", "name": name},
        "metrics": metrics(),
        "runs": [wide_run(build) for build in builds],
    }


def narrow_run(build: int, test: int, value: float) -> dict[str, Any]:
    """One test of a build as a run of its own: one value."""
    return {
        "tags": {"test": NAMES[test]},
        "values": {"duration": value},
        "started_at": began(build).isoformat(),
    }


def narrow(name: str, builds: range, tests: range) -> dict[str, Any]:
    """A campaign of single values; a case is a test."""
    return {
        "id": name,
        "campaign": {"question": f"Do tests stay as fast? {name}", "name": name},
        "metrics": {"duration": {"unit": "s", "lower_is_better": True}},
        "runs": [
            narrow_run(build, test, values[test])
            for build in builds
            for values in [values_of(build)]
            for test in tests
        ],
    }


def lnt_report(machine: str, build: int, tests: range) -> dict[str, Any]:
    """A build as LNT takes it, format 2."""
    values = values_of(build)
    return {
        "format_version": "2",
        "machine": {"name": machine},
        "run": {
            "start_time": began(build).strftime("%Y-%m-%dT%H:%M:%S"),
            "end_time": ended(build).strftime("%Y-%m-%dT%H:%M:%S"),
            "llvm_project_revision": str(1000 + build),
        },
        "tests": [{"name": NAMES[test], "execution_time": values[test]} for test in tests],
    }


def packed(document: Any) -> bytes:
    return json.dumps(document).encode()
