"""What people left in an earlier version is all there in this one, and goes on."""

import hmac
import json
from hashlib import sha256
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.management import call_command
from django.db import DatabaseError, connection, transaction
from django.test import Client
from django.utils import timezone

from campaigns.execution import dispatch
from campaigns.findings import compute
from campaigns.findings.store import shape_of, values_of
from campaigns.kinds.programs import starving
from campaigns.kit import encryption
from campaigns.models import (
    Attempt,
    Campaign,
    Conclusion,
    Exclusion,
    Finding,
    Run,
    Target,
    Worker,
)
from campaigns.planning import lifecycle
from campaigns.reviews.bundles.comparing import is_of_a_rule, says_nothing
from campaigns.reviews.deciding import approvals
from campaigns.reviews.reopening import moved_since
from campaigns.stats.changes import changed
from campaigns.targets.saving import installation_name
from campaigns.tests import upgrade
from campaigns.tests.upgrade.conftest import books


@pytest.fixture(autouse=True)
def unhindered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take no run of then for starved: the machine that stored them had more to do."""
    monkeypatch.setattr(starving, "STARVED_SHARE", 1.0)


@pytest.fixture
def browser(upgraded) -> Client:
    client = Client()
    client.force_login(User.objects.get(username="owner"))
    return client


@pytest.fixture
def api(upgraded) -> Client:
    """Whoever held a token then."""
    return Client(headers={"Authorization": f"Bearer {upgrade.TOKEN}"})


@pytest.fixture
def worker(upgraded) -> Worker:
    Worker.objects.all().delete()
    return Worker.objects.create(
        name="measure@here", host="here", pools=["measure"], seen_at=timezone.now()
    )


@pytest.fixture
def allowed(settings) -> None:
    """Let workers go where the sandbox was then."""
    settings.ALLOWED_ADDRESSES = "127.0.0.0/8:1-65535"


def named(name: str) -> Campaign:
    return Campaign.objects.get(name=name)


def one_of_each_end(campaign: Campaign) -> list[Run]:
    """A run of every purpose and state that the campaign has."""
    found = {(run.purpose, run.state): run for run in campaign.runs.order_by("-position")}
    return list(found.values())


def test_every_row_is_there_and_every_measurement_is_what_it_was(upgraded):
    after = books()

    assert {name: after.rows[name] for name in upgraded.rows} == upgraded.rows
    assert after.digest == upgraded.digest


def test_attempts_of_every_end_are_in_what_is_stored(upgraded):
    states = set(Attempt.objects.values_list("state", flat=True))

    assert states == {"accepted", "cancelled", "failed", "lost", "void"}
    assert Exclusion.objects.filter(withdrawn_at=None).exists()
    sessions = named("measured").sessions.order_by("number").values_list("kind", flat=True)
    assert list(sessions) == ["launch", "extension"]
    assert set(Campaign.objects.values_list("state", flat=True)) >= {
        "draft",
        "finished",
        "paused",
        "cancelled",
    }


def test_nothing_is_left_to_migrate(upgraded):
    call_command("migrate", check_unapplied=True, verbosity=0)


@pytest.mark.nightly
def test_measurements_are_the_same_migrated_to_0_1_0_and_back_again(upgraded):
    call_command("migrate", "campaigns", "0010", verbosity=0)
    with_texts = books()
    call_command("migrate", verbosity=0, interactive=False)

    assert "campaigns_storedmetric" not in with_texts.rows
    assert with_texts.digest == books().digest == upgraded.digest


def test_migrating_again_changes_nothing(upgraded):
    call_command("migrate", verbosity=0, interactive=False)

    assert books().digest == upgraded.digest


def test_every_page_of_every_campaign_can_be_read(browser):
    paths = ["/", "/campaigns/", "/campaigns/new/", "/targets/", "/targets/new/", "/account/"]
    paths += ["/conclusions/", "/templates/", "/activity/", "/inbox/"]
    for target in Target.objects.all():
        paths += [f"/targets/{target.pk}/", f"/targets/{target.pk}/edit/"]
    for campaign in Campaign.objects.all():
        home = f"/campaigns/{campaign.pk}/"
        paths += [home, f"{home}campaign.json", f"{home}runs.csv"]
        if campaign.state == Campaign.State.DRAFT:
            paths.append(f"{home}edit/")
        else:
            paths.append(f"{home}print/")
        for run in one_of_each_end(campaign):
            place = "try" if run.purpose == Run.Purpose.TRIAL else "runs"
            paths.append(f"{home}{place}/{run.position}/")

    answers = {path: browser.get(path).status_code for path in paths}

    assert {path: status for path, status in answers.items() if status != 200} == {}


def test_the_rest_interface_answers_to_the_token_of_then(api):
    paths = ["kinds", "targets", "campaigns"]
    for campaign in Campaign.objects.all():
        paths += [f"campaigns/{campaign.pk}", f"campaigns/{campaign.pk}/runs?limit=500"]
        paths += [
            f"campaigns/{campaign.pk}/runs/{run.position}"
            + ("?trial=true" if run.purpose == Run.Purpose.TRIAL else "")
            for run in one_of_each_end(campaign)
        ]

    answers = {path: api.get(f"/api/v1/{path}") for path in paths}

    assert {path: found.status_code for path, found in answers.items()} == dict.fromkeys(paths, 200)
    listed = json.loads(answers["campaigns"].content)
    assert len(listed["results"]) == Campaign.objects.count()


def test_readers_of_the_views_keep_the_answers(upgraded):
    answers = Finding.objects.filter(name="answer").exclude(campaign__state__in=Campaign.ACTIVE)

    with connection.cursor() as cursor:
        cursor.execute("SELECT campaign_id, answer FROM perfdash_views.campaigns WHERE answer > ''")
        found = dict(cursor.fetchall())

    assert len(found) > 1
    assert found == dict(answers.values_list("campaign", "result__sentence"))


def test_summaries_come_out_as_they_were_and_verdicts_by_the_rules_of_today(upgraded):
    def found() -> dict[tuple[str, str], tuple[Any, str]]:
        rows = Finding.objects.exclude(name="answer").order_by("pk")
        return {
            (name, finding): (values_of(result, shape_of(finding)), hashed)
            for name, finding, result, hashed in rows.values_list(
                "campaign__name", "name", "result", "data_hash"
            )
        }

    then = found()
    assert then

    for campaign in Campaign.objects.filter(findings__isnull=False).distinct():
        compute.analyse(campaign)

    now = found()
    gone = {key for key, (result, _) in then.items() if says_nothing(key[1], result)}
    for name, finding in then.keys() - (gone - now.keys()):
        result, hashed = then[name, finding]
        result_now, hashed_now = now[name, finding]
        assert hashed_now == hashed, name
        moved = changed({finding: result}, {finding: result_now})
        assert [each for each in moved if not is_of_a_rule(each)] == [], name
    levels, _ = now["Pulp 3 sync: download_concurrency", "levels"]
    words = [row["comparison"]["verdict"]["word"] for row in levels["groups"][0]["comparisons"]]
    assert words == ["better", "better", "better", "not_enough_data", "better"]


def test_a_signed_conclusion_stays_signed_and_its_report_is_read(browser):
    conclusion = Conclusion.objects.get(state=Conclusion.State.ACCEPTED)

    for campaign in Campaign.objects.filter(evidence_for__conclusion=conclusion):
        compute.analyse(campaign)

    conclusion.refresh_from_db()
    assert conclusion.state == Conclusion.State.ACCEPTED
    assert moved_since(conclusion) == []
    assert [each.user.username for each in approvals(conclusion)] == ["reviewer"]
    for page in ("", "report/"):
        assert browser.get(f"/conclusions/{conclusion.pk}/{page}").status_code == 200


def test_what_is_on_record_cannot_be_changed(upgraded):
    for table in ("campaigns_auditevent", "campaigns_decision"):
        with pytest.raises(DatabaseError, match=r"never|only added to"), transaction.atomic():
            connection.cursor().execute(f"DELETE FROM {table}")  # noqa: S608  a name of ours


def test_a_stored_password_is_read_with_the_key_of_then(upgraded):
    target = Target.objects.get(name="secured")

    assert encryption.decrypt(target.password) == upgrade.PASSWORD


def test_a_paused_campaign_goes_on_where_it_was(worker, allowed):
    campaign = named("paused")
    planned = campaign.runs.filter(state=Run.State.PLANNED).order_by("position")
    first = planned[0]

    lifecycle.resume(campaign, None)
    dispatch.dispatch()

    attempt = Attempt.objects.get(state=Attempt.State.QUEUED)
    assert attempt.run == first
    assert attempt.targetlease.address == Target.objects.get(name="sandbox").address


def test_a_finished_campaign_can_be_extended(worker, allowed):
    campaign = named("measured")
    last = campaign.runs.order_by("-position")[0]

    lifecycle.extend(campaign, 1, None)
    dispatch.dispatch()

    attempt = Attempt.objects.get(state=Attempt.State.QUEUED)
    assert attempt.run.campaign == campaign
    assert attempt.run.position == last.position + 1


def test_a_draft_of_then_can_be_launched(worker, allowed):
    campaign = lifecycle.launch(named("draft"), None)

    dispatch.dispatch()

    assert campaign.state == Campaign.State.RUNNING
    assert Attempt.objects.filter(state=Attempt.State.QUEUED, run__campaign=campaign).count() == 1


def test_hosts_that_were_registered_then_are_still_known_as_ours(upgraded, settings):
    digest = hmac.new(settings.SECRET_KEY.encode(), b"names of registered hosts", sha256)

    assert installation_name() == digest.hexdigest()[:8]
