"""Encrypts all stored passwords again, with the newest key."""

from functools import partial
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import transaction

from campaigns import credentials
from campaigns.checks import named
from campaigns.definition.servers import SECRETS
from campaigns.models import Target


class Command(BaseCommand):
    """`manage.py rotate_keys [--dry-run] [--forget-lost]`."""

    help = (
        "Encrypt the passwords of all targets with the first key of PERFDASH_ENCRYPTION_KEYS; "
        "afterwards the older keys can be taken out of the list. All of them, or none."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--dry-run", action="store_true", help="Look, and change nothing.")
        parser.add_argument(
            "--forget-lost",
            action="store_true",
            help="Forget the passwords that no key opens; they have to be entered again.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Rotate all, in one transaction; where a key is missing, say so and change nothing."""
        dry, forget = options["dry_run"], options["forget_lost"]
        with transaction.atomic():
            targets = Target.objects.select_for_update(no_key=True)
            done, lost = 0, []
            for target in targets.order_by("pk"):
                for name in filter(partial(getattr, target), SECRETS):
                    try:
                        setattr(target, name, credentials.rotate(getattr(target, name)))
                        done += 1
                    except credentials.SecretUnreadable:
                        setattr(target, name, "")
                        lost.append(target.name)
                if not dry:
                    target.save(update_fields=SECRETS)
            if lost and not forget:
                raise CommandError(_refusal(done, lost))
        could = "would be" if dry else "were"
        if lost:
            self.stdout.write(f"The lost passwords of {named(lost)} {could} forgotten.")
        self.stdout.write(f"{done} {'password' if done == 1 else 'passwords'} {could} encrypted.")


def _refusal(readable: int, lost: list[str]) -> str:
    return (
        f"No key of PERFDASH_ENCRYPTION_KEYS opens the password of {named(lost)}; {readable} can be "
        "read. Nothing was changed. Put the key that they were saved with back into the list (last), "
        "or enter those passwords again; --forget-lost forgets them."
    )
