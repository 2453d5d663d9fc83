"""Mail to a server that wants TLS: after the greeting (STARTTLS), or from the start."""

from collections.abc import Iterator
from contextlib import ExitStack
from time import monotonic

import pytest
from django.conf import LazySettings

from campaigns.accounts.notifications import mail
from campaigns.models import Delivery
from campaigns.tests.accounts.notifications.conftest import deliver_all, tell
from campaigns.tests.accounts.notifications.mailbox import Mailbox, mailbox, mute
from campaigns.tests.kinds.programs.certificates import DAY, NOW, Authority
from perfdash.mail import mail_server

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.filterwarnings("ignore::DeprecationWarning:aiosmtpd"),
    pytest.mark.filterwarnings("ignore:Requiring AUTH while not requiring TLS:UserWarning"),
]
PASSWORD = "p@ss/word"  # noqa: S105
QUOTED = "p%40ss%2Fword"
BY_START = {"smtp+tls": "starttls", "smtps": "tls"}
SCHEMES = list(BY_START)


def use(settings: LazySettings, url: str) -> None:
    """As perfdash/settings.py does with PERFDASH_EMAIL_URL."""
    server = settings.EMAIL_SERVER = mail_server(url)
    settings.EMAIL_HOST, settings.EMAIL_PORT = server.host, server.port
    settings.EMAIL_HOST_USER, settings.EMAIL_HOST_PASSWORD = server.user, server.password
    settings.EMAIL_USE_TLS, settings.EMAIL_USE_SSL = server.starttls, server.tls


@pytest.fixture
def ours(tmp_path, monkeypatch) -> Authority:
    """The authority that this machine trusts."""
    made = Authority(tmp_path, "ours")
    monkeypatch.setenv("SSL_CERT_FILE", str(made.file))
    return made


@pytest.fixture
def served(settings) -> Iterator:
    """Start a mail server with a certificate, and use it with user and password."""
    with ExitStack() as servers:

        def serving(scheme: str, context, password: str = QUOTED) -> Mailbox:
            start = {BY_START[scheme]: context}
            box = servers.enter_context(mailbox(**start, password=PASSWORD))
            use(settings, f"{scheme}://ada:{password}@127.0.0.1:{box.port}")
            return box

        yield serving


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_mail_and_the_password_go_over_tls(team, bob, ours, served, scheme):
    box = served(scheme, ours.context())
    tell(team, to=[bob])

    (delivery,) = deliver_all()

    assert (delivery.state, delivery.message) == (Delivery.State.DELIVERED, "")
    assert [to for to, _ in box.got] == [["bob@example.org"]]
    assert box.encrypted == [True]
    assert box.typed == [PASSWORD]


@pytest.mark.parametrize("scheme", SCHEMES)
@pytest.mark.parametrize(
    ("wrong", "why"),
    [
        ("of nobody we trust", "unable to get local issuer certificate"),
        ("another name", "IP address mismatch"),
        ("expired", "certificate has expired"),
    ],
)
def test_a_wrong_certificate_gets_neither_mail_nor_password(
    team, bob, ours, served, tmp_path, scheme, wrong, why
):
    context = {
        "of nobody we trust": lambda: Authority(tmp_path, "others").context(),
        "another name": lambda: ours.context("127.0.0.2"),
        "expired": lambda: ours.context(since=NOW - 3 * DAY, until=NOW - DAY),
    }[wrong]()
    box = served(scheme, context)
    tell(team, to=[bob])

    (delivery,) = deliver_all()

    assert delivery.state == Delivery.State.WAITING
    assert delivery.message.startswith(
        "The mail server did not take it: its certificate is not trusted for 127.0.0.1: "
    )
    assert why in delivery.message
    assert "SSL_CERT_FILE" in delivery.message
    assert "[SSL" not in delivery.message
    assert (box.got, box.typed) == ([], [])


def test_where_no_tls_is_offered_nothing_is_sent_without_it(team, bob, settings):
    with mailbox() as box:
        use(settings, f"smtp+tls://ada:secret@127.0.0.1:{box.port}")
        tell(team, to=[bob])

        (delivery,) = deliver_all()

    assert delivery.state == Delivery.State.WAITING
    assert "STARTTLS extension not supported by server" in delivery.message
    assert (box.got, box.typed) == ([], [])


def test_a_server_without_tls_where_it_is_wanted_from_the_start_is_told_so(team, bob, settings):
    with mailbox() as box:
        use(settings, f"smtps://ada:secret@127.0.0.1:{box.port}")
        tell(team, to=[bob])

        (delivery,) = deliver_all()

    assert "it does not speak TLS as it was asked to" in delivery.message
    assert "[SSL" not in delivery.message
    assert (box.got, box.typed) == ([], [])


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_wrong_password_is_told_and_not_quoted(team, bob, ours, served, scheme):
    box = served(scheme, ours.context(), password="guessed")  # noqa: S106
    tell(team, to=[bob])

    (delivery,) = deliver_all()

    assert box.typed
    assert "535" in delivery.message
    assert "guessed" not in delivery.message
    assert box.got == []


@pytest.mark.parametrize("scheme", SCHEMES)
def test_a_server_that_says_nothing_of_tls_is_left_alone_in_time(
    team, bob, settings, monkeypatch, scheme
):
    monkeypatch.setattr(mail, "TOTAL_SECONDS", 0.3)
    with mute(until_starttls=scheme == "smtp+tls") as port:
        use(settings, f"{scheme}://ada:secret@127.0.0.1:{port}")
        tell(team, to=[bob])
        began = monotonic()

        (delivery,) = deliver_all()

    assert monotonic() - began < settings.EMAIL_TIMEOUT / 2
    assert delivery.state == Delivery.State.WAITING
    assert delivery.message == "The mail server did not take it: it took too long"
