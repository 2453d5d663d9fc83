"""Makes what a fresh installation needs. Idempotent: a second call changes nothing."""

from typing import Any

from django.contrib.auth.models import User
from django.core.checks import Tags
from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db import DEFAULT_DB_ALIAS, transaction

from campaigns.definition.checking import Invalid
from campaigns.dispatch.analyses import request_outdated
from campaigns.importers import demonstration
from campaigns.models.teams import default_team


class Command(BaseCommand):
    """`manage.py prepare --sandbox-url URL`."""

    help = "Make the default team, the owner's account, the sandbox target and the demonstration."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("--sandbox-url", default="", help="Where the sandbox listens, if any.")
        parser.add_argument("--owner-name", default="owner", help="Name of the owner's account.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Make what is missing, and say what was made. A database of a newer version is refused."""
        self.check(tags=[Tags.database], databases=[DEFAULT_DB_ALIAS])
        with transaction.atomic():
            default_team()
            owner = _owner(options["owner_name"])
            campaign, imported = demonstration.published_campaign(owner)
        if imported:
            self.stdout.write(f"Imported “{campaign.name}”.")
        if not campaign.findings.exists():
            # Imported here: scipy takes longer than all the rest, and every later start needs none.
            from campaigns.analysis import analyse

            analyse(campaign)
        if count := request_outdated():
            noun = "campaign is" if count == 1 else "campaigns are"
            self.stdout.write(f"{count} {noun} analysed anew, by the methods of this version.")
        if options["sandbox_url"]:
            try:
                done = demonstration.sandbox_target(options["sandbox_url"], owner)
            except Invalid as problem:
                raise CommandError(f"The sandbox cannot be a target: {problem}") from None
            if done:
                self.stdout.write(done)


def _owner(name: str) -> User:
    """The owner's account, made without a password: sign-in links let its owner in."""
    owner, made = User.objects.get_or_create(username=name)
    if made:
        owner.set_unusable_password()
        owner.save(update_fields=["password"])
    return owner
