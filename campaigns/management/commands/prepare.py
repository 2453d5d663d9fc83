"""Makes what a fresh installation needs. Idempotent: a second call changes nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any
from urllib.request import urlopen

from django.contrib.auth.models import User
from django.core.checks import Tags
from django.core.management.base import CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, transaction

from campaigns.findings.compute import analyse
from campaigns.kit.activity import Action, record
from campaigns.kit.errors import Invalid
from campaigns.kit.mappings import Json
from campaigns.management.recorded import RecordedCommand
from campaigns.models.teams import default_team
from campaigns.planning.analyses import request_outdated
from campaigns.results.importing import demonstration, simulated_katello, throttled_database


class Command(RecordedCommand):
    """`manage.py prepare --sandbox-url URL`."""

    help = "Make the default team, the owner's account, the published campaign, and simulators as targets."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--sandbox-url", default="", help="Where the sandbox listens, if any.")
        parser.add_argument(
            "--pulp-url", default="", help="Where the simulated Pulp listens, if it does."
        )
        parser.add_argument(
            "--katello-url",
            default="",
            help="Where the simulated Katello listens over TLS, if it does.",
        )
        parser.add_argument(
            "--katello-ca",
            metavar="FILE",
            help="PEM with the certificate of its CA, or the http URL at which the simulator gives it.",
        )
        parser.add_argument(
            "--throttled-database",
            type=Path,
            metavar="FILE",
            help="Where the database behind HAProxy is that script/throttle has started.",
        )
        parser.add_argument(
            "--published",
            action="store_true",
            help="Store the published experiments as campaigns, too; they have simulated rows.",
        )
        parser.add_argument("--owner-name", default="owner", help="Name of the owner's account.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make what is missing, and say what was made. A database of a newer version is refused."""
        self.check(tags=[Tags.database, Tags.files], databases=[DEFAULT_DB_ALIAS])
        with transaction.atomic():
            default_team()
            owner = _owner(options["owner_name"])
            campaign, imported = demonstration.published_campaign(owner)
        if imported:
            self.stdout.write(f"Imported “{campaign.name}”.")
        if not campaign.findings.exists():
            analyse(campaign)
        if options["published"]:
            stored = demonstration.published_submissions(owner)
            self.stdout.write(f"{len(stored)} published experiments are stored.")
        if count := request_outdated():
            noun = "campaign is" if count == 1 else "campaigns are"
            self.stdout.write(f"{count} {noun} analysed anew, by the methods of this version.")
        if options["sandbox_url"]:
            self._target("sandbox", lambda: demonstration.sandbox_target(options["sandbox_url"]))
        if options["pulp_url"]:
            self._target("simulated Pulp", lambda: demonstration.pulp_target(options["pulp_url"]))
        if options["katello_url"]:
            ca = _certificates(options["katello_ca"])
            self._target(
                "simulated Katello",
                lambda: simulated_katello.katello_target(options["katello_url"], ca, owner),
            )

        if path := options["throttled_database"]:
            self._target(
                "throttled database",
                lambda: throttled_database.throttled_target(_described(path), owner),
            )

    def _target(self, what: str, make: Callable[[], str]) -> None:
        try:
            done = make()
        except Invalid as problem:
            raise CommandError(f"The {what} cannot be a target: {problem}") from None
        if done:
            self.stdout.write(done)


def _certificates(place: str | Path | None) -> str:
    """Read the certificates of a file, or at an http URL. Raise CommandError."""
    if place is None:
        raise CommandError("--katello-url needs --katello-ca FILE, which says whom to trust there.")
    try:
        if str(place).startswith("http://"):
            with urlopen(str(place), timeout=10) as answer:  # noqa: S310 - http, as was checked
                text = answer.read().decode("ascii")
        else:
            text = Path(place).read_text(encoding="ascii")
    except (OSError, UnicodeDecodeError) as error:
        raise CommandError(f"{place} cannot be read: {error}") from None
    return simulated_katello.certificates_in(text)


def _described(path: Path) -> Json:
    """Read what script/throttle has written. Raise CommandError."""
    try:
        found: Json = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise CommandError(f"{path} cannot be read: {error}") from None
    return found


def _owner(name: str) -> User:
    """The owner's account, made without a password: sign-in links let its owner in.

    Where nobody has all rights in all teams, the owner gets them.
    """
    owner, made = User.objects.get_or_create(username=name)
    if made:
        owner.set_unusable_password()
        owner.save(update_fields=["password"])
        record(Action.ACCOUNT_MADE, subject=owner)
    if not User.objects.filter(is_superuser=True, is_active=True).exists():
        owner.is_superuser = True
        owner.save(update_fields=["is_superuser"])
        record(Action.ACCOUNT_EDITED, subject=owner, is_superuser=True)
    return owner
