"""The field of the ids of repositories of a Katello."""

import re
from typing import Any

from django.core.exceptions import ValidationError

from campaigns.kinds.base.parameters import ListParameter

MOST_REPOSITORIES = 100


class Ids(ListParameter):
    """Ids of repositories, stored in one format and each once: 3, 5."""

    def to_python(self, value: Any) -> str:
        """Return the ids in the stored format. Raise ValidationError."""
        written = [part for part in re.split(r"[\s,;]+", super().to_python(value)) if part]
        if not all(part.isascii() and part.isdigit() and len(part) < 10 for part in written):
            raise ValidationError("Give whole numbers with commas between, such as 3, 5.")
        ids = list(dict.fromkeys(map(int, written)))
        if 0 in ids:
            raise ValidationError("The ids of repositories begin with 1.")
        if len(ids) > MOST_REPOSITORIES:
            raise ValidationError(f"{len(ids)} repositories; at most {MOST_REPOSITORIES}.")
        return ", ".join(map(str, ids))
