"""Load templates without their indentation, which would be a quarter of a long page."""

import re

from django.template import Origin
from django.template.loaders.filesystem import Loader

INDENTATION = re.compile(r"\n[ \t]+")


class Compact(Loader):
    """Load templates of HTML with lines that begin at the margin; lines keep their numbers."""

    def get_contents(self, origin: Origin) -> str:
        """Return the text of a template."""
        contents = super().get_contents(origin)
        return INDENTATION.sub("\n", contents) if str(origin.name).endswith(".html") else contents
