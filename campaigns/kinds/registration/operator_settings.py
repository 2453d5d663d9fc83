"""What no API tells of a Foreman: typed in by its operator, or unknown, and marked as which. Pure."""

import re
from collections.abc import Mapping
from typing import Any

NOT_READABLE = (
    "puma_workers", "puma_threads", "db_pool", "db_connections", "httpd_workers",
    "candlepin_java_opts", "dynflow_workers", "tuning_profile", "cpus", "memory_gib",
)  # fmt: skip
TYPED_IN, UNKNOWN = "typed in by the operator", "unknown: no API tells it"
SET = "set and read back by perfdash: see the settings of each run"
WRITTEN = re.compile(rf"\b({'|'.join(NOT_READABLE)})\b\s*[=:]?\s*([\w.+-]+)", re.IGNORECASE)


def typed_in(settings: Mapping[str, Any], hardware: str) -> dict[str, Any]:
    """Return what the operator says: the target's settings, and before them words like “puma_workers 4”."""
    words = {match[1].lower(): match[2].rstrip(".") for match in WRITTEN.finditer(hardware)}
    told = {name: settings[name] for name in NOT_READABLE if _is_there(settings, name)}
    return words | told


def told_by_operator(typed: Mapping[str, Any], wanted: Mapping[str, Any]) -> dict[str, str]:
    """Return each of them with where it comes from; wanted: settings that a run puts in force."""

    def told(name: str) -> str:
        if name in wanted:
            return SET
        return f"{typed[name]} ({TYPED_IN})" if name in typed else UNKNOWN

    return {name: told(name) for name in NOT_READABLE}


def _is_there(settings: Mapping[str, Any], name: str) -> bool:
    value = settings.get(name)
    return value not in (None, "") and not isinstance(value, dict | list)
