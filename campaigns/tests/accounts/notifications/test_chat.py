"""Through the real apprise, in its program, against a receiver on loopback."""

import json
import socket
import subprocess
import sys
import threading
from contextlib import suppress

import pytest

from campaigns.accounts.notifications.channels import save_channel
from campaigns.kit import chat_services
from campaigns.kit.chat_services import services
from campaigns.kit.chat_services.services import BadAddress
from campaigns.kit.errors import Invalid
from campaigns.kit.network import Refused, parse_rules
from campaigns.models import Delivery
from campaigns.tests.accounts.notifications.conftest import deliver_all, tell
from campaigns.tests.accounts.notifications.receiver import receiving

pytestmark = pytest.mark.system

TOKEN = "abcdefghijklmnopqrstuvwxyz"  # noqa: S105
EVERYTHING = parse_rules("*:*")


def mattermost(receiver) -> str:
    return f"mmost://127.0.0.1:{receiver.port}/{TOKEN}"


@pytest.mark.slow
@pytest.mark.django_db
def test_a_message_reaches_a_chat_and_calls_nobody_together(team, bob, campaign, receiver):
    data = {"name": "chat", "kind": "chat", "address": mattermost(receiver)}
    channel, _ = save_channel(data | {"kinds": ["mentioned"]}, bob)
    tell(team, to=[bob], campaign=campaign, words="@channel <!here> see")

    (delivery,) = deliver_all()

    assert (delivery.state, delivery.message) == (Delivery.State.DELIVERED, "")
    (got,) = receiver.got
    text = json.loads(got.body)["text"]
    assert got.path == f"/hooks/{TOKEN}"
    assert "You were mentioned: “S1”" in text
    assert f"https://perf.example/campaigns/{campaign.pk}/" in text
    assert "@channel" not in text
    assert "<!here>" not in text
    assert TOKEN not in channel.place + channel.address


@pytest.mark.slow
def test_a_refusal_is_told_without_the_token(receiver):
    receiver.answers = [403]

    with pytest.raises(chat_services.ChatFailed) as failed:
        chat_services.send(mattermost(receiver), "a", "b", EVERYTHING)

    assert "403" in str(failed.value)
    assert TOKEN not in str(failed.value)


@pytest.mark.slow
def test_a_redirect_is_not_followed(receiver):
    with receiving() as elsewhere:
        receiver.answers, receiver.headers = [302], {"Location": elsewhere.url}

        with pytest.raises(chat_services.ChatFailed):
            chat_services.send(mattermost(receiver), "a", "b", EVERYTHING)

        assert elsewhere.got == []


@pytest.mark.slow
def test_a_service_that_hangs_is_ended_in_time(receiver):
    receiver.hang = 60.0

    with pytest.raises(chat_services.ChatFailed, match="took longer than 2 s"):
        chat_services.send(mattermost(receiver), "a", "b", EVERYTHING, seconds=2)


@pytest.mark.slow
def test_an_endless_answer_is_ended(receiver, monkeypatch):
    ended = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as server:

        def pour() -> None:
            with suppress(OSError):
                connection, _ = server.accept()
                with connection:
                    connection.recv(65536)
                    connection.sendall(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
                    while not ended.is_set():
                        connection.sendall(b"x" * 1_000_000)

        thread = threading.Thread(target=pour, daemon=True)
        thread.start()
        receiver.port = server.getsockname()[1]

        with pytest.raises(chat_services.ChatFailed):
            chat_services.send(mattermost(receiver), "a", "b", EVERYTHING, seconds=20)

        ended.set()
        thread.join(5)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("act", "why"),
    [
        ("import requests; requests.post('http://localhost:{port}/')", "no rule allows it"),
        ("import socket; socket.create_connection(('127.0.0.1', {port}))", "no rule allows it"),
        (
            "import socket; s = socket.socket(socket.AF_INET, socket.SOCK_DGRAM); "
            "s.sendto(b'x', ('127.0.0.1', {port}))",
            "socket.sendto",
        ),
        ("import socket; socket.socket(socket.AF_UNIX).connect('/tmp/x')", "only connect by TCP"),
        ("import subprocess; subprocess.run(['true'])", "subprocess.Popen"),
        ("import os; os.system('true')", "os.system"),
        ("import os; os.fork()", "os.fork"),
    ],
)
def test_no_library_in_the_program_can_do_what_the_rules_forbid(receiver, act, why):
    """What a plugin might try, in a process under the same guard."""
    code = (
        "import requests\n"
        "from campaigns.kit.chat_services import program as guard\n"
        "from campaigns.kit.network import Refused, parse_rules\n"
        "guard.keep_to(parse_rules('192.0.2.1:443'))\n"
        "try:\n"
        f"    {act.format(port=receiver.port)}\n"
        "except Refused as refused:\n"
        "    print(refused)\n"
    )
    told = subprocess.run(
        [sys.executable, "-c", code],
        cwd=chat_services.ROOT,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert why in told.stdout, told
    assert receiver.got == []


@pytest.mark.parametrize(
    "address",
    [
        "json://hooks.example/",
        "file:///etc/passwd",
        "syslog://",
        "dbus://",
        "windows://",
        "gnome://",
        "exec://rm",
        "mailto://user:pass@example.org",
        "xmpp://x@y",
        "https://hooks.example/services/T/B/x",
        "http://hooks.slack.com/services/T/B/x",
        "hooks.slack.com/services/T/B/x",
        f"mmosts://chat.example/{TOKEN}?template=/etc/passwd",
        f"mmosts://chat.example/{TOKEN}?verify=no",
        f"mmosts://chat.example/{TOKEN}?redirect=yes",
        f"mmosts://chat.example/{TOKEN}?+X-Header=1",
        "workflows://10.0.0.1/workflow/signature",
        "https://hooks.slack.com:8443/services/T/B/x",
        "https://hooks.slack.com.evil.example/services/T/B/x",
        "slack://a\nb",
        "slack://\u00e4",
        "",
    ],
)
def test_no_other_scheme_host_or_option_is_taken(address):
    with pytest.raises((BadAddress, Refused, ValueError)):
        services.place_of(address, EVERYTHING)


@pytest.mark.parametrize(
    ("address", "shown", "needed"),
    [
        ("slack://T1JJ3T3L2/A1BRTD4JD/x/#general", "Slack", "hooks.slack.com:443"),
        ("https://hooks.slack.com/services/T/B/x", "Slack", "hooks.slack.com:443"),
        ("discord://1/x", "Discord", "discord.com:443"),
        ("https://chat.googleapis.com/v1/spaces/A/messages?key=k&token=t", "Google Chat", ""),
        ("tgram://1:x/2", "Telegram", "api.telegram.org:443"),
        ("zulip://bot@org/x", "Zulip at org.zulipchat.com:443", "org.zulipchat.com:443"),
        (f"mmosts://chat.example/{TOKEN}", "Mattermost at chat.example:443", "chat.example:443"),
        ("rocket://u:p@10.0.0.1:3000/x", "Rocket.Chat at 10.0.0.1:3000", "10.0.0.1:3000"),
        (
            "https://x.logic.azure.com:443/workflows/a/triggers/manual/paths/invoke?sig=s",
            "Microsoft Teams at x.logic.azure.com:443",
            "*.logic.azure.com:443",
        ),
    ],
)
def test_an_address_leads_where_a_rule_has_to_allow_it(address, shown, needed):
    rules = parse_rules(needed or "chat.googleapis.com:443")

    assert services.place_of(address, rules).shown == shown
    with pytest.raises(Refused):
        services.place_of(address, parse_rules("other.example:443"))


@pytest.mark.slow
@pytest.mark.parametrize("address", ["slack://x", "discord://1", "tgram://x", "zulip://org"])
def test_an_address_that_its_service_cannot_read_is_told(address):
    with pytest.raises(chat_services.ChatFailed):
        chat_services.send(address, "a", "b", EVERYTHING)


@pytest.mark.django_db
def test_an_address_that_no_rule_allows_is_refused_when_it_is_given(bob, settings):
    settings.NOTIFICATION_ADDRESSES = "discord.com:443"

    with pytest.raises(Invalid, match=r"hooks\.slack\.com"):
        save_channel({"name": "x", "kind": "chat", "address": "slack://A/B/C"}, bob)
