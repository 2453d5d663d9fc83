"""The parts of a sync, as the progress reports of its tasks show them at each look. Pure.

Pulp works on all parts at once, as in a pipeline, so they overlap and add up to nothing. Nobody is told
when a part begins or ends: a look finds that a count has changed since the look before. So a span
begins with the last look before the first change, and ends with the look that found the last one.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from campaigns.clients.pulp import Progress, Task
from campaigns.drivers.base import Phase

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
"""By the code of the progress report; others are called by their code."""
AT_ONCE = frozenset({"sync.downloading.metadata", "sync.parsing.metadata", "sync.parsing.packages"})
"""Pulp opens these reports when it begins with them, and the others before there is anything to do."""
LONGEST_NAME = 50


@dataclass(slots=True)
class Span:
    """Seconds since the clock started, by the looks around the first change and at the last."""

    began: float
    ended: float


@dataclass(slots=True)
class Parts:
    """What each look found changed. Of several tasks, a part lasts from the first to the last."""

    spans: dict[str, Span] = field(default_factory=dict)
    last_look: float = 0.0
    longest_between: float = 0.0
    """The longest time between two looks: nothing is known more exactly than that."""
    _seen: dict[tuple[str, str], tuple[int, str]] = field(default_factory=dict)

    def look(self, at: float, tasks: Iterable[Task]) -> None:
        """Note what has changed since the last look. `at`: seconds since the clock started."""
        for task in tasks:
            for code, report in task.progress.items():
                if self._is_news(task.href, report):
                    span = self.spans.setdefault(code, Span(self.last_look, at))
                    span.ended = at
        self.longest_between = max(self.longest_between, at - self.last_look)
        self.last_look = at

    def _is_news(self, href: str, report: Progress) -> bool:
        """Whether it changed; where it counts nothing yet, only if it is open because work began."""
        key, now = (href, report.code), (report.done, report.state)
        before, self._seen[key] = self._seen.get(key), now
        return before != now and (report.done > 0 or report.code in AT_ONCE)

    def phases(self) -> list[Phase]:
        """The parts that did something, in the order in which they began."""
        counted = {code for (_, code), (done, _) in self._seen.items() if done}
        found = sorted(
            (span.began, span.ended, _name(code))
            for code, span in self.spans.items()
            if code in counted
        )
        return list(
            {
                name: Phase(name, ended - began, started_seconds=began)
                for began, ended, name in found
            }.values()
        )


def phases_of(
    parts: Parts, tasks: Mapping[str, Task], published: float | None, published_at: float
) -> list[Phase]:
    """Waiting and work by Pulp's clock, the parts that reports show by ours, and publishing."""
    begun = [task for task in tasks.values() if task.started]
    created = [task.created for task in begun]
    starts = [task.started for task in begun if task.started]
    ends = [task.finished for task in tasks.values() if task.finished]
    found = []
    if starts:
        waits = [max(0.0, task.queue_seconds or 0.0) for task in begun]
        found.append(Phase("waits for a worker", max(waits), started_seconds=0.0))
        if len(ends) == len(tasks):
            began = max(0.0, (min(starts) - min(created)).total_seconds())
            seconds = (max(ends) - min(starts)).total_seconds()
            found.append(Phase("task", seconds, started_seconds=began))
    found += parts.phases()
    if published is not None:
        found.append(Phase("publishes", published, started_seconds=published_at))
    return found


def _name(code: str) -> str:
    return NAMES.get(code) or code[:LONGEST_NAME]
