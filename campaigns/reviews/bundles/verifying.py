"""Recompute every number of a bundle from its data, and list the differences."""

import math
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from functools import cache
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
from django.apps import apps
from django.db import DatabaseError, connection, transaction
from django.db.models import Model

from campaigns.findings.compute.findings import compute, versions_now
from campaigns.findings.store import is_of_version_1
from campaigns.kinds.base import Recomputed
from campaigns.kit import histogram
from campaigns.kit.mappings import Json, JsonObject
from campaigns.kit.numbers import counted
from campaigns.models import (
    Attempt,
    Campaign,
    Conclusion,
    Distribution,
    Measurement,
    PublishedAnswer,
    RawSamples,
    Run,
)
from campaigns.planning import storage
from campaigns.planning.metrics import driver_if_known
from campaigns.reviews.bundles import manifest as manifests
from campaigns.reviews.bundles.archive import MOST_BYTES, Archive, Damaged
from campaigns.reviews.bundles.comparing import Comparing, Difference
from campaigns.reviews.bundles.manifest import CampaignEntry, Manifest
from campaigns.reviews.bundles.rows import as_row, columns_of
from campaigns.reviews.bundles.sending import CONCLUSION
from campaigns.reviews.bundles.tables import FINDINGS, TABLES, Table
from campaigns.reviews.bundles.writing import DEFINITION, MORE
from campaigns.stats.hashing import data_hash, hash_together
from campaigns.stats.methods import METHODS, of_earlier_rules

FILE = MORE + CONCLUSION

APPS = ("contenttypes", "auth", "campaigns")

MOST_PLACES = 3
CLOSE = 1e-9
"""Tolerance for sums in another order; a digit of a measured value is far larger."""


@dataclass(slots=True)
class Report:
    """The result of a verification.

    unverified: values that cannot be recomputed from the bundle. notes: how it was compared.
    damaged: why the verification ended early; empty if it did not.
    """

    seal: str
    campaigns: list[str] = field(default_factory=list)
    differences: list[Difference] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    unverified: list[str] = field(default_factory=list)
    numbers: int = 0
    damaged: str = ""

    @property
    def holds(self) -> bool:
        """Return whether all values of the bundle were confirmed."""
        return not self.differences and not self.damaged


def verify(path: Path, *, seal: str = "", most_bytes: int = MOST_BYTES) -> Report:
    """Check every file, load each campaign into temporary tables, and recompute its findings.

    seal: the expected SHA-256 (hex) of the manifest, if known.

    Raise Damaged where the zip cannot be opened safely or has no manifest, and UnknownVersion. The
    database is left unchanged.
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
                value.folder: _campaign(archive, manifest, value, report)
                for value in manifest.campaigns
            }
            _more(archive, manifest, hashes, report)
        except Damaged as problem:
            report.damaged = str(problem)
        return report


def _look_at_names(archive: Archive, manifest: Manifest) -> None:
    """Raise Damaged where a file is missing, or is not part of a bundle."""
    needed = {
        value.folder + name
        for value in manifest.campaigns
        for name in (DEFINITION, FINDINGS.file, *(each.file for each in TABLES if not each.new))
    } | {manifests.README}
    if not manifest.campaigns:
        raise Damaged(f"{manifests.NAME} names no campaign.")
    if missing := sorted((needed | manifest.files.keys()) - archive.infos.keys()):
        raise Damaged(f"{missing[0]} is missing from the zip ({len(missing)} missing in all).")
    if unlisted := sorted(needed - manifest.files.keys()):
        raise Damaged(f"{manifests.NAME} does not list {unlisted[0]}.")
    others = archive.infos.keys() - manifest.files.keys() - {manifests.NAME}
    known = needed | {
        value.folder + table.file for value in manifest.campaigns for table in TABLES if table.new
    }
    strange = {name for name in manifest.files if name not in known and not name.startswith(MORE)}
    if unknown := sorted(others | strange):
        raise Damaged(f"The zip holds {unknown[0]!r}, which belongs to no bundle.")


def _digests(archive: Archive, manifest: Manifest) -> Iterator[Difference]:
    for name, listed in sorted(manifest.files.items()):
        digest, size = archive.digest(name)
        if digest != listed.sha256:
            yield Difference(name, "SHA-256 of the file", listed.sha256, digest)
        elif size != listed.bytes:
            yield Difference(name, "size in bytes", listed.bytes, size)


def _campaign(archive: Archive, manifest: Manifest, part: CampaignEntry, report: Report) -> str:
    """Recompute a campaign, and return the hash of its data as the installation that measured them had it."""
    comparing = Comparing(
        part.folder,
        exact=dict(part.versions) == versions_now()
        and dict(manifest.arithmetic) == manifests.arithmetic(),
        texts=not part.taken_out,
        same_rules=not of_earlier_rules(part.versions.get("methods", "")),
    )
    with apart(), _analysing(part):
        campaign = load(archive, part.folder)
        evidence = Evidence(campaign)
        report.differences += evidence.differences(part.folder)
        report.unverified += evidence.unverified()
        results, document = compute(campaign)
        hashed = data_hash(**document)
        definition = archive.document(part.folder + DEFINITION)
        report.differences += comparing.definition(definition, storage.definition_of(campaign))
        stored = _findings(archive, part)
        if hashed != part.bundle_hash:
            report.differences.append(
                Difference(manifests.NAME, "hash of the data", part.bundle_hash, hashed)
            )
        report.differences += comparing.findings(stored, results, part)
        report.unverified += _judged_otherwise(comparing.otherwise, part)
        report.unverified += _texts_of_version_1(stored)
    report.numbers += comparing.numbers
    report.campaigns.append(f"{part.name} ({part.data_hash})")
    report.notes += _notes(manifest, part)
    return hashed if part.bundle_hash == part.data_hash else part.data_hash


def _more(archive: Archive, manifest: Manifest, hashes: Mapping[str, str], report: Report) -> None:
    """Check the other files: a conclusion, and its reports."""
    names = sorted(name for name in manifest.files if name.startswith(MORE))
    value = None
    if FILE in names:
        value = archive.document(FILE)
        report.differences += hashes_that_differ(value, hashes)
    report.unverified += unverified(value, names)


def _findings(archive: Archive, part: CampaignEntry) -> JsonObject:
    """Return the findings by name. Raise Damaged."""
    result: JsonObject = {}
    name = part.folder + FINDINGS.file
    with closing(archive.lines(name)) as lines:
        for number, line in lines:
            if not isinstance(line, dict) or not {"name", "result", "data_hash"} <= line.keys():
                raise Damaged(f"{name}, line {number} is no finding.")
            if line["name"] in result:
                raise Damaged(f"{name}, line {number}: “{line['name']}” is there twice.")
            result[line["name"]] = line
    return result


def _judged_otherwise(places: Sequence[str], part: CampaignEntry) -> Iterator[str]:
    """Yield that rules have changed since: only the version that wrote a bundle can tell what it judged."""
    if places:
        more = f" and {len(places) - MOST_PLACES} more" if len(places) > MOST_PLACES else ""
        methods = part.versions.get("methods", "none")
        yield (
            f"taken as read: verdicts by methods {methods}, which methods {METHODS} give otherwise "
            f"({', '.join(places[:MOST_PLACES])}{more}): the version that wrote the bundle verifies them"
        )


def _texts_of_version_1(findings: Json) -> Iterator[str]:
    """Yield what findings of version 1 hold and later ones do not."""
    if any(is_of_version_1(line["result"]) for line in findings.values()):
        yield "taken as read: sentences and labels in findings, which later versions do not store"


def _notes(manifest: Manifest, part: CampaignEntry) -> Iterator[str]:
    now = versions_now()
    others = [
        f"{name} {part.versions.get(name, 'none')} (here {now.get(name, 'none')})"
        for name in sorted({*now, *part.versions})
        if now.get(name) != part.versions.get(name)
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
    if part.bundle_hash != part.data_hash:
        yield (
            f"Secrets were taken out of what is hashed, so that {part.data_hash}, the hash where it was "
            f"measured, cannot be computed here; that of the bundle is {part.bundle_hash}."
        )
    elif part.taken_out:
        yield f"Secrets were taken out of {', '.join(sorted(part.taken_out))}."


@contextmanager
def _analysing(part: CampaignEntry) -> Iterator[None]:
    """Raise Damaged for any error of the analysis: the rows may be hostile."""
    try:
        yield
    except Damaged:
        raise
    except Exception as error:
        text = " ".join(str(error).split())[:300]
        raise Damaged(
            f"The data in {part.folder} cannot be analysed: {type(error).__name__}: {text}"
        ) from error


@contextmanager
def apart() -> Iterator[None]:
    """Have empty temporary tables in place of all others until the block ends, and roll everything back."""
    with transaction.atomic():
        with connection.cursor() as cursor:
            cursor.execute("SET LOCAL search_path TO pg_temp")
            # An analysis may take minutes between two statements, and locks nothing of anybody.
            cursor.execute("SET LOCAL idle_in_transaction_session_timeout TO 0")
            cursor.execute(_definitions())
        try:
            yield
        finally:
            transaction.set_rollback(True)


def load(archive: Archive, folder: str) -> Campaign:
    """Load a campaign into the tables of `apart`. Raise Damaged where its rows are inconsistent."""
    for table in TABLES:
        if table.new and folder + table.file not in archive.infos:
            continue
        try:
            with transaction.atomic():
                _load(archive, folder + table.file, table)
        except DatabaseError as error:
            raise Damaged(f"{folder}{table.file} does not fit: {_text(error)}") from None
    try:
        with connection.cursor() as cursor:
            cursor.execute("SET CONSTRAINTS ALL IMMEDIATE")
    except DatabaseError as error:
        raise Damaged(f"The rows in {folder} do not fit together: {_text(error)}") from None
    campaigns = list(Campaign.objects.all()[:2])
    if len(campaigns) != 1:
        raise Damaged(f"{folder}rows/campaign.ndjson holds {len(campaigns)} campaigns, not one.")
    return campaigns[0]


def _load(archive: Archive, name: str, table: Table) -> None:
    with closing(archive.lines(name)) as lines:
        rows = (as_row(table, result, f"{name}, line {n}") for n, result in lines)
        while some := list(islice(rows, table.chunk)):
            (table.save or table.model._default_manager.bulk_create)(some)


@cache
def _definitions() -> str:
    """Return the statements that create the tables of a bundle and of an analysis, and those that these refer to."""
    needed = _referred_to([PublishedAnswer, *(table.model for table in (*TABLES, FINDINGS))])
    models = [model for label in APPS for model in apps.get_app_config(label).get_models()]
    with connection.schema_editor(collect_sql=True, atomic=False) as editor:
        for model in models:
            if model in needed and not model._meta.auto_created:
                editor.create_model(model)
    return "\n".join(editor.collected_sql)


def _referred_to(models: Iterable[type[Model]]) -> set[type[Model]]:
    """Return models with all that they refer to."""
    results = set()
    left = list(models)
    while left:
        model = left.pop()
        if model not in results:
            results.add(model)
            fields = (*model._meta.local_fields, *model._meta.local_many_to_many)
            left += [each.related_model for each in fields if each.related_model]
    return results


def _text(error: Exception) -> str:
    return " ".join(str(error).split())[:300]


def hashes_that_differ(conclusion: Any, hashes: Mapping[str, str]) -> Iterator[Difference]:
    """Compare the hashes of evidence and decisions with those that the data give, by folder.

    Unless the conclusion is in review or accepted, its data may have changed since; then only its decisions
    and its evidence have to agree. Raise Damaged.
    """
    evidence = _evidence(conclusion)
    if conclusion.get("state") in Conclusion.STANDING:
        for number, (campaign, value) in enumerate(evidence, 1):
            gives = hashes.get(f"campaign-{campaign}/", "no such campaign")
            if value != gives:
                yield Difference(FILE, f"evidence {number}, data_hash", value, gives)
    together = hash_together(evidence)
    for number, decision in enumerate(_objects(conclusion, "decisions"), 1):
        of_this = decision.get("revision") == conclusion.get("revision")
        if of_this and together and decision.get("data_hash") != together:
            place = f"decision {number} by {decision.get('by')}, data_hash"
            yield Difference(FILE, place, decision.get("data_hash"), together)


def unverified(conclusion: Any, names: Sequence[str]) -> Iterator[str]:
    """Yield what cannot be verified of the files other than campaigns. names: of those files."""
    if others := [name for name in names if name != FILE]:
        yield f"taken as read: {', '.join(others)}"
    if FILE not in names:
        return
    yield f"taken as read: the words of {FILE}, its versions, and decisions on earlier revisions"
    if conclusion.get("state") not in Conclusion.STANDING:
        yield (
            f"taken as read: the hashes of its evidence, as the conclusion is {conclusion.get('state')}: "
            "its data may have moved since"
        )


def _evidence(value: Any) -> list[tuple[int, str]]:
    """Return the ids of campaigns with the stated hashes of their data."""
    try:
        return [
            (int(each["campaign"]), str(each["data_hash"])) for each in _objects(value, "evidence")
        ]
    except (KeyError, TypeError, ValueError) as error:
        raise Damaged(f"{FILE} is no conclusion: {error!r}.") from None


def _objects(value: Any, name: str) -> list[JsonObject]:
    result = value.get(name) if isinstance(value, dict) else None
    if not isinstance(result, list) or not all(isinstance(each, dict) for each in result):
        raise Damaged(f"{FILE} is no conclusion: it has no list “{name}”.")
    return result


class Evidence:
    """The loaded evidence of a campaign."""

    def __init__(self, campaign: Campaign) -> None:
        self.campaign = campaign
        self.driver = driver_if_known(campaign.kind)
        self.recomputed: Counter[str] = Counter()
        self.with_samples = 0

    def differences(self, folder: str) -> Iterator[Difference]:
        """Recompute values and histograms from raw samples, and check the counts of histograms."""
        yield from self._counts(folder)
        attempts = Attempt.objects.filter(run__campaign=self.campaign).select_related("run")
        for attempt in attempts.filter(raw_samples__isnull=False).iterator(chunk_size=50):
            raw = RawSamples.objects.get(attempt=attempt)
            columns = columns_of(bytes(raw.columns))
            place = _of(attempt)
            lengths = {len(column) for column in columns.values()}
            if lengths - {raw.count}:
                file = f"{folder}rows/raw_samples.ndjson"
                yield Difference(file, f"{place}, rows", raw.count, max(lengths))
            again = self._again(attempt, columns)
            if again is not None:
                self.with_samples += 1
                yield from self._values(folder, attempt, again)
                yield from self._histograms(folder, attempt, again)

    def unverified(self) -> list[str]:
        """Describe which values were recomputed, and which could not be."""
        measured = Measurement.objects.filter(attempt__run__campaign=self.campaign)
        metrics = sorted(
            set(measured.values_list("metric__name", flat=True)) - self.recomputed.keys()
        )
        attempts = Attempt.objects.filter(run__campaign=self.campaign)
        ended = attempts.filter(state__in=Attempt.WITH_VALUES).count()
        result = []
        if self.recomputed:
            result.append(
                f"computed again from raw samples of {self.with_samples} of "
                f"{counted(ended, 'attempt')}: {', '.join(sorted(self.recomputed))}"
            )
        if metrics:
            result.append(f"taken as read, since no raw samples give them: {', '.join(metrics)}")
        if self.with_samples < ended:
            left = counted(ended - self.with_samples, "attempt")
            result.append(f"taken as read: all values of {left} without raw samples")
        result.append(
            "taken as read: series, phases, proofs, settings in force, environment, the log, and of "
            "attempts CPU, bandwidth, reasons and instants"
        )
        return result

    def _counts(self, folder: str) -> Iterator[Difference]:
        every = Distribution.objects.filter(attempt__run__campaign=self.campaign)
        for row in every.select_related("attempt__run").order_by("pk").iterator(chunk_size=50):
            total = _total(bytes(row.encoded))
            if total != row.count:
                file, place = f"{folder}rows/distribution.ndjson", f"{_of(row.attempt)}, {row.name}"
                yield Difference(file, f"{place}, count", row.count, total)

    def _again(self, attempt: Attempt, columns: Mapping[str, list[Any]]) -> Recomputed | None:
        if self.driver is None:
            return None
        values = dict(attempt.measurements.values_list("metric__name", "value"))
        try:
            return self.driver.recompute(columns, values)
        except (KeyError, TypeError, ValueError, IndexError, ZeroDivisionError):
            return None

    def _values(self, folder: str, attempt: Attempt, again: Recomputed) -> Iterator[Difference]:
        file = f"{folder}rows/measurement.ndjson"
        for row in attempt.measurements.order_by("metric__name"):
            gives = again.values.get(row.metric.name)
            if gives is None or row.censored:
                continue
            self.recomputed[row.metric.name] += 1
            if not math.isclose(row.value, gives, rel_tol=CLOSE):
                yield Difference(file, f"{_of(attempt)}, {row.metric.name}", row.value, gives)
        if again.units_done is not None and again.units_done != attempt.units_done:
            file = f"{folder}rows/attempt.ndjson"
            yield Difference(
                file, f"{_of(attempt)}, units_done", attempt.units_done, again.units_done
            )

    def _histograms(self, folder: str, attempt: Attempt, again: Recomputed) -> Iterator[Difference]:
        for row in attempt.distributions.order_by("name"):
            times = again.times_us.get(row.name)
            if times is None:
                continue
            self.recomputed[f"histogram of {row.name}"] += 1
            if difference := _step_that_differs(bytes(row.encoded), times):
                file = f"{folder}rows/distribution.ndjson"
                yield Difference(file, f"{_of(attempt)}, {row.name}", *difference)


def _total(encoded: bytes) -> int | str:
    try:
        return histogram.counts_of(encoded).total
    except Exception as error:  # noqa: BLE001  the library raises what it likes
        return f"no histogram ({type(error).__name__})"


def _step_that_differs(encoded: bytes, times: Iterable[int]) -> tuple[str, str] | None:
    """Return the stored and the recomputed count of the first step where they differ."""
    value = histogram.counts_of(encoded)
    gives = histogram.counts_of(histogram.encode(times).encoded)
    if np.array_equal(value.steps, gives.steps) and np.array_equal(value.counts, gives.counts):
        return None
    stored, again = (
        dict(zip(e.steps.tolist(), e.counts.tolist(), strict=True)) for e in (value, gives)
    )
    step = min(s for s in {*stored, *again} if stored.get(s) != again.get(s))
    return f"{stored.get(step, 0)} in step {step}", f"{again.get(step, 0)}"


def _of(attempt: Attempt) -> str:
    trial = "try-out " if attempt.run.purpose == Run.Purpose.TRIAL else ""
    return f"{trial}run {attempt.run.position}, attempt {attempt.number}"
