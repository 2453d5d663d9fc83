"""Real rows of a team: one of everything that an address may name."""

from dataclasses import dataclass
from typing import Any
from zlib import compress

from django.contrib.auth.models import User
from django.db.models.functions import Now

from campaigns.accounts.access import make_token
from campaigns.kit.encryption import token_hash
from campaigns.kit.histogram import encode
from campaigns.models import (
    Alert,
    Attempt,
    AttemptOutput,
    Block,
    Campaign,
    Channel,
    Comment,
    Conclusion,
    Credential,
    Distribution,
    Evidence,
    Exclusion,
    Invitation,
    LaunchRequest,
    Line,
    ManualStep,
    Mute,
    Population,
    Program,
    PublicLink,
    Run,
    Series,
    Session,
    Setting,
    SshLogin,
    Submission,
    TargetStep,
    Team,
    Template,
    Thread,
    Trend,
    Watch,
)
from campaigns.planning import drafts, storage
from campaigns.planning.checking import check
from campaigns.targets import saving
from campaigns.tests.measured import finish, launched, store
from campaigns.tests.people import somebody
from campaigns.tests.toy import definition

READ = {"way": "http", "method": "GET", "url": "/x", "at": "value"}
HTTP = {"way": "http", "method": "PUT", "url": "/x", "body": {"value": "{value}"}}


@dataclass(frozen=True, slots=True)
class Rows:
    """What stands for the names in addresses, for one team: by the beginning of an address."""

    team: Team
    campaign: Campaign
    named: dict[str, Any]


def rows_of(team: Team, number: int) -> Rows:
    """Make one of everything in a team."""
    founder = somebody(f"founder{number}", "admin", team=team)
    target = saving.save_target(
        {
            "name": "server",
            "family": "http",
            "base_url": f"http://127.0.0.1:{number}",
            "confirm_address": True,
        },
        team=team,
    )
    setting = Setting.objects.create(
        target=target, name="workers", type="integer", apply=HTTP, read_back=READ
    )
    step = TargetStep.objects.create(
        target=target,
        name="restart",
        purpose="reset",
        action={"way": "http", "method": "POST", "url": "/r"},
    )
    SshLogin.objects.create(target=target, host="127.0.0.1", username="root")
    watch = Watch.objects.create(target=target, source="gone", address="127.0.0.1:1")
    campaign = launched(target, founder, repetitions=6)
    store(campaign, lambda run: 10.0 + run.position / 100)
    campaign = finish(campaign)
    attempt = campaign.runs.order_by("position")[0].attempts.get()
    encoded = encode([1000, 2000])
    Distribution.objects.create(
        attempt=attempt, name="latency", encoded=encoded.encoded, count=encoded.count
    )
    _series(attempt)
    AttemptOutput.objects.create(attempt=attempt, name="stdout", size=0, content=compress(b""))
    program = Program.objects.create(
        team=team, name=f"program-{number}", definition={"name": "program", "arguments": ["true"]}
    )
    published = Program.objects.create(
        team=team,
        name=f"published-{number}",
        kind=f"published-{number}-00000000",
        state="published",
        definition={"name": "published", "label": "Published", "arguments": ["true"]},
    )
    exclusion = Exclusion.objects.create(
        run=campaign.runs.get(position=2), user=founder, reason="a slip", withdrawn_at=Now()
    )
    trial = _trial(campaign)
    draft = drafts.create(check(definition(target=target.pk, seed=number)), founder)
    file = Submission.objects.create(
        team=team, user=founder, state="refused", filename="a.csv", digest=str(number)
    )
    conclusion = _conclusion(campaign, founder)
    thread = Thread.objects.create(team=team, on="campaign", campaign=campaign)
    Comment.objects.create(thread=thread, author=founder, text="Why?")
    link = PublicLink.objects.create(
        conclusion=conclusion, hash=token_hash(f"link{number}"), made_by=founder
    )
    line = Line.objects.create(team=team, name="nightly", kind="toy", question="?", owner=founder)
    trend = Trend.objects.create(line=line, metric="duration", label="Duration", fingerprint="x")
    return Rows(
        team,
        campaign,
        {
            "campaigns": campaign.pk,
            "position": 1,
            "try": trial.position,
            "number": attempt.number,
            "exclusion": exclusion.pk,
            "findings": "answer",
            "distributions": "latency",
            "series": "rate",
            "charts": "series-1",
            "outputs": "stdout",
            "programs": program.pk,
            "targets": target.pk,
            "settings": setting.name,
            "recipes": "apache-limitnofile",
            "steps": step.pk,
            "watches": watch.pk,
            "populations": Population.objects.create(
                target=target, hosts=1, organization="ACME", activation_keys="key", state="ready"
            ).pk,
            "credentials": Credential.objects.create(
                team=team, name=f"feed-{number}", places=["https://cdn.example:443"]
            ).pk,
            "source": "ssh",
            "teams": team.pk,
            "user": somebody(f"guest{number}", "viewer", team=team).username,
            "members": somebody(f"other{number}", "viewer", team=team).memberships.get().pk,
            "launch-requests": LaunchRequest.objects.create(
                campaign=draft, step="launch", definition_hash="x", asked_by=founder
            ).pk,
            "manual-steps": ManualStep.objects.create(
                target=target, campaign=campaign, setting=setting, value=1, words="Set it."
            ).pk,
            "submissions": file.pk,
            "import": file.pk,
            "conclusions": conclusion.pk,
            "link": link.pk,
            "threads": thread.pk,
            "comments": thread.comments.get().pk,
            "templates": Template.objects.create(
                team=team, name="plain", definition=storage.definition_of(campaign), made_by=founder
            ).pk,
            "invitations": Invitation.objects.create(
                team=team,
                roles=["viewer"],
                hash=token_hash(f"invitation{number}"),
                made_by=founder,
                expires_at=Now(),
            ).pk,
            "lines": line.pk,
            "alerts": Alert.objects.create(team=team, bad_at=Now()).pk,
            "word": "acknowledge",
            "mutes": Mute.objects.create(
                team=team, line=line, until=Now(), reason="noise", by=founder
            ).pk,
            "trends": trend.pk,
            "help": "api",
            "examples": "sync-study",
            "kinds": published.kind,
            "drafts": draft.pk,
            "chart": "differences",
        },
    )


def own_of(person: User) -> dict[str, Any]:
    """What belongs to a person, for addresses of that person alone."""
    return {
        "tokens": make_token(person, "own")[0].pk,
        "channels": Channel.objects.create(user=person, name="own", kind="email").pk,
        "keys": 1,  # a passkey takes a browser: e2e/browser/test_doors.py
    }


def _series(attempt: Attempt) -> None:
    Series.objects.create(attempt=attempt, name="rate", unit="1/s", step_seconds=1.0, values=[1.0])


def _trial(campaign: Campaign) -> Run:
    session = Session.objects.create(campaign=campaign, number=9, kind=Session.Kind.TRIAL)
    block = Block.objects.create(campaign=campaign, session=session, number=999, repetition=0)
    trial = Run.objects.create(
        campaign=campaign,
        cell=campaign.cells.order_by("position")[0],
        block=block,
        position=99,
        purpose=Run.Purpose.TRIAL,
        attempts_allowed=2,
    )
    _series(Attempt.objects.create(run=trial, number=1, state="cancelled", pool="", token=0))
    return trial


def _conclusion(campaign: Campaign, author: User) -> Conclusion:
    answer = campaign.findings.get(name="answer")
    made = Conclusion.objects.create(
        team=campaign.team, author=author, claim="As fast.", state="accepted", revision=1,
        sent_at=Now(),
    )  # fmt: skip
    Evidence.objects.create(
        conclusion=made,
        position=1,
        campaign=campaign,
        data_hash=answer.data_hash,
        findings_at=answer.computed_at,
    )
    return made
