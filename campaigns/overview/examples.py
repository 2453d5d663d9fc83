"""Examples to begin with: a published experiment in small, on simulated servers, launched with one click."""

from collections.abc import Callable, Mapping, Set
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from django.contrib.auth.models import User
from django.utils import timezone

from campaigns.findings.answers import published
from campaigns.models import Campaign, Target
from campaigns.planning import drafts
from campaigns.planning.checking import check
from campaigns.planning.pages.forms import new_seed
from campaigns.results.importing.demonstration import PULP, SANDBOX
from campaigns.results.importing.simulated_katello import KATELLO

TAG = "example"
FIRST_DAYS = timedelta(days=7)
"""So long after a simulator became a target the overview shows what was launched already."""
REPOSITORIES = ((100, "4.08"), (200, "8.19"), (300, "12.06"), (400, "15.65"), (500, "19.46"))
"""Files and MB of the published repositories, whose sizes are divided by 100."""


@dataclass(frozen=True, slots=True)
class Example:
    """A campaign on simulated servers.

    target: its name; needs: names of further simulators; takes: measured with script/server on two cores; published: what
    the experiment found. definition: of the keys by the name of the target, and of the URL of the sandbox.
    """

    name: str
    kind: str
    title: str
    target: str
    simulated: str
    takes: str
    published: str
    definition: Callable[[str], Mapping[str, Any]]
    needs: tuple[str, ...] = ()


def _sync_study(sandbox_url: str) -> dict[str, Any]:
    return {
        "question": "Which download_concurrency should be the default of a Pulp sync?",
        "name": "The sync study in small",
        "parameters": {
            "content": "file",
            "policy": "immediate",
            "feed": f"{sandbox_url}/repo/files=100/size=20kB/latency=100/PULP_MANIFEST",
        },
        "factors": {"download_concurrency": [3, 5, 7, 10, 15, 20]},
        "order": Campaign.Order.INTERLEAVED,
        "repetitions": 3,
    }


def _two_downloaders(sandbox_url: str) -> dict[str, Any]:
    return {
        "question": "Is the asyncio downloader faster than futures?",
        "name": "asyncio vs. futures over five repositories",
        "parameters": {"concurrency": 10},
        "factors": {
            "engine": ["futures", "asyncio"],
            "manifest": [
                f"repo/files={files}/total={size}MB/latency=200/PULP_MANIFEST"
                for files, size in REPOSITORIES
            ],
        },
        "order": Campaign.Order.PAIRED,
        "paired_factor": "engine",
        "baseline": "futures",
        "primary_contrast": {"factor": "engine", "candidate": "asyncio", "baseline": "futures"},
        "repetitions": 3,
    }


def _registrations(sandbox_url: str) -> dict[str, Any]:
    return {
        "question": "How much faster do 100 hosts register at once with 4 Puma workers than with 2?",
        "name": "100 registrations with 2 and 4 Puma workers",
        "parameters": {
            "organization": "ACME",
            "activation_keys": "bench-ak",
            "profile": "rhsm-1.30",
            "hosts": 100,
            "start": "barrier",
            "puma_threads": 16,
        },
        "factors": {"puma_workers": [2, 4]},
        "order": Campaign.Order.PAIRED,
        "paired_factor": "puma_workers",
        "baseline": "2",
        "repetitions": 4,
    }


EXAMPLES = (
    Example(
        name="sync-study",
        kind="sync",
        title="Repeat the published sync study, in small",
        target=PULP,
        simulated="The Pulp. It syncs 100 files of the sandbox, each answered after 100 ms, instead of CentOS 7 over the Internet.",
        takes="18 runs, about a minute.",
        published="20, 15, 10, 7, 5 and 3 downloads at a time took 10:39, 12:31, 13:33, 15:30, 18:15 and 29:12 min, with a distinct "
        "knee below 5.",
        definition=_sync_study,
        needs=(SANDBOX,),
    ),
    Example(
        name="two-downloaders",
        kind="downloader",
        title="Compare two downloaders over five repositories",
        target=SANDBOX,
        simulated="The file server. It has a hundredth of the bytes in as many files, each answered after 200 ms.",
        takes="30 runs, about four minutes.",
        published="asyncio was roughly 19.5 % faster than futures, on average over five repositories of 100 to 500 files. That was inside "
        "Pulp; these are perfdash's own downloaders.",
        definition=_two_downloaders,
    ),
    Example(
        name="registrations",
        kind="registration",
        title="Register hosts with two and four Puma workers",
        target=KATELLO,
        simulated="The Katello: a model of a server with 8 CPUs, ten times as fast. 100 hosts register at once.",
        takes="8 runs, about two minutes.",
        published="With 16 threads, 4 workers were 26 % better than 2 on 4 CPUs, and 51 % on 8 CPUs. 2 workers carried up to 480 concurrent "
        "registrations.",
        definition=_registrations,
    ),
)


@dataclass(frozen=True, slots=True)
class Offered:
    """An example with its target, and the last campaign that was made of it. sentence: its answer, once it has one."""

    example: Example
    target: Target
    last: Campaign | None
    sentence: str

    @property
    def is_active(self) -> bool:
        """Whether it is being measured."""
        return self.last is not None and self.last.state in Campaign.ACTIVE


def offered(teams: Set[int]) -> list[Offered]:
    """Return the examples whose simulators are targets of teams; none where there is no sandbox."""
    targets = _simulators(teams)
    made = Campaign.objects.filter(
        tags__contains=[TAG], team__in=teams, target__in=targets.values()
    )
    last = {campaign.kind: campaign for campaign in made.order_by("created_at", "pk")}
    answers = published().in_bulk([campaign.pk for campaign in last.values()])
    offers = []
    for example in EXAMPLES:
        if {example.target, *example.needs} <= targets.keys():
            campaign = last.get(example.kind)
            ended = campaign is not None and campaign.state not in Campaign.ACTIVE
            answer = answers.get(campaign.pk) if campaign is not None and ended else None
            sentence = answer.sentence if answer else ""
            offers.append(Offered(example, targets[example.target], campaign, sentence))
    return offers


def for_overview(offers: list[Offered]) -> list[Offered]:
    """Return the examples while one of them was never launched, or in the first days."""
    since = timezone.now() - FIRST_DAYS
    fresh = any(
        each.last is None
        or each.is_active
        or each.last.state == Campaign.State.DRAFT
        or each.target.created_at > since
        for each in offers
    )
    return offers if fresh else []


def draft_of(offer: Offered, user: User) -> Campaign:
    """Store a new draft of an example. Raise Invalid."""
    example = offer.example
    sandbox = Target.objects.filter(
        name=SANDBOX, retired_at=None, team=offer.target.team_id
    ).first()
    data = {
        **example.definition(sandbox.base_url if sandbox else ""),
        "kind": example.kind,
        "target": offer.target.pk,
        "tags": [TAG],
        "seed": new_seed(),
    }
    return drafts.create(check(data, Target.objects.filter(pk=offer.target.pk)), user)


def _simulators(teams: Set[int]) -> dict[str, Target]:
    """Return the targets that `manage.py prepare` made of the simulators, by name."""
    families = {SANDBOX: "http", PULP: "pulp", KATELLO: "katello"}
    rows = Target.objects.filter(name__in=families, retired_at=None, team__in=teams)
    return {row.name: row for row in rows if row.family == families[row.name]}
