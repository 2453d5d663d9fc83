"""Templates say which filters they use: one that is forgotten is found when a page is opened."""

from pathlib import Path

import pytest
from django.conf import settings
from django.template.loader import get_template

PLACE = Path(settings.BASE_DIR) / "templates"
NAMES = sorted(str(path.relative_to(PLACE)) for path in PLACE.rglob("*.html"))


@pytest.mark.parametrize("name", NAMES)
def test_a_template_compiles(name):
    get_template(name)  # raises where it does not
