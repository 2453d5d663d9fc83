"""Makes a token for the REST API and prints it, this one time."""

from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError, CommandParser

from campaigns.accounts.access import DAYS, make_token
from campaigns.kit.errors import Invalid
from campaigns.management.recorded import RecordedCommand
from campaigns.models import Scope


class Command(RecordedCommand):
    """`manage.py create_token USER --name NAME --scope read --expires 90d`."""

    help = (
        "Print a new API token of a user; on stderr, what it may do and until when. Only its hash is "
        "stored; it cannot be shown again."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("user")
        parser.add_argument("--name", required=True, help="What the token is for.")
        parser.add_argument(
            "--scope",
            action="append",
            choices=Scope.values,
            help="What it may do; may be repeated. operate, unless given: everything that the user may.",
        )
        parser.add_argument(
            "--expires", choices=list(DAYS), default="never", help="never, unless given."
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Print the token and nothing else."""
        user = User.objects.filter(username=options["user"], is_active=True).first()
        if user is None:
            raise CommandError(f"There is no active user {options['user']!r}.")
        requested = set(options["scope"] or [Scope.OPERATE])
        may = (
            [Scope.OPERATE] if Scope.OPERATE in requested else [s for s in Scope if s in requested]
        )
        try:
            token, text = make_token(user, options["name"], " ".join(may), options["expires"])
        except Invalid as problem:
            raise CommandError(str(problem)) from None
        what = "everything that they may do" if Scope.OPERATE in requested else " and ".join(may)
        until = f"until {token.expires_at:%Y-%m-%d %H:%M} UTC" if token.expires_at else "for ever"
        self.stderr.write(f"A token of {user} for {what}, good {until} unless it is revoked:")
        self.stdout.write(text)
