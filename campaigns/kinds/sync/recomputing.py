"""What the stored samples of a sync, a row a task, give once more."""

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

from campaigns.kinds.base import Recomputed


def recompute(samples: Mapping[str, Sequence[Any]], values: Mapping[str, float]) -> Recomputed:
    """Count tasks and files again; with one task its work is the whole duration."""
    failures = Counter(failure for failure in samples["failure"] if failure)
    work = samples["work_seconds"]
    found = {"failed_syncs": float(failures.total())}
    whole = work[0] if len(work) == 1 else values.get("task_duration")
    if whole:
        found["task_duration"] = whole
        files = sum(samples["files"])
        if files:
            found["file_rate"] = files / whole
    queued = [each for each in samples["queue_seconds"] if each is not None]
    if queued:
        found["queue_duration"] = max(queued)
    times = [round(each * 1e6) for each in work if each is not None]
    return Recomputed(found, {"task_duration": times})
