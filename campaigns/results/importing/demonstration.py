"""Create the demonstration: an imported campaign with its answer, and a draft that can be launched."""

import json
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction

from campaigns.models import Campaign, Target
from campaigns.models.teams import default_team
from campaigns.planning import checking, drafts
from campaigns.planning.analyses import request_analysis
from campaigns.results.importing.document import read_submission
from campaigns.results.importing.files import About, import_file
from campaigns.results.importing.receiving import create
from campaigns.results.importing.simulated_katello import paused_where_it_was
from campaigns.targets import saving
from campaigns.targets.forms import as_data

PUBLISHED = Path(__file__).with_name("published_sync_runs.csv")
PUBLISHED_SOURCE = (
    "Published raw data of the Pulp 3 download_concurrency experiment, July 2020; "
    "instants as published, taken as UTC"
)
SUBMISSIONS = Path(__file__).with_name("published")
"""Experiments of which only figures were published, as submissions; `source` says that their rows are simulated."""
SANDBOX = "sandbox"
REPOSITORY = "repo/files=200/size=20kB/latency=20/PULP_MANIFEST"
FEW, MANY = 2, 20
PAIRS = 6
"""200 files that the sandbox answers after 20 ms take 2 s two at a time and 0.2 s twenty at a time: enough
for an answer on a machine that is busy with something else, too."""


def published_campaign(author: User | None) -> tuple[Campaign, bool]:
    """Return the campaign of the 18 published sync runs, and whether this call imported it."""
    row = Campaign.objects.filter(kind="external", source=PUBLISHED_SOURCE).first()
    if row is not None:
        return row, False
    about = About(
        filename=PUBLISHED.name,
        definition={
            "question": "Which download_concurrency should be the default of a Pulp sync?",
            "name": "Pulp 3 sync: download_concurrency",
            "source": PUBLISHED_SOURCE,
            "tags": ["published", "pulp"],
        },
        context={
            "content": "CentOS 7 os/x86_64, policy immediate, over the Internet",
            "cpu": "i7-6700",
            "disk": "7200 rpm",
            "memory": "32 GB",
            "network": "900 Mbit/s",
            "software": "pulpcore and pulp_rpm of 2020-07-25",
        },
    )
    with PUBLISHED.open("rb") as file:
        return import_file(file, about, author).campaign, True


def published_submissions(author: User | None) -> list[Campaign]:
    """Store the experiments of SUBMISSIONS as campaigns, and request their analysis; one that is stored is returned as it is."""
    campaigns = []
    for path in sorted(SUBMISSIONS.glob("*.json")):
        submitted = read_submission(json.loads(path.read_text(encoding="utf-8")))
        row = Campaign.objects.filter(
            team=default_team(), external_id=submitted.external_id
        ).first()
        campaign = row or create(submitted, author).campaign
        if not campaign.findings.exists():
            request_analysis(campaign)
        campaigns.append(campaign)
    return campaigns


@transaction.atomic
def sandbox_target(base_url: str, author: User | None) -> str:
    """Create the target `sandbox` with its draft, or update its address. Return a report as text.

    Both are created once: after the owner retires the target or deletes the draft they are not created
    again. The address stays while a campaign is measuring it, or where somebody gave the name to a server
    of their own. Raise Invalid where the installation's rules do not allow the address.
    """
    row = Target.objects.filter(name=SANDBOX, retired_at=None).first()
    if row is None:
        if Target.objects.filter(name__startswith=f"{SANDBOX} (retired ").exists():
            return ""
        target = saving.save_target(_server(base_url))
        drafts.create(checking.check(_comparison(target)), author)
        return f"Made the target {SANDBOX} at {base_url}, and a draft that measures it."
    taken_over = row.family != "http" or row.username or row.password
    if taken_over or row.base_url == base_url:
        return ""
    if value := paused_where_it_was(row, base_url):
        return value
    saving.save_target(as_data(row) | _server(base_url, row.notes), row)
    return f"The target {SANDBOX} is at {base_url} now."


def _server(base_url: str, notes: str = "") -> dict[str, object]:
    return {
        "name": SANDBOX,
        "family": "http",
        "base_url": base_url,
        "notes": notes or "A simulator that comes with perfdash. Its front page explains its URLs.",
        "confirm_address": True,
    }


def _comparison(target: Target) -> dict[str, object]:
    """Return a comparison with a large effect that takes about half a minute."""
    return {
        "kind": "downloader",
        "question": f"Is it faster to download {MANY} files at a time than {FEW}?",
        "name": f"{MANY} files at a time vs. {FEW}",
        "target": target.pk,
        "parameters": {"manifest": REPOSITORY},
        "factors": {"concurrency": [FEW, MANY]},
        "order": Campaign.Order.PAIRED,
        "paired_factor": "concurrency",
        "baseline": str(FEW),
        "repetitions": PAIRS,
        "seed": 2,
        "tags": ["demo"],
    }
