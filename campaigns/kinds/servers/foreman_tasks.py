"""Tasks of Foreman, as its API shows them. Pure.

In foreman-tasks 13 with dynflow, instants are texts of whole seconds in the user's time zone, such as
“2026-11-21 09:00:00 UTC”; some versions send ISO 8601 with a fraction. Newer versions have `duration`, a
number of seconds as a text, with milliseconds where dynflow stored them. A paused task keeps its locks.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from campaigns.kit.http.errors import Strange
from campaigns.kit.mappings import Json

INSTANT = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)? ?(UTC|Z|[+-]\d\d:?\d\d)?\Z", re.ASCII
)
LINE = re.compile(r"(.+): (\d+)/(\d+)\Z", re.ASCII)
TOTAL = "Total steps"
WHOLE_SECOND, MILLISECOND = 1.0, 0.001


@dataclass(frozen=True, slots=True)
class ForemanTask:
    """The state of a task of Foreman. Instants are aware; those of the future are None.

    resolution: the greatest error of `seconds`.
    progress: units done and in total, by the label of their line in `text`, the output for people.
    """

    id: str
    label: str
    action: str
    username: str
    state: str
    result: str
    start_at: datetime | None
    started: datetime | None
    ended: datetime | None
    seconds: float | None
    resolution: float
    whole_seconds: bool
    progress: Mapping[str, tuple[int, int]]
    errors: tuple[str, ...]
    text: str
    input: Json
    output: Json

    @property
    def at_rest(self) -> bool:
        """Whether the task has stopped, or is paused after an error: it does not change by itself."""
        return self.state in ("stopped", "paused")

    @property
    def succeeded(self) -> bool:
        """Whether it ended with success, without a warning."""
        return self.state == "stopped" and self.result == "success"

    @property
    def request_id(self) -> str:
        """The X-Request-Id of the request that began it; empty where Foreman does not show it."""
        return str(self.input.get("current_request_id") or "")

    @property
    def queue_seconds(self) -> float | None:
        """Seconds from when it could begin to its start; None where Foreman does not show both."""
        if self.start_at is None or self.started is None:
            return None
        return max(0.0, (self.started - self.start_at).total_seconds())

    @property
    def skips_metadata_check(self) -> bool:
        """Whether Foreman syncs even where the metadata have not changed."""
        options = self.input.get("options")
        skips = self.input.get("skip_metadata_check")
        if isinstance(options, Mapping):
            skips = skips or options.get("skip_metadata_check")
        return bool(skips)

    @property
    def was_skipped(self) -> bool:
        """Whether it had nothing to do, or left out the actions that follow a sync."""
        skipped = (
            done for name, (done, _) in self.progress.items() if "skipping sync" in name.lower()
        )
        return any(skipped) or self.output.get("post_action_skipped") is True

    def done(self, label: str) -> int:
        """Return how many units the line with a label counts; 0 where there is none."""
        return next(
            (done for name, (done, _) in self.progress.items() if name.lower() == label.lower()), 0
        )


def read_task(data: Any) -> ForemanTask:
    """Return the task in an answer of Foreman. Raise Strange."""
    try:
        humanized = data.get("humanized") or {}
        instants = [data.get(name) for name in ("start_at", "started_at", "ended_at")]
        start_at, started, ended = map(instant, instants)
        whole = not any("." in str(text) for text in instants[1:] if text)
        seconds, resolution = _duration(data, started, ended, whole=whole)
        return ForemanTask(
            id=str(data["id"]),
            label=str(data.get("label") or ""),
            action=str(data.get("action") or data.get("label") or ""),
            username=str(data.get("username") or ""),
            state=str(data["state"]),
            result=str(data["result"]),
            start_at=start_at,
            started=started,
            ended=ended,
            seconds=seconds,
            resolution=resolution,
            whole_seconds=whole,
            progress=progress_of(str(humanized.get("output") or "")),
            errors=_texts(humanized.get("errors")),
            text=str(humanized.get("output") or ""),
            input=_mapping(data.get("input")),
            output=_mapping(data.get("output")),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Strange(f"Foreman's answer is no task ({error!r}): {str(data)[:200]}") from None


def instant(text: str | None) -> datetime | None:
    """Parse an instant in any of Foreman's formats. Raise ValueError."""
    if not text:
        return None
    match = INSTANT.match(text)
    if match is None:
        raise ValueError(f"{text!r} is no instant")
    day, time, fraction, zone = match.groups(default="")
    zone = "+00:00" if zone in ("", "UTC", "Z") else zone
    return datetime.fromisoformat(f"{day}T{time}{fraction[:7]}{zone}").astimezone(UTC)


def progress_of(output: str) -> dict[str, tuple[int, int]]:
    """Return the counts in those lines of the output that have them, by label."""
    matches = (LINE.match(line.strip()) for line in output.splitlines())
    return {match[1]: (int(match[2]), int(match[3])) for match in matches if match}


def _duration(
    data: Json, started: datetime | None, ended: datetime | None, *, whole: bool
) -> tuple[float | None, float]:
    """Return the seconds from start to end, None before the end, and their resolution."""
    if started is None or ended is None:
        return None, WHOLE_SECOND
    duration = data.get("duration")
    if duration not in (None, ""):
        seconds = float(str(duration))
        fine = not whole or not seconds.is_integer()
        return seconds, MILLISECOND if fine else WHOLE_SECOND
    return (ended - started).total_seconds(), WHOLE_SECOND if whole else MILLISECOND


def _texts(data: Any) -> tuple[str, ...]:
    each = data if isinstance(data, list) else [data]
    return tuple(" ".join(str(text).split()) for text in each if text)


def _mapping(data: Any) -> Json:
    return data if isinstance(data, Mapping) else {}
