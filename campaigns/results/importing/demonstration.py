"""Create what a new user finds: an imported campaign with its answer, and the simulators as targets."""

import json
from collections.abc import Mapping
from pathlib import Path

from django.contrib.auth.models import User
from django.db import transaction

from campaigns.models import Campaign, Target
from campaigns.models.teams import default_team
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
PULP = "Sandbox Pulp"


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


def sandbox_target(base_url: str) -> str:
    """Create the target of the sandbox, or update its address; see `simulator_target`."""
    notes = "A simulator that comes with perfdash. Its front page explains its URLs."
    return simulator_target(
        {"name": SANDBOX, "family": "http", "base_url": base_url, "notes": notes}
    )


def pulp_target(base_url: str) -> str:
    """Create the target of the simulated Pulp, or update its address; see `simulator_target`."""
    notes = (
        "A simulated Pulp 3 that comes with perfdash: its numbers say nothing about a real one. It syncs from "
        "its own machine only, such as the repositories of the sandbox."
    )
    login = {"username": "admin", "password": "password"}  # what every simulator starts with
    server = {"name": PULP, "family": "pulp", "base_url": base_url, "notes": notes}
    return simulator_target({**server, **login, "is_dedicated": True})


@transaction.atomic
def simulator_target(server: Mapping[str, str | bool]) -> str:
    """Create the target of a simulator, or update its address. Return a report as text.

    It is created once: after its owner retires it, it is not created again. The address stays while a campaign is
    measuring it, or where somebody gave the name to a server of their own. Raise Invalid where the installation's rules
    do not allow the address.
    """
    server = {**server, "confirm_address": True}
    name, base_url = str(server["name"]), str(server["base_url"])
    row = Target.objects.filter(name=name, retired_at=None).first()
    if row is None:
        if Target.objects.filter(name__startswith=f"{name} (retired ").exists():
            return ""
        saving.save_target(server)
        return f"Made the target {name} at {base_url}."
    is_ours = row.family == server["family"] and row.username == server.get("username", "")
    if not is_ours or row.base_url == base_url:
        return ""
    if value := paused_where_it_was(row, base_url):
        return value
    saving.save_target(as_data(row) | server | {"notes": row.notes}, row)
    return f"The target {name} is at {base_url} now."
