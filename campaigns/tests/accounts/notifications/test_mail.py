import pytest
from django.db.models.functions import Now

from campaigns.accounts.notifications import mail
from campaigns.accounts.notifications.channels import save_channel
from campaigns.models import Announcement, Channel, Delivery
from campaigns.tests.accounts.notifications.conftest import deliver_all, tell
from campaigns.tests.accounts.notifications.mailbox import Mailbox, mailbox, silent

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:aiosmtpd"),
]


def body_of(got, kind: str) -> str:
    return str(got.get_body((kind,)).get_content()).replace("\r\n", "\n")


def use(settings, port: int) -> None:
    settings.EMAIL_SERVER = settings.EMAIL_SERVER.__class__(host="127.0.0.1", port=port)
    settings.EMAIL_HOST, settings.EMAIL_PORT = "127.0.0.1", port
    settings.EMAIL_USE_TLS = settings.EMAIL_USE_SSL = False
    settings.DEFAULT_FROM_EMAIL = "perfdash@perf.example"


@pytest.fixture
def box(settings):
    with mailbox() as found:
        use(settings, found.port)
        yield found


def test_whoever_is_mentioned_gets_a_mail_that_says_all(team, bob, ada, campaign, box: Mailbox):
    tell(
        team,
        to=[bob],
        by=ada,
        campaign=campaign,
        what="ada mentioned you.",
        words="Look here:\n<b>bold</b>",
        path="/campaigns/1/#c7",
    )

    (delivery,) = deliver_all()

    ((to, got),) = box.got
    assert delivery.state == Delivery.State.DELIVERED
    assert to == ["bob@example.org"]
    assert got["Subject"] == "[perfdash] You were mentioned: “S1”"
    assert got["From"] == "perfdash@perf.example"
    assert got["Message-ID"] == f"<{delivery.uid}@perf.example>"
    assert got["List-Unsubscribe"] == "<https://perf.example/account/notifications/>"
    assert got["Auto-Submitted"] == "auto-generated"
    text = body_of(got, "plain")
    assert "ada mentioned you." in text
    assert "> Look here:\n> <b>bold</b>" in text
    assert "Read it, and answer where it was written." in text
    assert "https://perf.example/campaigns/1/#c7" in text
    html = body_of(got, "html")
    assert "&lt;b&gt;bold&lt;/b&gt;" in html
    assert "<b>" not in html


def test_no_name_adds_a_header(team, bob, campaign, box):
    campaign.name = "S1\r\nBcc: all@example.org\r\n\r\nbody"
    campaign.save()
    tell(team, to=[bob], campaign=campaign)

    deliver_all()

    ((to, got),) = box.got
    assert to == ["bob@example.org"]
    assert got["Bcc"] is None
    assert "S1 Bcc: all@example.org body" in got["Subject"]


def test_a_second_try_bears_the_same_id(team, bob, box):
    box.answer = "451 try again later"
    tell(team, to=[bob])
    (delivery,) = deliver_all()
    assert delivery.message == (
        "The mail server did not take it: it refused the recipient: 451 try again later"
    )
    box.answer = ""
    Delivery.objects.update(not_before=Now())

    (delivery,) = deliver_all()

    ((_, got),) = box.got
    assert (delivery.state, delivery.tries) == (Delivery.State.DELIVERED, 2)
    assert str(delivery.uid) in got["Message-ID"]


def test_a_server_that_drips_is_left_alone_in_time(team, bob, settings, monkeypatch):
    monkeypatch.setattr(mail, "TOTAL_SECONDS", 0.3)
    with silent() as port:
        use(settings, port)
        tell(team, to=[bob])

        (delivery,) = deliver_all()

    assert delivery.state == Delivery.State.WAITING
    assert delivery.message == "The mail server did not take it: it took too long"


def test_where_no_server_is_any_more_that_is_said(team, bob, box, settings):
    tell(team, to=[bob])
    settings.EMAIL_SERVER = settings.EMAIL_SERVER.__class__()

    (delivery,) = deliver_all()

    assert "PERFDASH_EMAIL_URL" in delivery.message


def test_an_address_that_is_to_be_confirmed_gets_the_link_alone(team, bob, box, client):
    data = {"name": "home", "kind": "email", "address": "home@example.net", "kinds": ["mentioned"]}
    save_channel(data, bob)
    tell(team, to=[bob])

    deliver_all()

    told = {to[0]: got for to, got in box.got}
    text = body_of(told["home@example.net"], "plain")
    link = next(word for word in text.split() if "/confirm/" in word)
    assert set(told) == {"home@example.net", "bob@example.org"}
    client.force_login(bob)
    client.post(link.removeprefix("https://perf.example"))
    assert Channel.objects.get(name="home").is_confirmed
    tell(team, to=[bob])
    deliver_all()
    kinds = [each.announcement.kind for each in Delivery.objects.filter(channel__name="home")]
    assert kinds == [Announcement.Kind.TRIAL, Announcement.Kind.MENTIONED]


def test_an_account_without_an_address_is_told_so(team, bob, box):
    tell(team, to=[bob])
    bob.email = ""
    bob.save()

    (delivery,) = deliver_all()

    assert "has no e-mail address" in delivery.message
