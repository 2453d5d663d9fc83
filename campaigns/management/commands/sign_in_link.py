"""Prints a URL that signs somebody in, once."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from campaigns.accounts.access import LINK_PATH, make_sign_in_link
from campaigns.management.recorded import RecordedCommand

MOST_MINUTES = 1440


class Command(RecordedCommand):
    """`manage.py sign_in_link --base-url URL`."""

    help = "Print one URL that signs its user in, once and for a short time."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--base-url", required=True, help="Where perfdash is reached.")
        parser.add_argument("--user", default="owner", help="Who is signed in (default: owner).")
        parser.add_argument(
            "--minutes", type=float, default=60, help="How long it works (default: 60)."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the URL and nothing else."""
        user = User.objects.filter(username=options["user"], is_active=True).first()
        if user is None:
            raise CommandError(
                f"There is no active user {options['user']!r}; `manage.py prepare` makes the owner."
            )
        if not 0 < options["minutes"] <= MOST_MINUTES:
            raise CommandError(f"--minutes has to be more than 0 and at most {MOST_MINUTES}.")
        token = make_sign_in_link(user, options["minutes"])
        # Not by `reverse`, which would load every page.
        self.stdout.write(f"{options['base_url'].rstrip('/')}/{LINK_PATH}{token}/")
