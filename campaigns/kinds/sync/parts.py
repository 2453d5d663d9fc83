"""The parts of a sync, from the progress reports of its tasks at each look. Pure.

Pulp works on all parts at once, as in a pipeline, so they overlap and their sum has no meaning. It opens
most reports before there is anything to do, and counts late, in batches. What is certain of a part: it lies
between the last look without its report and the look that showed its last change; and some of it was done
when a look first showed a count.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from campaigns.kinds.base import Phase
from campaigns.kinds.servers.pulp_tasks import Progress, Task

NAMES = {
    "sync.downloading.metadata": "downloads metadata",
    "sync.parsing.metadata": "parses metadata",
    "sync.parsing.packages": "parses packages",
    "sync.skipped.packages": "skips packages",
    "sync.downloading.artifacts": "downloads files",
    "associating.content": "associates content",
    "unassociating.content": "takes content out",
    "sync.was_skipped": "is skipped",
}
"""Names of parts by the code of their progress report; other parts are named by their code."""
LONGEST_NAME = 50


class Reporting(Protocol):
    """A task with its progress reports by code."""

    @property
    def href(self) -> str: ...

    @property
    def progress(self) -> Mapping[str, Progress]: ...


@dataclass(slots=True)
class Span:
    """Seconds since the clock started: the look before its report, the first count, the last change."""

    opened: float
    ended: float
    counted: float | None = None


@dataclass(slots=True)
class Parts:
    """The spans of the parts, as far as seen. Of several tasks, a part lasts from the first to the last."""

    spans: dict[str, Span] = field(default_factory=dict)
    last_look: float = 0.0
    longest_between: float = 0.0
    """The longest time between two looks, which is the resolution of the spans."""
    _seen: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)

    def look(self, at: float, tasks: Iterable[Reporting]) -> None:
        """Record what has changed since the last look. at: seconds since the clock started."""
        for task in tasks:
            for code, report in task.progress.items():
                key, now = (task.href, code), (report.done, report.state)
                if self._seen.get(key) == now:
                    continue
                self._seen[key] = now
                span = self.spans.setdefault(code, Span(self.last_look, at))
                span.ended = at
                if report.done and span.counted is None:
                    span.counted = at
        self.longest_between = max(self.longest_between, at - self.last_look)
        self.last_look = at

    def phases(self) -> list[Phase]:
        """Return the parts that counted something, in the order of their first counts."""
        phases = [
            (span.counted, span.ended, span.opened, code)
            for code, span in self.spans.items()
            if span.counted is not None
        ]
        by_name = {
            _name(code): Phase(
                _name(code), ended - opened, started_seconds=opened, counted_seconds=counted
            )
            for counted, ended, opened, code in sorted(phases)
        }
        return list(by_name.values())


def phases_of(
    parts: Parts, tasks: Mapping[str, Task], published: float | None, published_at: float
) -> list[Phase]:
    """Return waiting and work by Pulp's clock, the parts in reports by our clock, and publishing."""
    begun = [task for task in tasks.values() if task.started]
    created = [task.created for task in begun]
    starts = [task.started for task in begun if task.started]
    ends = [task.finished for task in tasks.values() if task.finished]
    phases = []
    if starts:
        waits = [max(0.0, task.queue_seconds or 0.0) for task in begun]
        phases.append(Phase("waits for a worker", max(waits), started_seconds=0.0))
        if len(ends) == len(tasks):
            began = max(0.0, (min(starts) - min(created)).total_seconds())
            seconds = (max(ends) - min(starts)).total_seconds()
            phases.append(Phase("task", seconds, started_seconds=began))
    phases += parts.phases()
    if published is not None:
        phases.append(Phase("publishes", published, started_seconds=published_at))
    return phases


def _name(code: str) -> str:
    return NAMES.get(code) or code[:LONGEST_NAME]
