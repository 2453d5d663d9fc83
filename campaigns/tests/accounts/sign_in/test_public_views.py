"""django-allauth is used by what it documents: a minor release may change the rest."""

import re
from pathlib import Path

from django.conf import settings

PRIVATE = re.compile(r"allauth(?:\.\w+)*\.internal\b")


def test_no_file_imports_what_is_internal_to_allauth():
    files = [
        file
        for folder in ("campaigns", "perfdash", "e2e", "bench")
        for file in Path(settings.BASE_DIR, folder).rglob("*.py")
        if file != Path(__file__)
    ]

    assert len(files) > 1000
    assert [file for file in files if PRIVATE.search(file.read_text())] == []
