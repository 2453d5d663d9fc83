"""Brings the database up to date, and prints the URL that signs in: one process for three commands.

Usage: python -m perfdash.local.preparation BASE_URL SANDBOX_URL
"""

import io
import sys

import django
from django.core.management import CommandError, call_command


def prepare(base_url: str, sandbox_url: str) -> None:
    """Do it. Raise CommandError, before anything is changed, for a database of a newer version."""
    unsaid = io.StringIO()  # `prepare` says it again
    call_command("check", tags=["database"], databases=["default"], stdout=unsaid, stderr=unsaid)
    call_command("migrate", verbosity=0, interactive=False)
    call_command("prepare", sandbox_url=sandbox_url)
    call_command("sign_in_link", base_url=base_url)


if __name__ == "__main__":
    django.setup()
    try:
        prepare(*sys.argv[1:])
    except CommandError as error:
        sys.exit(str(error))
