"""The limits of the owners of a server. Several targets may be one server: the strictest limit applies."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from campaigns.kit.compiled import Compiled
from campaigns.models import Target
from campaigns.targets.names import quoted_target, target_name


@dataclass(frozen=True, slots=True)
class Allowed:
    """The limits of a server, each with the target that sets it; None where none does.

    team: the reader of the result; it does not see the names of other teams' targets.
    """

    team: int | None
    concurrency: Target | None
    rate: Target | None
    production: Target | None

    @property
    def most_concurrent(self) -> int | None:
        """The most concurrent requests."""
        return self.concurrency.max_concurrency if self.concurrency else None

    @property
    def by_whom(self) -> str:
        """The target that limits concurrent requests, as part of a sentence."""
        return quoted_target(self.concurrency, self.team) if self.concurrency else ""

    @property
    def most_per_second(self) -> float | None:
        """The most requests per second."""
        return self.rate.max_requests_per_second if self.rate else None


def same_server(target: Target) -> list[Target]:
    """Return the targets in use that are the same server as this one, which comes first."""
    same = Target.objects.filter(address=target.address)
    rows = same.filter(Q(retired_at=None) | Q(pk=target.pk)).select_related("team").order_by("pk")
    return sorted(rows, key=lambda row: row.pk != target.pk)


def other_names(targets: Sequence[Target]) -> dict[int, tuple[str, ...]]:
    """Return the names of the other targets in use that are the same server, by primary key.

    Targets of other teams are not named.
    """
    addresses = {target.address for target in targets}
    rows = Target.objects.filter(address__in=addresses, retired_at=None).order_by("name")
    known = list(rows)
    return {
        target.pk: tuple(
            target_name(row, target.team_id)
            for row in known
            if row.address == target.address and row.pk != target.pk
        )
        for target in targets
    }


def allowed_on(target: Target) -> Allowed:
    """Return the limits of the server of a target."""
    if not _restricted.rows(target.address):
        return Allowed(target.team_id, None, None, None)
    return allowed_on_each([target])[target.pk]


def allowed_on_each(targets: Sequence[Target]) -> dict[int, Allowed]:
    """Return the limits of the servers of targets by primary key, in one query."""
    same = Target.objects.filter(address__in={target.address for target in targets})
    every = list(same.select_related("team").order_by("pk"))
    result = {}
    for target in targets:
        rows = [
            row
            for row in every
            if row.address == target.address and (row.retired_at is None or row.pk == target.pk)
        ]
        rows.sort(key=lambda row: row.pk != target.pk)
        result[target.pk] = Allowed(
            team=target.team_id,
            concurrency=_strictest(rows, "max_concurrency"),
            rate=_strictest(rows, "max_requests_per_second"),
            production=next((row for row in rows if row.is_production), None),
        )
    return result


_restricted = Compiled(
    lambda address: (
        Target.objects.filter(
            Q(max_concurrency__isnull=False)
            | Q(max_requests_per_second__isnull=False)
            | Q(is_production=True),
            address=address,
        )
        .order_by()
        .values_list("pk")[:1]
    )
)
"""One of the targets of an address on which a limit may apply."""


def _strictest(rows: Sequence[Target], limit: str) -> Target | None:
    limited = [row for row in rows if getattr(row, limit) is not None]
    return min(limited, key=lambda row: float(getattr(row, limit)), default=None)
