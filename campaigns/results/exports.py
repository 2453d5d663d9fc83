"""Export files of a campaign for pages and REST: each format with its media type and its bytes."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from django.utils.text import slugify

from campaigns.kit.downloads import gathered
from campaigns.kit.mappings import Json
from campaigns.models import Campaign
from campaigns.planning.outline import factors_of
from campaigns.results.csv_lines import csv_lines
from campaigns.results.json_document import json_pieces
from campaigns.results.versions import fingerprint, whole_version
from campaigns.results.watched_export import campaign_pieces
from perfdash import __version__

Texts = Callable[[Campaign], Json]


@dataclass(frozen=True, slots=True)
class Format:
    """A format of files.

    `pieces` takes a campaign, its definition in the form that REST accepts, and what gives the texts of its
    findings by name.
    """

    media_type: str
    pieces: Callable[[Campaign, Json, Texts], Iterator[bytes]]


FORMATS: Mapping[str, Format] = {
    "csv": Format(
        "text/csv; charset=utf-8",
        lambda campaign, *_: gathered(csv_lines(campaign, factors_of(campaign))),
    ),
    "json": Format(
        "application/json",
        lambda campaign, definition, texts_of: gathered(
            json_pieces(campaign, definition, texts_of(campaign))
        ),
    ),
    "parquet": Format("application/vnd.apache.parquet", lambda campaign, *_: _parquet(campaign)),
    "watched.parquet": Format(
        "application/vnd.apache.parquet", lambda campaign, *_: campaign_pieces(campaign)
    ),
}


def _parquet(campaign: Campaign) -> Iterator[bytes]:
    from campaigns.results.parquet import parquet_pieces  # loads pyarrow

    return parquet_pieces(campaign)


def attachment(campaign: Campaign, ending: str) -> str:
    """Return the Content-Disposition header with the name of the file."""
    name = slugify(campaign.name)[:60].strip("-") or "campaign"
    return f'attachment; filename="{campaign.pk}-{name}.{ending}"'


def export_version(campaign: Campaign, name: str, definition: Json) -> str:
    """Return text that changes whenever the content of a file does."""
    amended = campaign.amendments.count()
    return fingerprint(name, __version__, whole_version(campaign), definition, amended)
