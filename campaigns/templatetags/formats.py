"""The functions of `campaigns.kit.formats` as filters."""

from django.template import Library

from campaigns.kit import formats

register = Library()

for _filter in (
    formats.number,
    formats.minus,
    formats.direction,
    formats.percent,
    formats.duration,
    formats.about,
    formats.size,
    formats.quantity,
    formats.ordinal,
    formats.unbroken,
    formats.breakable,
    formats.observed,
    formats.instant,
    formats.ago,
):
    register.filter(_filter)
