"""Recomputes every number of a bundle from its data, and names each one that differs."""

from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from campaigns.analysis.findings import compute, versions_now
from campaigns.bundles import concluded
from campaigns.bundles import manifest as manifests
from campaigns.bundles.archive import MOST_BYTES, Archive, Damaged
from campaigns.bundles.comparing import Comparing, Difference
from campaigns.bundles.evidence import Evidence
from campaigns.bundles.loading import apart, load
from campaigns.bundles.manifest import Manifest, Told
from campaigns.bundles.tables import FINDINGS, TABLES
from campaigns.bundles.writing import DEFINITION, MORE
from campaigns.definition import drafts
from campaigns.stats.hashing import data_hash


@dataclass(slots=True)
class Report:
    """What came out. differences: each with its place, what the bundle says and what the data give.

    taken_as_read: what nothing in the bundle says twice. notes: what to know of how it was compared.
    damaged: why the rest could not be looked at; empty where everything was.
    """

    seal: str
    campaigns: list[str] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    taken_as_read: list[str] = field(default_factory=list)
    numbers: int = 0
    damaged: str = ""

    @property
    def holds(self) -> bool:
        """Whether everything is as the bundle says."""
        return not self.differences and not self.damaged


def verify(path: Path, *, seal: str = "", most_bytes: int = MOST_BYTES) -> Report:
    """Look at every file, load each campaign beside everything else, and compute it again.

    seal: SHA-256 (hex) of the manifest, if it is known from somewhere else.

    Raise Damaged where the zip cannot be opened safely or has no manifest, and UnknownVersion. The
    database is as before in any case.
    """
    with Archive(path, most_bytes) as archive:
        digest, _ = archive.digest(manifests.NAME)
        report = Report(digest)
        if seal and seal.removeprefix("sha256:").lower() != digest:
            report.differences.append(Difference(manifests.NAME, "its seal", seal, digest))
        manifest = manifests.read(archive.document(manifests.NAME))
        _look_at_names(archive, manifest)
        report.differences += _digests(archive, manifest)
        try:
            hashes = {
                told.folder: _campaign(archive, manifest, told, report)
                for told in manifest.campaigns
            }
            _more(archive, manifest, hashes, report)
        except Damaged as problem:
            report.damaged = str(problem)
        return report


def _look_at_names(archive: Archive, manifest: Manifest) -> None:
    """Raise Damaged where a file is missing or belongs to nothing."""
    needed = {
        told.folder + name
        for told in manifest.campaigns
        for name in (DEFINITION, FINDINGS.file, *(table.file for table in TABLES))
    } | {manifests.README}
    if not manifest.campaigns:
        raise Damaged(f"{manifests.NAME} names no campaign.")
    if missing := sorted((needed | manifest.files.keys()) - archive.infos.keys()):
        raise Damaged(f"{missing[0]} is missing from the zip ({len(missing)} missing in all).")
    if unlisted := sorted(needed - manifest.files.keys()):
        raise Damaged(f"{manifests.NAME} does not list {unlisted[0]}.")
    others = archive.infos.keys() - manifest.files.keys() - {manifests.NAME}
    strange = {name for name in manifest.files if name not in needed and not name.startswith(MORE)}
    if unknown := sorted(others | strange):
        raise Damaged(f"The zip holds {unknown[0]!r}, which belongs to no bundle.")


def _digests(archive: Archive, manifest: Manifest) -> Iterator[Difference]:
    for name, listed in sorted(manifest.files.items()):
        digest, size = archive.digest(name)
        if digest != listed.sha256:
            yield Difference(name, "SHA-256 of the file", listed.sha256, digest)
        elif size != listed.bytes:
            yield Difference(name, "size in bytes", listed.bytes, size)


def _campaign(archive: Archive, manifest: Manifest, told: Told, report: Report) -> str:
    """Compute a campaign again, and give the hash of its data, as where they were measured."""
    comparing = Comparing(
        told.folder,
        exact=dict(told.versions) == versions_now()
        and dict(manifest.arithmetic) == manifests.arithmetic(),
        texts=not told.taken_out,
    )
    with apart(), _analysing(told):
        campaign = load(archive, told.folder)
        evidence = Evidence(campaign)
        report.differences += evidence.differences(told.folder)
        report.taken_as_read += evidence.taken_as_read()
        results, document = compute(campaign)
        hashed = data_hash(**document)
        definition = archive.document(told.folder + DEFINITION)
        report.differences += comparing.definition(definition, drafts.as_data(campaign))
        stored = _findings(archive, told)
        if hashed != told.bundle_hash:
            report.differences.append(
                Difference(manifests.NAME, "hash of the data", told.bundle_hash, hashed)
            )
        report.differences += comparing.findings(stored, results, told)
    report.numbers += comparing.numbers
    report.campaigns.append(f"{told.name} ({told.data_hash})")
    report.notes += _notes(manifest, told)
    return hashed if told.bundle_hash == told.data_hash else told.data_hash


def _more(archive: Archive, manifest: Manifest, hashes: Mapping[str, str], report: Report) -> None:
    """Look at what stands beside the campaigns: a conclusion, and its reports."""
    names = sorted(name for name in manifest.files if name.startswith(MORE))
    told = None
    if concluded.FILE in names:
        told = archive.document(concluded.FILE)
        report.differences += concluded.hashes_that_differ(told, hashes)
    report.taken_as_read += concluded.taken_as_read(told, names)


def _findings(archive: Archive, told: Told) -> dict[str, Any]:
    """Findings by name. Raise Damaged."""
    found: dict[str, Any] = {}
    name = told.folder + FINDINGS.file
    with closing(archive.lines(name)) as lines:
        for number, line in lines:
            if not isinstance(line, dict) or not {"name", "result", "data_hash"} <= line.keys():
                raise Damaged(f"{name}, line {number} is no finding.")
            if line["name"] in found:
                raise Damaged(f"{name}, line {number}: “{line['name']}” is there twice.")
            found[line["name"]] = line
    return found


def _notes(manifest: Manifest, told: Told) -> Iterator[str]:
    now = versions_now()
    others = [
        f"{name} {told.versions.get(name, 'none')} (here {now.get(name, 'none')})"
        for name in sorted({*now, *told.versions})
        if now.get(name) != told.versions.get(name)
    ]
    if others:
        yield (
            f"The findings were computed with {', '.join(others)}: numbers may differ by the tolerances "
            "of docs/explanation/statistics.md."
        )
    elif dict(manifest.arithmetic) != manifests.arithmetic():
        yield (
            "The findings were computed on another kind of processor: numbers may differ by the "
            "tolerances of docs/explanation/statistics.md."
        )
    else:
        yield "Same versions and kind of processor: numbers were compared to the last bit."
    if told.bundle_hash != told.data_hash:
        yield (
            f"Secrets were taken out of what is hashed, so that {told.data_hash}, the hash where it was "
            f"measured, cannot be computed here; that of the bundle is {told.bundle_hash}."
        )
    elif told.taken_out:
        yield f"Secrets were taken out of {', '.join(sorted(told.taken_out))}."


@contextmanager
def _analysing(told: Told) -> Iterator[None]:
    """Whatever hostile rows make the analysis do, it is said as what it is."""
    try:
        yield
    except Damaged:
        raise
    except Exception as error:
        words = " ".join(str(error).split())[:300]
        raise Damaged(
            f"The data in {told.folder} cannot be analysed: {type(error).__name__}: {words}"
        ) from error
