"""Prepares database and static files, and prints the URL that signs in: one process for four commands.

Usage: python -m perfdash.local.preparation BASE_URL SANDBOX_URL PULP_URL KATELLO_URL FILE

FILE keeps the CA of the simulated Katello, which is made here, as the target holds its certificate.
"""

import io
import sys
from pathlib import Path

import django
from django.conf import settings
from django.core.management import CommandError, call_command

from perfdash.static_files import collect
from sandbox.katello.authority import Authority


def prepare(base_url: str, sandbox_url: str, pulp_url: str, katello_url: str, ca: Path) -> None:
    """Do it. Raise CommandError, before anything is changed, for a database of a newer version."""
    unsaid = io.StringIO()  # `prepare` says it again
    call_command("check", tags=["database"], databases=["default"], stdout=unsaid, stderr=unsaid)
    call_command("migrate", verbosity=0, interactive=False)
    if settings.STATIC_ROOT is not None:
        collect(settings.STATIC_ROOT)
    Authority.kept(ca)
    simulators = {"sandbox_url": sandbox_url, "pulp_url": pulp_url, "katello_url": katello_url}
    call_command("prepare", **simulators, katello_ca=ca)
    call_command("sign_in_link", base_url=base_url)


if __name__ == "__main__":
    django.setup()
    try:
        base, sandbox, pulp, katello, ca = sys.argv[1:]
        prepare(base, sandbox, pulp, katello, Path(ca))
    except CommandError as error:
        sys.exit(str(error))
