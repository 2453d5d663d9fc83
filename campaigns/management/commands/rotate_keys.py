"""Encrypts all stored passwords again, with the newest key."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction

from campaigns import credentials
from campaigns.models import Target


class Command(BaseCommand):
    """`manage.py rotate_keys`."""

    help = (
        "Encrypt the passwords of all targets with the first key of PERFDASH_ENCRYPTION_KEYS; "
        "afterwards the older keys can be taken out of the list."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        """Rotate what any key opens; name the rest, and fail."""
        done, unreadable = 0, []
        with transaction.atomic():
            for target in Target.objects.select_for_update().exclude(password=""):
                try:
                    target.password = credentials.rotate(target.password)
                except credentials.SecretUnreadable:
                    unreadable.append(target.name)
                    continue
                target.save(update_fields=["password"])
                done += 1
        self.stdout.write(f"Encrypted {done} passwords with the newest key.")
        if unreadable:
            raise CommandError(
                f"No key of PERFDASH_ENCRYPTION_KEYS opens the passwords of {', '.join(unreadable)}. "
                "Put back the key that they were saved with, or enter those passwords again; "
                "keep the older keys until then."
            )
