"""The generators of attempts, without the requests to their programs. Reads only."""

from django.db.models import Prefetch, QuerySet

from campaigns.models import Attempt, Generator


def told() -> QuerySet[Generator]:
    """Rows with all that people may read of them."""
    return Generator.objects.defer("request", "result", "samples")


def of_attempts(path: str = "generators") -> Prefetch:
    """Fetch them together with their attempts; `path` leads there."""
    return Prefetch(path, queryset=told())


def busy_workers() -> dict[str, Attempt]:
    """The attempts that workers generate for, by the workers' names."""
    loading = told().filter(state__in=Generator.LOADING).select_related("attempt__run__campaign")
    return {generator.worker: generator.attempt for generator in loading}
