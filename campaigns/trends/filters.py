"""Filters of lines."""

from campaigns.kit.filters import Choice, FilterSet, Whole, Word
from campaigns.models import Line


class LineFilters(FilterSet):
    """Lines of one's teams."""

    state = Choice(choices=Line.State.choices)
    target = Whole(field_name="target")
    template = Whole(field_name="template")
    team = Word(field_name="team__name")
