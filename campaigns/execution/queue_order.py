"""The order of campaigns that wait for one server."""

from django.db.models import F

ORDER = (F("queue_place").asc(nulls_first=True), F("launched_at").asc(nulls_first=True), "pk")
