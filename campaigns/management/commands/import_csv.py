"""Imports a CSV of runs as a finished campaign."""

from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from campaigns.definition.checking import Invalid
from campaigns.dispatch import request_analysis
from campaigns.importers.campaigns import About, import_runs
from campaigns.models import Campaign
from campaigns.readers.plain_csv.strict import COLUMNS, MOST_BYTES, BadRows, read_rows


class Command(BaseCommand):
    """`manage.py import_csv FILE --question "..."`."""

    help = f"Import runs as a finished campaign. Columns of the file: {','.join(COLUMNS)}."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--question", required=True, help="What the runs shall answer.")
        parser.add_argument("--name", default="", help="For lists; else the question.")
        parser.add_argument("--source", default="", help="Where the runs come from; else the file.")
        parser.add_argument("--tag", action="append", default=[], help="May be repeated.")
        parser.add_argument(
            "--fact",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="Of the environment, as “disk=SSD”; may be repeated.",
        )
        parser.add_argument(
            "--fidelity", choices=Campaign.Fidelity.values, default=Campaign.Fidelity.RAW
        )

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, or say what is wrong and store nothing."""
        path: Path = options["file"]
        try:
            with path.open("rb") as file:
                rows = read_rows(file.read(MOST_BYTES + 1))
            about = About(
                question=options["question"],
                name=options["name"],
                source=options["source"] or path.name,
                tags=tuple(options["tag"]),
                fidelity=options["fidelity"],
                facts=dict(_fact(text) for text in options["fact"]),
            )
            campaign = import_runs(rows, about, author=None)
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
        except BadRows as problem:
            raise CommandError(f"Nothing was imported from {path}:\n{problem}") from None
        except Invalid as problem:
            raise CommandError(f"Nothing was imported: {problem}") from None
        request_analysis(campaign)
        self.stdout.write(f"Imported {len(rows)} runs as campaign {campaign.pk}: {campaign.name}")


def _fact(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (separator and name.strip() and value.strip()) or len(name) > 100:
        raise CommandError(
            f"--fact {text!r} is not written as NAME=VALUE (name: 1 to 100 letters)."
        )
    return name.strip(), value.strip()
