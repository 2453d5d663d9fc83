"""Bundles of a campaign, and of one that somebody has tampered with."""

import json
import math
import zipfile
from datetime import UTC, datetime, timedelta
from hashlib import sha256

import pytest

from campaigns.findings import compute
from campaigns.kinds.base import EffectiveSetting, Proof
from campaigns.kinds.downloader import driver as downloader
from campaigns.kinds.downloader.summary import Download
from campaigns.kinds.programs.manifest import Entry
from campaigns.models import Attempt, Campaign, Run, Target
from campaigns.planning import checking, drafts, lifecycle
from campaigns.results import storing
from campaigns.results.importing.demonstration import published_campaign
from campaigns.results.storing import Outcome
from campaigns.reviews.bundles import write_bundle
from campaigns.tests.people import somebody
from campaigns.tests.remembered import remembered

MANIFEST = "manifest.json"
START = datetime(2026, 1, 1, tzinfo=UTC)


@pytest.fixture
def published():
    """The imported campaign of Pulp's download_concurrency, analysed."""
    return remembered(_published)


def _published():
    campaign, _ = published_campaign(None)
    compute.analyse(campaign)
    return campaign


@pytest.fixture
def written(tmp_path):
    """Write the bundle of a campaign; give its path."""

    def write(campaign, name="bundle.zip"):
        path = tmp_path / name
        with path.open("wb") as file:
            write_bundle(file, [campaign])
        return path

    return write


def contents(path):
    with zipfile.ZipFile(path) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(path, files):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return path


def repaired(files):
    """As whoever tampers would: digests and sizes of the manifest fit again."""
    manifest = json.loads(files[MANIFEST])
    for name in manifest["files"]:
        data = files[name]
        manifest["files"][name] = {"sha256": sha256(data).hexdigest(), "bytes": len(data)}
    return {**files, MANIFEST: json.dumps(manifest, sort_keys=True).encode() + b"\n"}


def rows(files, name):
    (file,) = [each for each in files if each.endswith(f"rows/{name}.ndjson")]
    return file, [json.loads(line) for line in files[file].splitlines()]


def with_rows(files, file, changed):
    lines = "".join(json.dumps(row, ensure_ascii=False, sort_keys=True) + "\n" for row in changed)
    return {**files, file: lines.encode()}


def download_of(run, seconds, files=40):
    """What the driver gives of a run that downloaded 40 files, one of which failed."""
    entries = [Entry(f"f{number}", "0" * 64, 1000 + number) for number in range(files)]
    failed = {7: "5xx"}
    columns = {
        "file": list(range(files)),
        "start_us": [number * 100 for number in range(files)],
        "first_byte_us": [1000 + number * run.position for number in range(files)],
        "total_us": [5000 + number * 13 * run.position for number in range(files)],
        "bytes": [each.size for each in entries],
        "status": [200] * files,
        "failure": [failed.get(number, "") for number in range(files)],
    }
    result = {
        "complete": True,
        "seconds": seconds,
        "cpu_seconds": seconds / 3,
        "peak_memory_bytes": 50_000_000 + run.position,
        "figures": {"effective_concurrency": 3.5},
        "examples": {"5xx": "HTTP 503"},
        "bytes_per_second": [1e6, 2e6],
        "step_seconds": 0.5,
    }
    return downloader._measured(Download(entries, columns, result, 60.0), is_target_here=True)


@pytest.fixture
def downloads(settings, db):
    """A finished, analysed campaign of three pairs with all the evidence that a driver gives."""
    settings.ALLOWED_ADDRESSES = "127.0.0.1:9"
    return remembered(_downloads)


def _downloads():
    target = Target.objects.create(
        name="server", family="http", base_url="http://127.0.0.1:9", address="127.0.0.1:9"
    )
    data = {
        "question": "Is asyncio faster?",
        "kind": "downloader",
        "target": target.pk,
        "factors": {"engine": ["futures", "asyncio"]},
        "parameters": {"manifest": "repo/PULP_MANIFEST"},
        "order": "paired",
        "paired_factor": "engine",
        "baseline": "futures",
        "repetitions": 6,
        "seed": 1,
    }
    ann = somebody("ann")
    campaign = lifecycle.launch(drafts.create(checking.check(data), ann), ann)
    for run in campaign.runs.order_by("position"):
        measure(campaign, run)
    Campaign.objects.filter(pk=campaign.pk).update(
        state=Campaign.State.FINISHED, closed_at=START + timedelta(hours=2)
    )
    campaign.refresh_from_db()
    compute.analyse(campaign)
    campaign.refresh_from_db()
    return campaign


def measure(campaign, run, measured_by=download_of):
    """Store an accepted attempt as the keeper does."""
    level = run.cell.levels_by_factor.get("engine", campaign.parameters.get("engine"))
    seconds = (2.0 if level == "futures" else 1.5) + math.sin(run.position) / 50
    started = START + timedelta(minutes=run.position)
    measured = measured_by(run, seconds)
    attempt = Attempt.objects.create(
        run=run,
        number=1,
        state=Attempt.State.ACCEPTED,
        pool="measure",
        worker="measure@host",
        host="host",
        token=1,
        queued_at=started,
        claimed_at=started,
        measure_started_at=started,
        measure_finished_at=started + timedelta(seconds=seconds),
        finished_at=started + timedelta(seconds=30),
        units_done=measured.units_done,
        units_failed=measured.units_failed,
        failures=dict(measured.failures),
    )
    told = Outcome(
        state=Attempt.State.ACCEPTED,
        clean_state=[Proof("files left", 0, 0, "files", ok=True)],
        same_work=[Proof("files there", 39, 39, "files", ok=True)],
        settings=[EffectiveSetting("engine", level, level, ok=True)],
        measured=measured,
        steps={"reset": 0.5, "measure": seconds},
        environment={"target": {"server": "nginx"}, "generator": {"python": "3.11"}},
    )
    storing.store(attempt, campaign, told)
    Run.objects.filter(pk=run.pk).update(
        state=Run.State.DONE, started_at=started, finished_at=started + timedelta(seconds=30)
    )
