"""Queries for the generators of attempts, without what their programs receive and send."""

from django.db.models import Prefetch, QuerySet

from campaigns.models import Attempt, Generator


def without_payloads() -> QuerySet[Generator]:
    """Return generators without their large columns, which only programs read."""
    return Generator.objects.defer("request", "result", "samples")


def of_attempts(path: str = "generators") -> Prefetch:
    """Return a prefetch of generators for a query of attempts, or of what `path` leads from."""
    return Prefetch(path, queryset=without_payloads())


def busy_workers() -> dict[str, Attempt]:
    """Return the attempts that workers generate load for, by the name of the worker."""
    loading = (
        without_payloads()
        .filter(state__in=Generator.LOADING)
        .select_related("attempt__run__campaign")
    )
    return {generator.worker: generator.attempt for generator in loading}
