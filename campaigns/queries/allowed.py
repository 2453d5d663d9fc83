"""What the owners of a server allow. Several targets may be one server: the strictest of all counts."""

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Q

from campaigns.models import Target


@dataclass(frozen=True, slots=True)
class Allowed:
    """The limits of a server, each with the target that sets it; None where nobody does."""

    concurrency: Target | None
    rate: Target | None
    production: Target | None

    @property
    def most_concurrent(self) -> int | None:
        """Requests at a time."""
        return self.concurrency.max_concurrency if self.concurrency else None

    @property
    def most_per_second(self) -> float | None:
        """Requests a second."""
        return self.rate.max_requests_per_second if self.rate else None


def same_server(target: Target) -> list[Target]:
    """The targets in use that are the same server as this one: itself first."""
    same = Target.objects.filter(address=target.address)
    rows = same.filter(Q(retired_at=None) | Q(pk=target.pk)).order_by("pk")
    return sorted(rows, key=lambda row: row.pk != target.pk)


def names_beside(targets: Sequence[Target]) -> dict[int, tuple[str, ...]]:
    """The names of the other targets in use that are the same server, by each one's primary key."""
    addresses = {target.address for target in targets}
    rows = Target.objects.filter(address__in=addresses, retired_at=None).order_by("name")
    known = list(rows.values_list("pk", "name", "address"))
    return {
        target.pk: tuple(
            name for pk, name, address in known if address == target.address and pk != target.pk
        )
        for target in targets
    }


def allowed_on(target: Target) -> Allowed:
    """The limits of the server that this target is."""
    rows = same_server(target)
    return Allowed(
        concurrency=_strictest(rows, "max_concurrency"),
        rate=_strictest(rows, "max_requests_per_second"),
        production=next((row for row in rows if row.is_production), None),
    )


def _strictest(rows: Sequence[Target], limit: str) -> Target | None:
    limited = [row for row in rows if getattr(row, limit) is not None]
    return min(limited, key=lambda row: float(getattr(row, limit)), default=None)
