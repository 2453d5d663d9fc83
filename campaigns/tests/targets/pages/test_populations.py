"""The panel of populations on a target's page, its form, and deletion."""

from datetime import timedelta

import pytest
from django.db.models.functions import Now
from django.http import Http404
from django.urls import reverse

from campaigns.kit import encryption
from campaigns.kit.errors import Invalid
from campaigns.models import AuditEvent, Campaign, Population, Target
from campaigns.targets import saving
from campaigns.targets.populations import asking

pytestmark = pytest.mark.django_db
ENTERED = {"hosts": "4000", "organization": "ACME", "activation_keys": "a, b ,a", "days": "30"}


@pytest.fixture
def katello(target):
    Target.objects.filter(pk=target.pk).update(
        family="katello", base_url="https://katello.example", username="admin"
    )
    target.refresh_from_db()
    return target


def page_of(browser, target):
    return " ".join(browser.get(reverse("target", args=[target.pk])).content.decode().split())


def population(target, **columns):
    key = encryption.encrypt(encryption.new_key())
    values = {"hosts": 10, "organization": "ACME", "activation_keys": "key", "key": key}
    return Population.objects.create(target=target, **(values | columns))


def test_a_population_is_asked_for_shown_and_deleted(browser, katello):
    new = reverse("population-new", args=[katello.pk])
    assert "Hosts that stay registered" in browser.get(new).content.decode()

    assert browser.post(new, ENTERED).status_code == 302

    row = Population.objects.get()
    assert (row.hosts, row.activation_keys, row.state) == (4000, "a,b", "making")
    page = page_of(browser, katello)
    assert "4000 hosts are being registered at" in page
    assert "0 of 4000 registered" in page
    assert "every 2s" in page
    for secret in (row.key, encryption.decrypt(row.key)):
        assert secret not in page
    delete = reverse("population-delete", args=[katello.pk, row.pk])
    said = browser.post(delete, follow=True).content.decode()
    assert f"The hosts of population {row.pk} will be deleted at the server." in said
    row.refresh_from_db()
    assert row.state == "deleting"
    actions = list(AuditEvent.objects.order_by("pk").values_list("action", flat=True))
    assert actions[-2:] == ["population_created", "population_deleted"]


def test_bad_input_stays_in_the_form(browser, katello):
    new = reverse("population-new", args=[katello.pk])

    answer = browser.post(new, ENTERED | {"hosts": "30000"})

    assert answer.status_code == 422
    assert "less than or equal to 20000" in answer.content.decode()
    assert "30000" in answer.content.decode()
    assert not Population.objects.exists()


def test_other_servers_have_no_panel_and_say_why(browser, target):
    assert "Populations" not in page_of(browser, target)

    answer = browser.post(reverse("population-new", args=[target.pk]), ENTERED)

    assert answer.status_code == 422
    assert "Only a Katello has populations" in answer.content.decode()


def test_a_population_whose_hosts_stay_may_be_forgotten(browser, katello):
    row = population(katello, state="deleting", problem="The server is away.")
    delete = reverse("population-delete", args=[katello.pk, row.pk])
    page = page_of(browser, katello)
    assert "The server is away." in page
    assert "Forget it" in page

    browser.post(delete, {"forget": "yes"})

    assert not Population.objects.exists()
    assert AuditEvent.objects.get(action="population_forgotten").details["left"].endswith("-…")


def test_one_that_is_ready_is_not_forgotten(browser, katello):
    row = population(katello, state="ready", registered=10)

    answer = browser.post(
        reverse("population-delete", args=[katello.pk, row.pk]), {"forget": "yes"}, follow=True
    )

    assert "Delete the population first" in answer.content.decode()
    assert Population.objects.get().state == "ready"


@pytest.mark.parametrize("forgetting", [False, True], ids=["deletion", "forgetting"])
def test_one_that_a_worker_deletes_meanwhile_is_not_found(person, katello, forgetting):
    row = population(katello, state="deleting", problem="The server is away.")
    Population.objects.all().delete()
    with pytest.raises(Http404):
        asking.forget(row, person) if forgetting else asking.ask_deletion(row, person)


@pytest.mark.parametrize(
    ("columns", "hours", "note"),
    [
        (
            {"state": "failed", "problem": "no key"},
            "",
            "Mend what it names, and go on; or delete it.",
        ),
        ({"state": "making"}, "daily 00:00-24:00", "the quiet hours of toy server"),
        ({"state": "ready"}, "daily 00:00-24:00", ""),
    ],
    ids=["failed", "quiet", "ready"],
)
def test_the_panel_tells_what_it_waits_for_and_what_to_do(browser, katello, columns, hours, note):
    population(katello, **columns)
    Target.objects.update(quiet_hours=hours)

    panel = browser.get(reverse("population-list", args=[katello.pk])).content.decode()

    assert note in panel
    assert ("quiet hours" in panel) == ("quiet hours" in note)


def test_one_that_is_too_old_tells_which_campaign_keeps_it(browser, katello, team):
    row = population(katello, state="ready", days=1)
    Population.objects.update(created_at=Now() - timedelta(days=2))
    Campaign.objects.create(
        name="many jobs", team=team, target=katello, kind="remote_execution", state="paused", primary_metric="x",
        launched_at=Now(), parameters={"hosts_are": "virtual", "population": row.pk},
    )  # fmt: skip

    panel = browser.get(reverse("population-list", args=[katello.pk])).content.decode()

    assert "Its days are over; it is kept until the campaign “many jobs” has ended." in panel


def test_a_target_with_a_population_keeps_its_address(katello, settings):
    settings.ALLOWED_ADDRESSES = "127.0.0.1:*"
    Target.objects.update(base_url="https://127.0.0.1:1")
    katello.refresh_from_db()
    row = population(katello, state="ready", registered=10)
    data = {
        "name": katello.name, "family": "katello", "base_url": "https://127.0.0.1:2", "username": "admin",
        "forget_password": True, "confirm_address": True,
    }  # fmt: skip
    with pytest.raises(Invalid) as refused:
        saving.save_target(data, katello)

    assert "Delete the populations first" in refused.value.errors["base_url"][0]
    saving.save_target(data | {"base_url": katello.base_url, "notes": "kept"}, katello)
    row.delete()
    saving.save_target(data, katello)
    katello.refresh_from_db()
    assert katello.base_url == "https://127.0.0.1:2"


def test_one_that_is_not_complete_is_gone_on_with(browser, katello):
    row = population(
        katello, state="failed", registered=5, tries=5, problem="away", due_at=Now() + timedelta(1)
    )
    assert "Go on" in page_of(browser, katello)
    again = reverse("population-again", args=[katello.pk, row.pk])

    said = browser.post(again, follow=True).content.decode()

    assert f"The registration of population {row.pk} goes on." in said
    row.refresh_from_db()
    assert (row.state, row.registered, row.tries, row.problem, row.due_at) == (
        "making",
        5,
        0,
        "",
        None,
    )
    assert AuditEvent.objects.filter(action="population_resumed").count() == 1
    assert (
        "Only a population that is not complete"
        in browser.post(again, follow=True).content.decode()
    )


def test_the_panel_alone_is_rendered_and_rests_once_nothing_changes(browser, katello):
    population(katello, state="ready", registered=10)

    panel = browser.get(reverse("population-list", args=[katello.pk])).content.decode()

    assert "10 of 10 registered" in panel
    assert "every 2s" not in panel


def test_a_target_with_a_population_is_not_deleted(browser, katello):
    population(katello, state="ready", registered=10)

    browser.post(reverse("target-delete", args=[katello.pk]), {"name": katello.name})

    assert Target.objects.filter(pk=katello.pk).exists()


def test_a_population_that_no_key_opens_is_found(katello):
    assert saving.unreadable_targets() == []

    population(katello, key="nonsense")

    assert saving.unreadable_targets() == [katello.name]
