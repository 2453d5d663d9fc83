"""Imports a file that another tool wrote as a finished campaign."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.db import transaction

from campaigns.kit.errors import BadFile, Invalid
from campaigns.management.recorded import RecordedCommand
from campaigns.models import Campaign
from campaigns.planning.analyses import request_analysis
from campaigns.results.importing.files import About, import_file
from campaigns.results.importing.receiving import Received
from campaigns.results.readers import all_readers
from campaigns.results.reading import LATER


class Command(RecordedCommand):
    """`manage.py import FILE`."""

    help = f"Import the runs of a file as a finished campaign. Formats: {', '.join(all_readers())}."

    def add_arguments(self, parser: CommandParser) -> None:
        """Declare the options."""
        parser.add_argument("file", type=Path)
        parser.add_argument("--format", default="", help="Else the one that the file looks like.")
        parser.add_argument("--question", default="", help="What the runs shall answer.")
        parser.add_argument("--name", default="", help="Shown in lists; by default the file's own.")
        parser.add_argument("--source", default="", help="Where the runs come from; else the file.")
        parser.add_argument("--metric", default="", help="The primary one.")
        parser.add_argument("--tag", action="append", default=[], help="May be repeated.")
        parser.add_argument(
            "--fact",
            action="append",
            default=[],
            metavar="NAME=VALUE",
            help="Of the environment, as “disk=SSD”; may be repeated.",
        )
        parser.add_argument(
            "--mapping", type=Path, help="A JSON file that says what columns of a CSV mean."
        )
        parser.add_argument(
            "--load",
            action="append",
            default=[],
            metavar="FACTOR",
            help="How much was asked of the target at once; its levels are not ranked. May be repeated.",
        )
        parser.add_argument(
            "--setting",
            action="append",
            default=[],
            metavar="FACTOR",
            help="What the file does not declare and somebody may choose; its levels are ranked. May be repeated.",
        )
        for way in ("lower", "higher"):
            parser.add_argument(
                f"--{way}",
                action="append",
                default=[],
                metavar="METRIC",
                help=f"Of which the file does not say that {way} is better. May be repeated.",
            )
        parser.add_argument(
            "--criterion", default="", help="What has to be kept: “p95 <= 3 min, failed <= 5 %%”."
        )
        parser.add_argument("--fidelity", choices=Campaign.Fidelity.values, default="")
        parser.add_argument("--dry-run", action="store_true", help="Say what would be stored.")

    def handle(self, *args: Any, **options: Any) -> None:
        """Import, or say what is wrong and store nothing."""
        path: Path = options["file"]
        roles = _stated(options, "load", "setting")
        directions = _stated(options, "lower", "higher")
        about = About(
            filename=path.name,
            format=options["format"],
            definition={
                "question": options["question"],
                "name": options["name"],
                "source": options["source"],
                "primary_metric": options["metric"],
                "tags": options["tag"],
                **({"criterion": options["criterion"]} if options["criterion"] else {}),
                **({"roles": roles} if roles else {}),
                **({"directions": directions} if directions else {}),
            },
            context=dict(_fact(text) for text in options["fact"]),
            mapping=_mapping(options["mapping"]),
            fidelity=options["fidelity"],
        )
        try:
            with path.open("rb") as file, transaction.atomic():
                received = import_file(file, about, author=None, limits=LATER)
                transaction.set_rollback(options["dry_run"])
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
        except BadFile as problem:
            raise CommandError(f"Nothing was imported from {path}:\n{problem}") from None
        except Invalid as problem:
            raise CommandError(f"Nothing was imported: {problem}") from None
        if not options["dry_run"]:
            request_analysis(received.campaign)
        self._notify(received, dry_run=options["dry_run"])

    def _notify(self, received: Received, *, dry_run: bool) -> None:
        campaign, submission = received.campaign, received.submission
        if not received.made:
            self.stdout.write(f"This file is campaign {campaign.pk} already: {campaign.name}")
            return
        done = "Would import" if dry_run else "Imported"
        where = "" if dry_run else f" {campaign.pk}"
        self.stdout.write(
            f"{done} {received.runs} runs with {received.values} values ({submission.format}) "
            f"as campaign{where}: {campaign.name}"
        )
        for sentence in (*submission.dropped, *received.questions):
            self.stdout.write(f"- {sentence}")


def _stated(options: Mapping[str, Any], *words: str) -> dict[str, str]:
    """Return what is said of each name: the word of its option."""
    result: dict[str, str] = {}
    for word in words:
        for name in options[word]:
            if result.setdefault(name, word) != word:
                raise CommandError(
                    f"--{word} {name}: it is given as --{result[name]}, too; give it once."
                )
    return result


def _fact(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not (separator and name.strip() and value.strip()) or len(name) > 100:
        raise CommandError("A --fact is not written as NAME=VALUE (name: 1 to 100 letters).")
    return name.strip(), value.strip()


def _mapping(path: Path | None) -> dict[str, Any]:
    if path is None:
        return {}
    try:
        read = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise CommandError(f"{path} cannot be read: {error.strerror}.") from None
    except ValueError as error:
        raise CommandError(f"{path} is not JSON: {error}.") from None
    if not isinstance(read, dict):
        raise CommandError(f"{path} holds no object; see docs/how-to/import.md.")
    return read
