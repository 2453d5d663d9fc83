"""Whether an attempt begins a whole plot: the runs of a block at one combination of levels that are hard to change."""

from campaigns.kit.mappings import Settings
from campaigns.models import Attempt, Run, runs_at


def begins_plot(run: Run, builds: Settings) -> bool:
    """Return whether the last attempt of a campaign on the run's server left no installation of the run's own plot.

    An attempt that was killed tells of no installation, so the one after it installs again.
    """
    target = run.target
    if target is None:
        return True
    others = Attempt.objects.filter(
        runs_at(target.address, "run__"), run__campaign=run.campaign_id, claimed_at__isnull=False
    ).exclude(run=run, state__in=Attempt.OPEN)
    last = others.select_related("run__cell").order_by("-pk").first()
    if last is None or last.run.block_id != run.block_id or _plot(last.run) != _plot(run):
        return True
    installed = last.effective_settings.filter(name__in=list(builds), ok=True)
    return installed.values("name").distinct().count() < len(builds)


def _plot(run: Run) -> list[object]:
    """Return the levels of the factors of a run that are hard to change."""
    hard = (
        run.campaign.factors.filter(hard_to_change=True)
        .order_by("pk")
        .values_list("name", flat=True)
    )
    return [run.cell.levels_by_factor.get(name) for name in hard]
