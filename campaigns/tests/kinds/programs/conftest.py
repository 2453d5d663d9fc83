import threading
import urllib.request
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from campaigns.kinds.programs import manifest
from campaigns.kinds.programs.program import Outcome, run_program
from campaigns.kit.network import Rules, parse_rules


def request_for(url: str, directory: Path, **changes: Any) -> dict[str, Any]:
    """Give the request of a downloader engine for the manifest at `url`."""
    if "files" not in changes:
        with urllib.request.urlopen(url) as response:  # noqa: S310
            changes["files"] = [
                [entry.name, entry.sha256, entry.size] for entry in manifest.parse(response.read())
            ]
    rules = changes.pop("rules", "127.0.0.1:*")
    rules = rules if isinstance(rules, Rules) else parse_rules(rules)
    return {
        "base_url": url.rpartition("/")[0] + "/",
        "directory": str(directory),
        "rules": rules.to_json(),
        "concurrency": 4,
        "connect_timeout_seconds": 2.0,
        "read_timeout_seconds": 5.0,
        "file_timeout_seconds": 60.0,
        "time_limit_seconds": 30.0,
        "event_loop": "asyncio",
        "hashing": "loop",
        "http_version": "automatic",
        "processes": "automatic",
        "sender": "perfdash attempt/7",
        "most_concurrent": None,
        "most_per_second": None,
        "only_describe": False,
    } | changes


Download = Callable[..., Outcome]


ENGINES = ("asyncio", "futures", "curl")


@pytest.fixture(params=ENGINES)
def engine(request) -> str:
    return f"campaigns.kinds.downloader.engines.{request.param}"


@pytest.fixture
def download(engine: str, tmp_path: Path) -> Download:
    """Run an engine on a manifest's URL; keywords change the request, or say when it is cancelled."""

    def run(url: str, cancelled: threading.Event | None = None, **changes: Any) -> Outcome:
        return run_program(
            changes.pop("engine", engine),
            request_for(url, changes.pop("directory", tmp_path), **changes),
            cancelled=cancelled or threading.Event(),
            lease_seconds=lambda: 30.0,
            deadline_seconds=30.0,
        )

    return run
