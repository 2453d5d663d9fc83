"""Spans of time as people type them: `90 min`, `1 h 30 min`, `8h`, or plain seconds. Pure."""

import re
from typing import Any

from django import forms
from django.core.exceptions import ValidationError

from campaigns.kit.units import SPANS

SECONDS = dict(SPANS)
PART = r"(\d+(?:\.\d+)?)\s*(d|h|min|s)(?![a-z])"
WHOLE = re.compile(rf"(?:{PART}[\s,]*)+", re.IGNORECASE)


class DurationField(forms.FloatField):
    """A number of seconds that may be typed with units."""

    def to_python(self, value: Any) -> Any:
        """Give seconds. Raise ValidationError."""
        if isinstance(value, str) and WHOLE.fullmatch(value.strip()):
            return sum(
                float(number) * SECONDS[unit.lower()]
                for number, unit in re.findall(PART, value, re.IGNORECASE)
            )
        try:
            return super().to_python(value)
        except ValidationError:
            raise ValidationError(
                f"“{str(value)[:40]}” is no span of time; write 90 min, 1 h 30 min or 8 h."
            ) from None
