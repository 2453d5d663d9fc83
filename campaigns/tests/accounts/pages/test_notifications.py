import re

import pytest
from django.test import Client

from campaigns.accounts.notifications import channels, confirming
from campaigns.accounts.notifications.channels import save_channel
from campaigns.accounts.notifications.recipients import read_outbox
from campaigns.kit.encryption import decrypt
from campaigns.kit.outbox import announce
from campaigns.models import Announcement, AuditEvent, Channel, Delivery, Membership, Team
from campaigns.models.teams import default_team
from campaigns.tests.browsing import Page
from campaigns.tests.people import somebody

PAGE = "/account/notifications/"
CHANNELS = f"{PAGE}channels/"
URL = "https://hooks.example/in/very-secret-path"


@pytest.fixture(autouse=True)
def allowed(settings):
    settings.NOTIFICATION_ADDRESSES = "hooks.example:443, hooks.slack.com:443"


@pytest.fixture
def hook(person) -> Channel:
    data = {"name": "hook", "kind": "webhook", "address": URL, "kinds": ["mentioned"]}
    return save_channel(data, person)[0]


@pytest.fixture
def mail_server(settings):
    settings.EMAIL_SERVER = settings.EMAIL_SERVER.__class__(host="127.0.0.1")


def add(browser, **changes):
    sent = {"new-name": "hook", "new-kind": "webhook", "new-address": URL, "which": "all"}
    return browser.post(CHANNELS, sent | {"kinds": ["mentioned"]} | changes)


def test_a_webhook_is_added_and_its_secret_is_shown_this_once(browser, person):
    answer = add(browser)

    row = Channel.objects.get(user=person)
    secret = decrypt(row.secret)
    assert re.fullmatch(r"whsec_[A-Za-z0-9+/]{43}=", secret)
    assert secret in answer.content.decode()
    assert "no-store" in answer["Cache-Control"]
    again = browser.get(PAGE).content.decode()
    assert secret not in again
    assert "very-secret-path" not in again
    assert "https://hooks.example:443/…" in again


def test_what_was_wrong_stands_on_the_page_and_no_address_comes_back(browser):
    answer = add(browser, **{"new-address": "https://elsewhere.example/very-secret-path"})

    assert answer.status_code == 422
    text = answer.content.decode()
    assert "PERFDASH_NOTIFICATION_ADDRESSES" in text
    assert "very-secret-path" not in text
    assert not Channel.objects.exists()


def test_without_a_mail_server_e_mail_is_not_offered(browser):
    page = Page(browser.get(PAGE))

    assert "email" not in [at.get("value") for tag, at in page.elements if tag == "option"]
    assert add(browser, **{"new-kind": "email", "new-address": "a@b.example"}).status_code == 422


def test_choices_are_saved_for_all_teams_or_some(browser, person, hook):
    team = default_team()
    browser.post(
        f"{CHANNELS}{hook.pk}/",
        {
            f"{hook.pk}-name": "other",
            f"{hook.pk}-is_on": "on",
            "kinds": ["campaign_finished", "review_asked"],
            "which": "some",
            "teams": [team],
        },
    )

    hook.refresh_from_db()
    assert (hook.name, hook.is_on) == ("other", True)
    assert hook.kinds == ["campaign_finished", "review_asked"]
    assert hook.teams == [team]
    assert decrypt(hook.address) == URL


def test_a_box_that_is_not_ticked_switches_the_channel_off(browser, hook):
    browser.post(f"{CHANNELS}{hook.pk}/", {f"{hook.pk}-name": "hook", "which": "all"})

    hook.refresh_from_db()
    assert not hook.is_on
    assert "It is off: nothing is sent." in Page(browser.get(PAGE)).text


def test_a_team_that_one_is_not_in_cannot_be_chosen(browser, hook):
    other = Team.objects.create(name="secret plans")

    answer = browser.post(
        f"{CHANNELS}{hook.pk}/",
        {f"{hook.pk}-name": "hook", "which": "some", "teams": [other.pk]},
    )

    assert answer.status_code == 422
    assert "secret plans" not in answer.content.decode()


def test_switched_on_again_a_channel_begins_anew(browser, person, hook):
    Channel.objects.update(is_on=False, off_reason="It did not work.", given_up=3, failed=9)
    assert "It did not work." in browser.get(PAGE).content.decode()

    browser.post(f"{CHANNELS}{hook.pk}/", {f"{hook.pk}-name": "hook", f"{hook.pk}-is_on": "on"})

    hook.refresh_from_db()
    assert (hook.is_on, hook.off_reason, hook.given_up, hook.failed) == (True, "", 0, 0)


def test_a_test_goes_the_way_of_everything_and_is_seen_on_the_page(browser, hook):
    browser.post(f"{CHANNELS}{hook.pk}/trial/")

    assert Delivery.objects.get().state == Delivery.State.WAITING
    assert "This is a test waiting hook" in Page(browser.get(PAGE)).text


def test_too_many_tests_are_refused(browser, hook):
    for _ in range(8):
        answer = browser.post(f"{CHANNELS}{hook.pk}/trial/", follow=True)

    assert Delivery.objects.count() == 6
    assert "wait a little" in answer.content.decode()


@pytest.mark.parametrize("action", ["", "trial/", "secret/", "delete/"])
def test_another_s_channel_is_not_there(hook, action):
    stranger = Client()
    stranger.force_login(somebody("stranger"))

    assert stranger.post(f"{CHANNELS}{hook.pk}/{action}").status_code == 404
    assert Channel.objects.filter(pk=hook.pk, is_on=True).exists()


def test_another_secret_is_shown_once_and_recorded(browser, hook):
    answer = browser.post(f"{CHANNELS}{hook.pk}/secret/")

    hook.refresh_from_db()
    assert decrypt(hook.secret) in answer.content.decode()
    assert decrypt(hook.secret) != decrypt(hook.former_secret)
    kinds = set(AuditEvent.objects.filter(subject_kind="channel").values_list("action", flat=True))
    assert kinds == {"channel_created", "channel_edited"}
    assert "very-secret" not in str(list(AuditEvent.objects.values()))


def test_a_channel_is_deleted_with_its_deliveries(browser, hook):
    browser.post(f"{CHANNELS}{hook.pk}/trial/")

    browser.post(f"{CHANNELS}{hook.pk}/delete/")

    assert not Channel.objects.exists()
    assert not Delivery.objects.exists()


def test_whoever_lost_the_role_sees_no_name_of_what_was_told(browser, person, hook):
    team = Team.objects.get(pk=default_team())
    announce(Announcement.Kind.MENTIONED, team, to=[person], what="The secret plan.")
    read_outbox()
    Membership.objects.filter(user=person).delete()

    text = Page(browser.get(PAGE)).text

    assert "something that you may not see any more" in text
    assert "You were mentioned" not in text


def test_the_channel_of_the_account_can_be_switched_off_but_not_deleted(
    browser, person, mail_server
):
    person.email = "reviewer@example.org"
    person.save()
    browser.get(PAGE)
    row = Channel.objects.get(user=person)

    browser.post(f"{CHANNELS}{row.pk}/delete/")
    browser.post(f"{CHANNELS}{row.pk}/", {"kinds": ["mentioned"], "which": "all"})

    row.refresh_from_db()
    assert not row.is_on
    assert row.kinds == ["mentioned"]


def test_another_e_mail_address_is_told_of_nothing_until_it_is_confirmed(
    browser, person, mail_server
):
    add(browser, **{"new-kind": "email", "new-address": "else@example.org"})
    row = Channel.objects.get(user=person)
    (delivery,) = Delivery.objects.all()
    assert not row.is_confirmed
    assert delivery.announcement.kind == Announcement.Kind.TRIAL
    announce(Announcement.Kind.MENTIONED, Team.objects.get(pk=default_team()), to=[person])
    read_outbox()
    assert Delivery.objects.count() == 1

    link = f"{PAGE}confirm/{confirming.token_of(row)}/"
    assert "Is this address yours?" in browser.get(link).content.decode()
    assert not Channel.objects.get().is_confirmed
    browser.post(link)

    assert Channel.objects.get().is_confirmed


@pytest.mark.parametrize("wrong", ["forged", "of another", "cut"])
def test_a_link_that_is_not_one_s_own_confirms_nothing(browser, hook, wrong, mail_server):
    other = somebody("other")
    data = {"name": "m", "kind": "email", "address": "x@example.org"}
    row, _ = save_channel(data, other)
    token = {
        "forged": "WzEsIjAiXQ:1abc:xyz",
        "of another": confirming.token_of(row),
        "cut": confirming.token_of(row)[:-3],
    }[wrong]

    browser.post(f"{PAGE}confirm/{token}/")

    row.refresh_from_db()
    assert not row.is_confirmed


@pytest.mark.parametrize(
    "address",
    [
        "a@example.org\nBcc: all@example.org",
        "a@example.org, b@example.org",
        "nobody",
        "<script>@example.org",
    ],
)
def test_what_is_no_one_e_mail_address_is_refused(browser, mail_server, address):
    answer = add(browser, **{"new-kind": "email", "new-address": address})

    assert answer.status_code == 422
    assert not Channel.objects.filter(name="hook").exists()


def test_markup_in_a_name_stays_text(browser):
    add(browser, **{"new-name": "<script>alert(1)</script>"})

    assert "<script>alert" not in browser.get(PAGE).content.decode()


def test_a_chat_service_is_added_by_the_address_that_it_gives(browser):
    secret = "https://hooks.slack.com/services/T1JJ3T3L2/A1BRTD4JD/TIiajkdnlazkcOXrIdevi7FQ"  # noqa: S105
    add(browser, **{"new-kind": "chat", "new-address": secret})

    assert Channel.objects.get().place == "Slack"
    assert "TIiajkdnlazkcOXrIdevi7FQ" not in browser.get(PAGE).content.decode()


def test_without_its_csrf_token_nothing_is_changed(person, hook):
    strict = Client(enforce_csrf_checks=True)
    strict.force_login(person)

    assert strict.post(f"{CHANNELS}{hook.pk}/delete/").status_code == 403
    assert Channel.objects.exists()


def test_a_new_address_of_the_account_is_told_of_nothing_until_it_is_confirmed(
    browser, person, mail_server
):
    person.email = "reviewer@example.org"
    person.save()
    browser.get(PAGE)
    row = Channel.objects.get(user=person)
    assert row.is_confirmed
    old_link = confirming.token_of(row)
    person.email = "else@example.org"
    person.save()

    said = channels.follow_account(person)
    announce(Announcement.Kind.MENTIONED, Team.objects.get(pk=default_team()), to=[person])
    read_outbox()

    assert "A link is mailed to else@example.org" in said
    assert [each.announcement.kind for each in Delivery.objects.all()] == ["trial"]
    browser.post(f"{PAGE}confirm/{old_link}/")
    assert not Channel.objects.get().is_confirmed
    browser.post(f"{PAGE}confirm/{confirming.token_of(Channel.objects.get())}/")
    assert Channel.objects.get().is_confirmed
