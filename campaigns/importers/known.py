"""Which submitted runs are stored already: equal ones are left alone, others are not overwritten."""

from collections.abc import Sequence
from typing import Any

from campaigns.importers.submitted import SubmittedRun
from campaigns.models import Campaign, Measurement, Run


class Differs(ValueError):
    """Something is stored under this name with other content; nothing was stored or changed."""

    def __init__(self, message: str, campaign: Campaign) -> None:
        super().__init__(message)
        self.campaign = campaign


def new_among(
    campaign: Campaign, runs: Sequence[SubmittedRun]
) -> tuple[list[tuple[int, SubmittedRun]], int]:
    """Give the runs that are not stored, with their numbers, and how many are. Raise Differs."""
    named = [run.external_id for run in runs if run.external_id]
    if not named:
        return list(enumerate(runs)), 0
    stored = {
        run.external_id: run
        for run in campaign.runs.filter(external_id__in=named).select_related("cell", "block")
    }
    values: dict[int, dict[str, tuple[float, bool]]] = {}
    for key, metric, value, censored in Measurement.objects.filter(
        attempt__run__in=stored.values()
    ).values_list("attempt__run_id", "metric", "value", "censored"):
        values.setdefault(key, {})[metric] = (value, censored)
    new: list[tuple[int, SubmittedRun]] = []
    seen: dict[str, int] = {}
    for number, run in enumerate(runs):
        if run.external_id and seen.setdefault(run.external_id, number) != number:
            raise Differs(
                f"runs.{number}: the run “{run.external_id}” is in this request twice, first as "
                f"runs.{seen[run.external_id]}. Give each run an id of its own.",
                campaign,
            )
        former = stored.get(run.external_id) if run.external_id else None
        if former is None:
            new.append((number, run))
        elif different := _difference(run, former, values.get(former.pk, {})):
            raise Differs(
                f"runs.{number}: the run “{run.external_id}” is stored already (run "
                f"{former.position}), with {different}. What is stored is not overwritten: send it "
                "under an id of its own, and exclude the other one with a reason.",
                campaign,
            )
    return new, len(runs) - len(new)


def _difference(run: SubmittedRun, stored: Run, values: dict[str, tuple[float, bool]]) -> str:
    """Say in which field a run differs from the stored one; empty where it does not."""
    pairs: list[tuple[str, Any, Any]] = [
        ("tags", dict(run.levels), stored.cell.levels_by_factor),
        ("state", run.failed, stored.state == Run.State.FAILED),
        ("started_at", run.started_at, stored.started_at),
        ("finished_at", run.finished_at, stored.finished_at),
        ("block", run.block or stored.block.number, stored.block.number),
        ("reason", run.reason, stored.reason),
        ("info", run.info or {}, stored.info or {}),
        ("values", {n: (v, n in run.censored) for n, v in run.values.items()}, values),
    ]
    return next((f"another {name}" for name, sent, kept in pairs if sent != kept), "")
