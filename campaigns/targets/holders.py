"""Targets with the runs that hold their leases."""

from collections.abc import Sequence, Set
from dataclasses import dataclass

from django.db.models.functions import Now

from campaigns.kit.network import normalised_address
from campaigns.models import Target, TargetLease
from campaigns.targets.allowed import other_names

HOLDER = "another team"


def held_by(lease: TargetLease | None, teams: Set[int]) -> str:
    """Return a text on the run that loads a server, for members of these teams; empty where none does."""
    attempt = lease.attempt if lease else None
    if lease is None or attempt is None:
        return ""
    if attempt.run.campaign.team_id not in teams:
        return HOLDER
    return lease.holder or f"run {attempt.run.position}"


@dataclass(frozen=True, slots=True)
class TargetRow:
    """A target with its holder; `run` and `campaign` are None while it is free, or held by another team.

    same: the names of the other targets that are the same server.
    """

    target: Target
    held_by: str
    run: int | None
    campaign: int | None
    same: tuple[str, ...]

    @property
    def address(self) -> str:
        """The normalised host:port of the base URL."""
        return normalised_address(self.target.base_url)


def target_rows(teams: Set[int], targets: Sequence[Target] | None = None) -> list[TargetRow]:
    """Return targets (by default all in use of teams) with the runs that hold their addresses now."""
    if targets is None:
        targets = list(Target.objects.filter(retired_at=None, team__in=teams))
    leases = {
        lease.address: lease
        for lease in TargetLease.objects.filter(
            address__in=[target.address for target in targets],
            attempt__isnull=False,
            expires_at__gt=Now(),
        ).select_related("attempt__run__campaign")
    }
    same = other_names(targets)
    return [
        _target_row(target, leases.get(target.address), same[target.pk], teams)
        for target in targets
    ]


def _target_row(
    target: Target, lease: TargetLease | None, same: tuple[str, ...], teams: Set[int]
) -> TargetRow:
    if lease is None or lease.attempt is None:
        return TargetRow(target, "", None, None, same)
    run, held = lease.attempt.run, held_by(lease, teams)
    if run.campaign.team_id not in teams:
        return TargetRow(target, held, None, None, same)
    return TargetRow(target, held, run.pk, run.campaign_id, same)
