"""Encrypts all stored passwords again, with the newest key."""

from functools import partial
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from campaigns.accounts import second_factor
from campaigns.kit import encryption
from campaigns.kit.activity import Action, record
from campaigns.management.recorded import RecordedCommand
from campaigns.models import (
    Channel,
    Credential,
    LineHook,
    Population,
    Program,
    SshLogin,
    Target,
    Watch,
)
from campaigns.overview.checks import named
from campaigns.targets.credentials.forms import SECRETS as OF_CREDENTIALS
from campaigns.targets.forms import SECRETS

OF_LOGINS = ("password", "key")
OF_POPULATIONS = ("key",)
OF_HOOKS = ("secret",)
OF_CHANNELS = ("address", "secret", "former_secret")


class Command(RecordedCommand):
    """`manage.py rotate_keys [--dry-run] [--forget-lost]`."""

    help = (
        "Encrypt the passwords of all targets, and second factors, with the first key of PERFDASH_ENCRYPTION_KEYS; "
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
            targets = Target.objects.select_for_update(no_key=True).order_by("pk")
            logins = SshLogin.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
            watches = Watch.objects.select_for_update(of=("self",), no_key=True).order_by("pk")
            channels = (
                Channel.objects.select_for_update(of=("self",), no_key=True)
                .select_related("user")
                .order_by("pk")
            )
            done, lost = 0, []
            populations = (
                Population.objects.select_for_update(of=("self",), no_key=True)
                .select_related("target")
                .order_by("pk")
            )
            credentials = Credential.objects.select_for_update(of=("self",), no_key=True).order_by(
                "pk"
            )
            hooks = (
                LineHook.objects.select_for_update(of=("self",), no_key=True)
                .select_related("line")
                .order_by("pk")
            )
            for row, name_of_target, secrets in (
                *((target, target.name, SECRETS) for target in targets),
                *((login, login.target.name, OF_LOGINS) for login in logins),
                *((watch, watch.target.name, OF_LOGINS) for watch in watches),
                *((each, f"{each} of {each.user}", OF_CHANNELS) for each in channels),
                *((each, f"{each} of {each.target.name}", OF_POPULATIONS) for each in populations),
                *((each, f"the credential {each}", OF_CREDENTIALS) for each in credentials),
                *((each, f"the hook of {each.line}", OF_HOOKS) for each in hooks),
            ):
                for name in filter(partial(getattr, row), secrets):
                    try:
                        setattr(row, name, encryption.rotate(getattr(row, name)))
                        done += 1
                    except encryption.SecretUnreadable:
                        setattr(row, name, "")
                        lost.append(name_of_target)
                if not dry:
                    row.save(update_fields=secrets)
            for row in Program.objects.select_for_update(no_key=True).order_by("pk"):
                for name, text in row.secrets.items():
                    try:
                        row.secrets[name] = encryption.rotate(text) if text else ""
                        done += bool(text)
                    except encryption.SecretUnreadable:
                        row.secrets[name] = ""
                        lost.append(row.name)
                if row.secrets and not dry:
                    row.save(update_fields=["secrets"])
            factors, people = second_factor.rotate(dry=dry, forget=forget)
            done += factors
            if (lost or people) and not forget:
                raise CommandError(_refusal(done, _whose(lost, people)))
            if not dry:
                forgotten = sorted({*lost, *people})
                record(Action.KEYS_ROTATED, passwords=done, forgotten=forgotten)
        could = "would be" if dry else "were"
        if lost or people:
            self.stdout.write(f"The lost passwords of {_whose(lost, people)} {could} forgotten.")
        self.stdout.write(f"{done} {'password' if done == 1 else 'passwords'} {could} encrypted.")


def _whose(lost: list[str], people: list[str]) -> str:
    factors = f"the second factor of {', '.join(people)}" if people else ""
    return " and ".join(filter(None, (named(lost) if lost else "", factors)))


def _refusal(readable: int, whose: str) -> str:
    return (
        f"No key of PERFDASH_ENCRYPTION_KEYS opens the password of {whose}; {readable} can be "
        "read. Nothing was changed. Put the key that they were saved with back into the list (last), "
        "or enter those passwords again; --forget-lost forgets them."
    )
