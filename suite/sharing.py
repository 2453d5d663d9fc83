"""Shares the files of tests between workers, the longest first, by the durations of the last run."""

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import pytest
from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

KEPT = Path(__file__).with_name("seconds.json")
"""Seconds by file, for a checkout that has not run the tests; `script/test --all --keep-durations` writes it."""
CACHE = "perfdash/seconds"
"""The key of pytest's cache under which the last run of this checkout is."""
FEW_SECONDS = 1.0
"""Files below are not kept: they fill gaps."""
TOGETHER = ("campaigns/tests/upgrade",)
"""Folders whose tests share what takes seconds to make: one worker gets them all."""


def file_of(nodeid: str) -> str:
    """Return the file of a test."""
    return nodeid.partition("::")[0]


def scope_of(nodeid: str) -> str:
    """Return what one worker gets as a whole: the file of a test, or its folder."""
    file = file_of(nodeid)
    return next((folder for folder in TOGETHER if below(file, [folder])), file)


def below(path: str, paths: Iterable[str]) -> bool:
    """Say whether a path is one of those, or lies below one."""
    return any(path == each or path.startswith(f"{each}/") for each in paths)


def seconds_by_file(reports: Iterable[Any]) -> dict[str, float]:
    """Sum up setup, call and teardown of each test by its file."""
    seconds: dict[str, float] = {}
    for report in reports:
        if hasattr(report, "duration") and hasattr(report, "nodeid"):
            file = file_of(report.nodeid)
            seconds[file] = seconds.get(file, 0.0) + report.duration
    return seconds


def kept_seconds() -> dict[str, float]:
    """Return the seconds by file that the repository has."""
    return dict(json.loads(KEPT.read_text(encoding="utf-8")))


def known_seconds(config: pytest.Config) -> dict[str, float]:
    """Return the seconds by file of the last run here, else those that the repository has."""
    cache = getattr(config, "cache", None)
    return kept_seconds() | (cache.get(CACHE, {}) if cache else {})


def remember(config: pytest.Config, seconds: Mapping[str, float]) -> None:
    """Store what this run took; files that it did not run keep their seconds."""
    cache = getattr(config, "cache", None)
    if cache and seconds:
        rounded = {file: round(value, 2) for file, value in seconds.items()}
        cache.set(CACHE, cache.get(CACHE, {}) | rounded)


def keep(seconds: Mapping[str, float]) -> None:
    """Write the seconds of the longer files into the repository, without those of files that have gone."""
    root = KEPT.parent.parent
    new = {file: round(value, 1) for file, value in seconds.items() if value >= FEW_SECONDS}
    there = {file: value for file, value in sorted(new.items()) if (root / file).exists()}
    KEPT.write_text(json.dumps(there, indent=0) + "\n", encoding="utf-8")


class ByFile(LoadScopeScheduling):  # type: ignore[misc]
    """Gives a worker whole files, the longest first, so that no long one is left to the end."""

    def __init__(self, config: pytest.Config, log: Any) -> None:
        super().__init__(config, log)
        self.seconds: dict[str, float] = {}
        for file, seconds in known_seconds(config).items():
            scope = scope_of(file)
            self.seconds[scope] = self.seconds.get(scope, 0.0) + seconds

    def _split_scope(self, nodeid: str) -> str:
        return scope_of(nodeid)

    def _assign_work_unit(self, node: Any) -> None:
        longest = max(self.workqueue, key=lambda scope: self.seconds.get(scope, 0.0))
        self.workqueue.move_to_end(longest, last=False)
        super()._assign_work_unit(node)
