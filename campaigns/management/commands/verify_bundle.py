"""Says whether the numbers of a bundle follow from the data in it."""

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from campaigns.reviews.bundles import Damaged, Report, UnknownVersion, verify

MOST_TOLD = 20
HOLDS, DIFFERS, DAMAGED, UNKNOWN = 0, 1, 2, 3


class Command(BaseCommand):
    """`manage.py verify_bundle FILE`."""

    help = (
        "Recompute every number of a bundle offline, and name each one that differs. Exit code 0: it "
        "holds; 1: a number differs; 2: the file is damaged or unsafe; 3: an unknown format. The "
        "database is only lent tables of its own, and is as before."
    )
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--seal", default="", help="SHA-256 of its manifest, if you know it.")
        parser.add_argument("--most-gigabytes", type=float, default=8.0, help="Unpacked; 8.")
        parser.add_argument("--all", action="store_true", help="Name every difference, not 20.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Verify, tell, and end with the code."""
        path: Path = options["file"]
        most = int(options["most_gigabytes"] * (1 << 30))
        try:
            report = verify(path, seal=options["seal"], most_bytes=most)
        except UnknownVersion as problem:
            self.stderr.write(f"{path}: {problem}")
            sys.exit(UNKNOWN)
        except Damaged as problem:
            self.stderr.write(f"{path}: {problem}")
            sys.exit(DAMAGED)
        self._notify(path, report, sys.maxsize if options["all"] else MOST_TOLD)
        if report.damaged:
            sys.exit(DAMAGED)
        if report.differences:
            sys.exit(DIFFERS)

    def _notify(self, path: Path, report: Report, most: int) -> None:
        for name in report.campaigns:
            self.stdout.write(name)
        for note in (*report.unverified, *report.notes):
            self.stdout.write(f"- {note}")
        self.stdout.write(f"- seal: {report.seal}")
        for difference in report.differences[:most]:
            self.stderr.write(f"DIFFERS  {difference}")
        if len(report.differences) > most:
            left = len(report.differences) - most
            self.stderr.write(f"and {left:,} more, which --all names; most follow from the first.")
        if report.damaged:
            self.stderr.write(f"DAMAGED  {report.damaged}")
        elif report.differences:
            self.stderr.write(f"{path} does not hold: {len(report.differences):,} differences.")
        else:
            self.stdout.write(
                f"{path} holds: {report.numbers:,} numbers were computed again and are the same."
            )
