"""Tasks of Foreman, as its API tells them. Pure.

Facts (foreman-tasks 13, dynflow): instants are texts of whole seconds in the user's time zone, such as
“2026-11-21 09:00:00 UTC”; some versions give ISO 8601 with a fraction. `duration` came later, is a
number of seconds as a text, and knows milliseconds where dynflow stored them. A paused task keeps its locks.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

from campaigns.kit.http.errors import Strange

INSTANT = re.compile(
    r"(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d:\d\d)(\.\d+)? ?(UTC|Z|[+-]\d\d:?\d\d)?\Z", re.ASCII
)
LINE = re.compile(r"(.+): (\d+)/(\d+)\Z", re.ASCII)
TOTAL = "Total steps"
WHOLE_SECOND, MILLISECOND = 1.0, 0.001


@dataclass(frozen=True, slots=True)
class ForemanTask:
    """A task of Foreman as it is now; instants are aware, those that have not come are None.

    resolution: seconds that `seconds` may be wrong by.
    progress: units done and in total, by the words of the line that tells them.
    request_id: of the HTTP request that began the task; empty where Foreman does not tell it.
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
    input: Mapping[str, Any]
    output: Mapping[str, Any]

    @property
    def at_rest(self) -> bool:
        """Return whether nothing will change by itself any more: stopped, or paused after an error."""
        return self.state in ("stopped", "paused")

    @property
    def succeeded(self) -> bool:
        """Return whether it came through, without a warning."""
        return self.state == "stopped" and self.result == "success"

    @property
    def request_id(self) -> str:
        """What the request that began it was called."""
        return str(self.input.get("current_request_id") or "")

    @property
    def queue_seconds(self) -> float | None:
        """From when it could begin to its start; None where Foreman does not tell both."""
        if self.start_at is None or self.started is None:
            return None
        return max(0.0, (self.started - self.start_at).total_seconds())

    @property
    def skips_metadata_check(self) -> bool:
        """Return whether Foreman was asked to sync also where the metadata have not changed."""
        options = self.input.get("options")
        asked = self.input.get("skip_metadata_check")
        if isinstance(options, Mapping):
            asked = asked or options.get("skip_metadata_check")
        return bool(asked)

    @property
    def was_skipped(self) -> bool:
        """Return whether it says that there was nothing to do, or left out what follows a sync."""
        lines = (
            done for name, (done, _) in self.progress.items() if "skipping sync" in name.lower()
        )
        return any(lines) or self.output.get("post_action_skipped") is True

    def done(self, words: str) -> int:
        """How many units the line of these words counts; 0 where there is none."""
        return next(
            (done for name, (done, _) in self.progress.items() if name.lower() == words.lower()), 0
        )


def read_task(said: Any) -> ForemanTask:
    """Read what Foreman says of a task. Raise Strange."""
    try:
        humanized = said.get("humanized") or {}
        instants = [said.get(name) for name in ("start_at", "started_at", "ended_at")]
        start_at, started, ended = map(instant, instants)
        whole = not any("." in str(text) for text in instants[1:] if text)
        seconds, resolution = _duration(said, started, ended, whole=whole)
        return ForemanTask(
            id=str(said["id"]),
            label=str(said.get("label") or ""),
            action=str(said.get("action") or said.get("label") or ""),
            username=str(said.get("username") or ""),
            state=str(said["state"]),
            result=str(said["result"]),
            start_at=start_at,
            started=started,
            ended=ended,
            seconds=seconds,
            resolution=resolution,
            whole_seconds=whole,
            progress=progress_of(str(humanized.get("output") or "")),
            errors=_texts(humanized.get("errors")),
            input=_mapping(said.get("input")),
            output=_mapping(said.get("output")),
        )
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Strange(f"Foreman's answer is no task ({error!r}): {str(said)[:200]}") from None


def instant(text: str | None) -> datetime | None:
    """Read an instant in any of Foreman's forms. Raise ValueError."""
    if not text:
        return None
    match = INSTANT.match(text)
    if match is None:
        raise ValueError(f"{text!r} is no instant")
    day, time, fraction, zone = match.groups(default="")
    zone = "+00:00" if zone in ("", "UTC", "Z") else zone
    return datetime.fromisoformat(f"{day}T{time}{fraction[:7]}{zone}").astimezone(UTC)


def progress_of(output: str) -> dict[str, tuple[int, int]]:
    """Read the lines that count something; others say nothing of progress."""
    matches = (LINE.match(line.strip()) for line in output.splitlines())
    return {match[1]: (int(match[2]), int(match[3])) for match in matches if match}


def _duration(
    said: Mapping[str, Any], started: datetime | None, ended: datetime | None, *, whole: bool
) -> tuple[float | None, float]:
    """Seconds from start to end, and how fine they are; None before the end."""
    if started is None or ended is None:
        return None, WHOLE_SECOND
    told = said.get("duration")
    if told not in (None, ""):
        seconds = float(str(told))
        fine = not whole or not seconds.is_integer()
        return seconds, MILLISECOND if fine else WHOLE_SECOND
    return (ended - started).total_seconds(), WHOLE_SECOND if whole else MILLISECOND


def _texts(said: Any) -> tuple[str, ...]:
    each = said if isinstance(said, list) else [said]
    return tuple(" ".join(str(text).split()) for text in each if text)


def _mapping(said: Any) -> Mapping[str, Any]:
    return said if isinstance(said, Mapping) else {}
