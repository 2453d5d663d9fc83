import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError

from campaigns.findings.store import findings_of
from campaigns.models import Campaign, Finding, Run, Target, Team
from campaigns.overview.examples import draft_of, offered
from campaigns.planning import lifecycle
from campaigns.targets.saving import retire_target, save_target
from campaigns.tests.people import everywhere, somebody

pytestmark = pytest.mark.django_db

URL = "http://127.0.0.1:8099"


@pytest.fixture(autouse=True)
def _owner_confirms(settings):
    settings.OWNER_CONFIRMS = True


@pytest.fixture
def prepared(manage):
    return manage("prepare", "--sandbox-url", URL)


def measuring() -> Campaign:
    """An example that is being measured on the sandbox."""
    offers = {each.example.name: each for each in offered(everywhere().see)}
    draft = draft_of(offers["two-downloaders"], User.objects.get())
    return lifecycle.launch(draft, None)


def test_a_fresh_installation_gets_team_owner_target_and_the_published_campaign(prepared):
    assert Team.objects.get().is_default
    owner = User.objects.get()
    assert owner.username == "owner"
    assert not owner.has_usable_password()
    assert owner.is_superuser
    target = Target.objects.get()
    assert (target.name, target.base_url) == ("sandbox", URL)
    assert target.confirmed_rule == "127.0.0.1:8099"
    assert Campaign.objects.get().state == "finished"


def test_the_published_campaign_has_its_answer(prepared):
    campaign = Campaign.objects.get(kind="external")

    assert campaign.runs.filter(state=Run.State.DONE).count() == 18
    findings = findings_of(campaign, "duration")
    assert findings.answer is not None
    assert findings.cells is not None
    means = {
        cell.levels["concurrency"]: round(cell.summary.mean or 0) for cell in findings.cells.cells
    }
    assert means == {3: 1752, 5: 1095, 7: 930, 10: 813, 15: 751, 20: 639}


def test_a_second_call_changes_nothing(prepared, manage, django_assert_max_num_queries):
    before = [str(row) for row in Campaign.objects.order_by("pk").values()]

    with django_assert_max_num_queries(17):
        printed = manage("prepare", "--sandbox-url", URL)

    assert printed == ""
    assert [str(row) for row in Campaign.objects.order_by("pk").values()] == before
    assert (User.objects.count(), Team.objects.count(), Target.objects.count()) == (1, 1, 1)


def test_the_target_follows_the_sandbox_to_another_port(prepared, manage):
    printed = manage("prepare", "--sandbox-url", "http://127.0.0.1:9001")

    target = Target.objects.get()
    assert (target.address, target.confirmed_rule) == ("127.0.0.1:9001", "127.0.0.1:9001")
    assert "is at http://127.0.0.1:9001 now" in printed


def test_the_limits_of_its_owner_move_with_the_target(prepared, manage):
    limits = {
        "max_concurrency": 4,
        "max_requests_per_second": 2.5,
        "quiet_hours": "daily 22:00-06:00",
        "quiet_zone": "Europe/Berlin",
        "is_production": True,
    }
    Target.objects.filter(name="sandbox").update(**limits)

    manage("prepare", "--sandbox-url", "http://127.0.0.1:9001")

    assert Target.objects.filter(name="sandbox", address="127.0.0.1:9001", **limits).exists()


def test_the_target_stays_where_a_campaign_measures_it_which_pauses_and_says_why(prepared, manage):
    launched = measuring()

    for _ in range(2):
        printed = manage("prepare", "--sandbox-url", "http://127.0.0.1:9001")

    assert Target.objects.get().base_url == URL
    assert "a campaign is measuring it" in printed
    launched.refresh_from_db()
    assert launched.state == Campaign.State.PAUSED
    assert "it listens at http://127.0.0.1:9001 now" in launched.state_reason
    assert launched.log.filter(text__contains="resume the campaign").count() == 1


def test_a_retired_target_does_not_come_back(prepared, manage):
    retire_target(Target.objects.get())

    manage("prepare", "--sandbox-url", URL)

    assert Target.objects.count() == 1


def test_a_server_that_somebody_called_sandbox_is_left_alone(manage):
    save_target(
        {
            "name": "sandbox",
            "family": "http",
            "base_url": "http://127.0.0.2:80",
            "username": "me",
            "confirm_address": True,
        }
    )

    manage("prepare", "--sandbox-url", URL)

    assert Target.objects.get().base_url == "http://127.0.0.2:80"


def test_without_a_sandbox_there_is_the_published_campaign_alone(manage):
    manage("prepare")

    assert Campaign.objects.get().kind == "external"
    assert not Target.objects.exists()


def test_the_simulated_pulp_is_a_target_and_follows_it_to_another_port(prepared, manage):
    manage("prepare", "--pulp-url", "http://127.0.0.1:8199")
    printed = manage("prepare", "--pulp-url", "http://127.0.0.1:8200")

    target = Target.objects.get(name="Sandbox Pulp")
    assert (target.family, target.address, target.username) == ("pulp", "127.0.0.1:8200", "admin")
    assert target.is_dedicated
    assert "is at http://127.0.0.1:8200 now" in printed
    assert manage("prepare", "--pulp-url", "http://127.0.0.1:8200") == ""


def test_the_owner_may_have_another_name_and_keeps_a_password(manage):
    somebody("alice", password="a password of her own")  # noqa: S106

    manage("prepare", "--owner-name", "alice")

    assert User.objects.get().has_usable_password()


def test_an_address_that_the_rules_exclude_is_refused_in_words(manage, settings):
    settings.OWNER_CONFIRMS = False

    with pytest.raises(CommandError, match="PERFDASH_ALLOWED_ADDRESSES"):
        manage("prepare", "--sandbox-url", URL)

    assert Campaign.objects.get().kind == "external"


def test_findings_of_other_methods_are_computed_anew(prepared, manage):
    assert not Campaign.objects.exclude(analysis_requested_at=None).exists()
    Finding.objects.update(versions={"numpy": "2.0.0"})

    said = manage("prepare", "--sandbox-url", URL)

    assert "1 campaign is analysed anew" in said
    waiting = Campaign.objects.exclude(analysis_requested_at=None)
    assert [campaign.kind for campaign in waiting] == ["external"]
    assert "analysed anew" not in manage("prepare", "--sandbox-url", URL)


def test_published_experiments_are_stored_once_and_only_on_demand(manage):
    assert "4 published experiments are stored." in manage("prepare", "--published")
    stored = Campaign.objects.filter(external_id__startswith="published-")
    assert stored.count() == 4
    assert all(each.analysis_requested_at for each in stored)
    Campaign.objects.filter(external_id="published-throttle").update(name="Mine now")

    manage("prepare", "--published")

    assert stored.count() == 4
    assert stored.get(external_id="published-throttle").name == "Mine now"
