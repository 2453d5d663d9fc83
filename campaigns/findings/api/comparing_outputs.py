"""The shape of a comparison. Changes are of the candidate against the baseline, in percent."""

from typing import Any

from rest_framework import serializers

from campaigns.kit.api import shapes
from campaigns.kit.api.selection import Selectable


def number() -> serializers.FloatField:
    """A number; null where there is none."""
    return serializers.FloatField(allow_null=True)


class DifferingField(shapes.Part):
    """A field with both of its values."""

    label: Any = serializers.CharField()
    baseline = shapes.text()
    candidate = shapes.text()


class ComparedCampaign(shapes.Part):
    """A campaign of a comparison; the first one is the baseline."""

    id = serializers.IntegerField()
    name = serializers.CharField()
    url = serializers.URLField()
    stand_in = serializers.ListField(child=serializers.CharField())


class Overall(shapes.Part):
    """The geometric mean of the changes of all cells; `sample_`: for cells as a sample of others."""

    cells = serializers.IntegerField()
    change_percent = number()
    low_percent = number()
    high_percent = number()
    smallest_percent = number()
    largest_percent = number()
    sample_low_percent = number()
    sample_high_percent = number()


class Candidate(shapes.Part):
    """A campaign against the baseline as a whole. `refused`: why none of its cells is compared."""

    campaign = serializers.IntegerField()
    refused = DifferingField(many=True)
    factors_apart = DifferingField(many=True)
    only_here = serializers.ListField(child=shapes.text())
    only_in_baseline = serializers.ListField(child=shapes.text())
    overall = Overall(allow_null=True)


class ComparedCell(shapes.Part):
    """A cell with the mean of its runs, geometric where there is one."""

    campaign = serializers.IntegerField()
    position = serializers.IntegerField(allow_null=True)
    levels = serializers.DictField(child=serializers.JSONField())
    mean = number()
    unit = shapes.text()
    runs = serializers.IntegerField()
    failed = serializers.IntegerField()


class ComparedPair(shapes.Part):
    """A cell against one of the baseline. `verdict`: stored word; `word`: as the metric calls it."""

    baseline = ComparedCell()
    candidate = ComparedCell()
    verdict = serializers.CharField()
    word = serializers.CharField()
    reason = shapes.text()
    badges = serializers.ListField(child=serializers.CharField())
    change_percent = number()
    low_percent = number()
    high_percent = number()
    p = number()
    p_holm = number()
    p_ranks = number()
    model = serializers.CharField()
    n = serializers.IntegerField()
    df = number()
    standing = shapes.text()
    advice = shapes.text()
    refused = DifferingField(many=True)
    settings = DifferingField(many=True)


class DifferingFact(shapes.Part):
    """A fact over all campaigns. `differs`: from the first one; `changed`: while it was measured."""

    group = serializers.CharField()
    label: Any = serializers.CharField()
    values = serializers.ListField(child=shapes.text())
    differs = serializers.ListField(child=serializers.BooleanField())
    weight = serializers.ChoiceField(choices=["cause", "design", "time"])
    changed = serializers.ListField(child=serializers.BooleanField())


class ComparisonOutput(Selectable):
    """Campaigns, or cells, against the first of them. `left_out`: further pairs, not compared."""

    sentence = serializers.CharField()
    caveat = shapes.text()
    metric = serializers.CharField()
    unit = shapes.text()
    lower_is_better = serializers.BooleanField(allow_null=True)
    confidence = serializers.FloatField()
    smallest_effect_percent = serializers.FloatField()
    margin_percent = serializers.FloatField()
    campaigns = ComparedCampaign(many=True)
    candidates = Candidate(many=True)
    comparisons = ComparedPair(many=True)
    left_out = serializers.IntegerField()
    differences = DifferingFact(many=True)
    data_hash = serializers.CharField()
