"""Filters of targets."""

from campaigns.kit.filters import FilterSet, Word


class TargetFilters(FilterSet):
    """Targets in use."""

    family = Word()
    address = Word()
