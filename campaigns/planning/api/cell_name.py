"""The shape of a cell in answers."""

from rest_framework import serializers

from campaigns.kit.api.outputs import Part


class CellName(Part):
    """A cell by position and levels."""

    position = serializers.IntegerField()
    levels = serializers.DictField(child=serializers.JSONField())
