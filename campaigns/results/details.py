"""Read everything about one run."""

import json
import zlib
from collections.abc import Sequence
from typing import Any

from django.db.models import Prefetch

from campaigns.models import Attempt, AttemptOutput, Exclusion, LogLine, RawSamples, Run
from campaigns.results.generator_list import of_attempts

MOST_SAMPLES = 200_000
"""A page does not read more samples than this."""


def attempts_of(run: Run) -> list[Attempt]:
    """Return every attempt with everything that it observed, the first one first."""
    return list(
        run.attempts.order_by("number").prefetch_related(
            "measurements",
            "phases",
            "proofs",
            "effective_settings",
            "environment",
            "series",
            "distributions",
            "deleted_samples",
            of_attempts(),
            Prefetch("outputs", queryset=AttemptOutput.objects.defer("content")),
        )
    )


def samples_of(attempt: Attempt) -> dict[str, list[Any]]:
    """Return the samples of an attempt as columns; empty where there are none, or too many for a page."""
    stored = RawSamples.objects.filter(attempt=attempt, count__lte=MOST_SAMPLES).first()
    if stored is None:
        return {}
    columns: dict[str, list[Any]] = json.loads(zlib.decompress(stored.columns))
    return columns


def exclusions_of(run: Run) -> Sequence[Exclusion]:
    """Return all exclusions of a run, including withdrawn ones, the latest first."""
    return list(run.exclusions.select_related("user").order_by("-at"))


def log_of_run(run: Run) -> Sequence[LogLine]:
    """Return the log lines of a run, the oldest first."""
    return list(run.log.order_by("pk"))
