"""Record in the activity log that a change was made by a management command."""

from typing import Any

from django.core.management.base import BaseCommand

from campaigns.kit.activity import COMMAND, by_means


class RecordedCommand(BaseCommand):
    """A command of `manage.py`."""

    def execute(self, *args: Any, **options: Any) -> str | None:
        """Run it; the record names the command as the means."""
        with by_means(COMMAND):
            return super().execute(*args, **options)
