"""Write bundles file by file and row by row, so that the memory needed does not depend on the size of a campaign."""

import zipfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from typing import IO, Any

from campaigns.findings.compute.findings import document_of
from campaigns.kit.errors import NotPossible
from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.moment import one_moment
from campaigns.models import Campaign, Finding
from campaigns.planning import storage
from campaigns.planning.analyses import failure_of
from campaigns.reviews.bundles import manifest as manifests
from campaigns.reviews.bundles.manifest import FORMAT, CampaignEntry, Listed, Manifest
from campaigns.reviews.bundles.rows import as_objects, text_of
from campaigns.reviews.bundles.secrets import Redactor
from campaigns.reviews.bundles.tables import FINDINGS, TABLES
from campaigns.stats.hashing import data_hash
from campaigns.stats.methods import METHODS
from perfdash import __version__

DEFINITION = "definition.json"
MORE = "more/"
LONG_AGO = (1980, 1, 1, 0, 0, 0)
"""The time of every file, so that a bundle of the same data is the same byte by byte."""

TEXT = """# {title}

{campaigns}

## Verify it

Every number in this zip can be computed again, without a network and without the installation that it
comes from. With perfdash {version} and any PostgreSQL, an empty one, too:

    export DATABASE_URL=postgres://…
    python manage.py verify_bundle FILE.zip

It says which number differs, what the bundle says and what the data give; exit code 0: all are the
same; 1: one differs; 2: the file is damaged or unsafe; 3: written in an unknown format. Nothing is left
behind in the database. The digests alone: `unzip FILE.zip -d DIR`, then compare `sha256sum` with
`manifest.json`. The *seal* is the SHA-256 of `manifest.json` itself; who has it from somewhere else
(the page, the REST header `Perfdash-Seal`, the record of activity) gives it as `--seal`.

## What is in it

| file | what |
|---|---|
| `manifest.json` | format ({format}), versions of methods and libraries, hash of the data, SHA-256 of every file |
| `campaign-N/definition.json` | the definition, as it can be sent again |
| `campaign-N/rows/*.ndjson` | runs, attempts, measurements, distributions (HDR, base64), series, raw samples, phases, proofs, settings in force, environment, exclusions, amendments, sessions and the log: one JSON object a line |
| `campaign-N/rows/finding.ndjson` | what the statistics say, with the hash of their data and versions |
{more}
Passwords, tokens, keys, activation keys and addresses of webhooks are not in it; where one stood in a
text there is `[secret]`, or `[activation key 1]`. {taken_out}
"""


class NotReady(NotPossible):
    """The findings of a campaign are missing or out of date; the message explains why."""


@dataclass(frozen=True, slots=True)
class Written:
    """A written bundle. seal: SHA-256 (hex) of the manifest. taken_out: the number of texts that held secrets."""

    seal: str
    taken_out: int


def write_bundle(
    file: IO[bytes], campaigns: Sequence[Campaign], more: Mapping[str, str] | None = None
) -> Written:
    """Write campaigns, and more texts by file name (such as a report), as one zip.

    Raise NotReady, before anything is written, where a campaign is active or its findings are out of date.
    """
    with one_moment():
        fresh = [Campaign.objects.get(pk=campaign.pk) for campaign in campaigns]
        redactor = Redactor(fresh)
        notes = [_entry(campaign, redactor) for campaign in fresh]
        with zipfile.ZipFile(file, "w", zipfile.ZIP_DEFLATED, allowZip64=True) as archive:
            files: dict[str, Listed] = {}
            for campaign, about in zip(fresh, notes, strict=True):
                for name, lines in _files(campaign, redactor):
                    redactor.reading = about.folder + name
                    files[about.folder + name] = _write(archive, about.folder + name, lines)
                about.taken_out.update(_of(about.folder, redactor))
            for name, text in (more or {}).items():
                redactor.reading = MORE + name
                files[MORE + name] = _write(archive, MORE + name, [redactor.clean(text)])
            introduction = readme(notes, sorted(more or ()))
            files[manifests.README] = _write(archive, manifests.README, [introduction])
            manifest = Manifest(__version__, manifests.arithmetic(), tuple(notes), files)
            written = text_of(manifests.as_json(manifest)) + "\n"
            _write(archive, manifests.NAME, [written])
    return Written(sha256(written.encode()).hexdigest(), sum(redactor.changed.values()))


def _entry(campaign: Campaign, redactor: Redactor) -> CampaignEntry:
    """Return the entry of a campaign for the manifest. Raise NotReady."""
    if campaign.state not in Campaign.CLOSED:
        raise NotReady(
            f"“{campaign.name}” is {campaign.get_state_display().lower()}: a bundle is written when "
            "a campaign has ended."
        )
    if failure := failure_of(campaign):
        raise NotReady(f"There is no bundle of “{campaign.name}” now. {failure}")
    stored = Finding.objects.filter(campaign=campaign, name="answer").first()
    if stored is None or stored.versions.get("methods") != METHODS:
        raise NotReady(
            f"“{campaign.name}” has not been analysed by this version yet. The analysis is waiting or running: look "
            "whether the worker of the queue analysis runs, and try again."
        )
    document = document_of(campaign)
    if data_hash(**document) != stored.data_hash or campaign.analysis_requested_at is not None:
        raise NotReady(
            f"The findings of “{campaign.name}” are older than its data. The analysis is waiting or running. "
            "Try again when the page says so."
        )
    redactor.reading = "the hashed data"
    cleaned = _as_hashed(redactor, document)
    redactor.changed.clear()
    return CampaignEntry(
        folder=f"campaign-{campaign.pk}/",
        name=redactor.clean(campaign.name),
        question=redactor.clean(campaign.question),
        kind=campaign.kind,
        seed=campaign.seed,
        data_hash=stored.data_hash,
        bundle_hash=data_hash(**cleaned),
        versions=stored.versions,
    )


def _as_hashed(redactor: Redactor, document: Json) -> JsonObject:
    """Return the document without secrets; instants and numbers keep their types."""
    return {name: redactor.clean(part) for name, part in document.items()}


def _of(folder: str, redactor: Redactor) -> dict[str, int]:
    return {
        name.removeprefix(folder): count
        for name, count in redactor.changed.items()
        if name.startswith(folder)
    }


def _files(campaign: Campaign, redactor: Redactor) -> Iterator[tuple[str, Iterable[str]]]:
    yield DEFINITION, (_line(redactor.clean(each)) for each in [storage.definition_of(campaign)])
    for table in (*TABLES, FINDINGS):
        yield table.file, (_line(redactor.clean(row)) for row in as_objects(table, campaign))


def _line(value: Any) -> str:
    return text_of(value) + "\n"


def _write(archive: zipfile.ZipFile, name: str, pieces: Iterable[str]) -> Listed:
    digest, size = sha256(), 0
    info = zipfile.ZipInfo(name, LONG_AGO)
    info.compress_type, info.external_attr = zipfile.ZIP_DEFLATED, 0o644 << 16
    with archive.open(info, "w", force_zip64=True) as member:
        for piece in pieces:
            data = piece.encode()
            digest.update(data)
            size += len(data)
            member.write(data)
    return Listed(digest.hexdigest(), size)


def readme(entries: Sequence[CampaignEntry], more: Sequence[str]) -> str:
    """Return the text of README.md."""
    return TEXT.format(
        title=entries[0].name if len(entries) == 1 else f"{len(entries)} campaigns",
        campaigns="\n".join(
            f"* `{each.folder}` {each.name}: {each.question}\n  Hash of the data: `{each.data_hash}`, "
            f"seed {each.seed}, kind {each.kind}"
            for each in entries
        ),
        version=__version__,
        format=FORMAT,
        more="".join(
            f"| `more/{name}` | belongs to what the bundle was made for |\n" for name in more
        ),
        taken_out=_removed(entries),
    )


def _removed(value: Sequence[CampaignEntry]) -> str:
    changed = [each.folder for each in value if each.bundle_hash != each.data_hash]
    if not changed:
        return "The hash of the data can be computed from what is here."
    return (
        f"In {', '.join(changed)} something was taken out that is hashed; so the data here have another "
        "hash (`bundle_hash`) than where they were measured (`data_hash`)."
    )
