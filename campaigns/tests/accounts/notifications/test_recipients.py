import threading

import pytest
from django.db import connection, transaction

from campaigns.accounts.notifications.channels import save_channel
from campaigns.accounts.notifications.recipients import read_outbox
from campaigns.kit.outbox import announce
from campaigns.models import Announcement, Channel, Delivery, Membership, Team
from campaigns.tests.accounts.notifications.conftest import deliver_all, hook_of, tell
from campaigns.tests.people import join, somebody

pytestmark = pytest.mark.django_db
MENTIONED = Announcement.Kind.MENTIONED


def told() -> list[str]:
    return sorted(Delivery.objects.values_list("channel__user__username", flat=True))


def test_whoever_chose_the_kind_gets_one_delivery(team, hook):
    tell(team, "campaign_finished")

    assert told() == ["bob"]
    assert not Announcement.objects.filter(read_at=None).exists()
    assert read_outbox() == 0


def test_whoever_did_not_choose_it_gets_none(team, hook):
    hook.kinds = ["mentioned"]
    hook.save()

    tell(team, "campaign_finished")

    assert told() == []


def test_what_is_addressed_to_somebody_reaches_nobody_else(team, ada, hook):
    tell(team, to=[ada])

    assert told() == []


def test_nobody_is_told_of_his_own_deed(team, bob, hook):
    tell(team, "campaign_finished", by=bob)
    tell(team, to=[bob], by=bob)

    assert told() == []


def test_a_stranger_who_is_mentioned_learns_nothing(receiver):
    stranger = somebody("stranger", team=Team.objects.create(name="elsewhere"))
    hook_of(stranger, receiver)
    team = Team.objects.create(name="here")

    tell(team, to=[stranger])

    assert told() == []


def test_a_channel_of_one_team_hears_nothing_of_another(team, bob, receiver):
    other = Team.objects.create(name="other")
    join(bob, "viewer", team=other)
    hook_of(bob, receiver, teams=[other.pk])

    tell(team, "campaign_finished")
    tell(other, "campaign_finished")

    assert [each.announcement.team for each in Delivery.objects.all()] == [other]


def test_a_role_that_was_taken_away_since_silences_what_waits(team, bob, hook, receiver):
    tell(team, "campaign_finished")
    Membership.objects.filter(user=bob).delete()

    (delivery,) = deliver_all()

    assert delivery.state == Delivery.State.DROPPED
    assert receiver.got == []


def test_a_campaign_that_went_to_another_team_since_is_not_told_of(team, hook, campaign, receiver):
    tell(team, "campaign_finished", campaign=campaign)
    campaign.team = Team.objects.create(name="elsewhere")
    campaign.save()

    (delivery,) = deliver_all()

    assert delivery.state == Delivery.State.DROPPED
    assert receiver.got == []


def test_an_account_that_is_switched_off_is_told_nothing(team, bob, hook, receiver):
    tell(team, "campaign_finished")
    bob.is_active = False
    bob.save()

    (delivery,) = deliver_all()

    assert delivery.state == Delivery.State.DROPPED
    assert receiver.got == []


def test_only_those_who_may_launch_are_asked_for_a_second_yes(team, hook, receiver):
    hook_of(somebody("olga", "operator"), receiver)

    tell(team, "launch_asked")

    assert told() == ["olga"]


def test_a_channel_that_is_off_gets_nothing(team, bob, hook):
    save_channel({"is_on": False}, bob, hook)

    tell(team, "campaign_finished")

    assert told() == []


def test_an_announcement_is_gone_with_the_transaction_that_failed(team, hook):
    with transaction.atomic():
        announce(MENTIONED, team)
        transaction.set_rollback(True)

    assert read_outbox() == 0


def test_the_account_s_e_mail_is_a_channel_of_what_is_addressed_to_one(team, bob, settings):
    settings.EMAIL_SERVER = settings.EMAIL_SERVER.__class__(host="127.0.0.1")

    tell(team, to=[bob])
    tell(team, "campaign_finished")

    (delivery,) = Delivery.objects.all()
    assert delivery.channel.kind == Channel.Kind.EMAIL
    assert delivery.announcement.kind == MENTIONED


def test_a_default_channel_that_was_switched_off_stays_off(team, bob, settings):
    settings.EMAIL_SERVER = settings.EMAIL_SERVER.__class__(host="127.0.0.1")
    tell(team, to=[bob])
    save_channel({"is_on": False}, bob, Channel.objects.get())

    tell(team, to=[bob])

    assert Delivery.objects.count() == 1


def test_without_a_mail_server_there_is_no_default_channel(team, bob):
    tell(team, to=[bob])

    assert not Channel.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_two_who_read_at_once_make_each_delivery_once(team, hook):
    for _ in range(30):
        announce(Announcement.Kind.CAMPAIGN_FINISHED, team)
    start = threading.Barrier(3)

    def read() -> None:
        start.wait()
        try:
            while read_outbox():
                pass
        finally:
            connection.close()

    threads = [threading.Thread(target=read) for _ in range(3)]
    for each in threads:
        each.start()
    for each in threads:
        each.join()

    assert Delivery.objects.count() == 30
