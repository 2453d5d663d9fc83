"""Makes a token for the REST API and prints it, this one time."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError, CommandParser

from campaigns.definition.access import make_token
from campaigns.definition.checking import Invalid


class Command(BaseCommand):
    """`manage.py create_token USER --name NAME`."""

    help = "Print a new API token of a user. Only its hash is stored; it cannot be shown again."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("user")
        parser.add_argument("--name", required=True, help="What the token is for.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the token and nothing else."""
        user = User.objects.filter(username=options["user"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active user {options['user']!r}.")
        try:
            _, text = make_token(user, options["name"])
        except Invalid as problem:
            raise CommandError(str(problem)) from None
        self.stdout.write(text)
