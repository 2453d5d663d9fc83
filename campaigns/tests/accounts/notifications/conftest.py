from collections.abc import Iterator

import pytest
from django.contrib.auth.models import User

from campaigns.accounts.notifications.channels import KINDS, save_channel
from campaigns.accounts.notifications.delivering import deliver_next
from campaigns.accounts.notifications.recipients import read_outbox
from campaigns.kit.outbox import announce
from campaigns.models import Announcement, Campaign, Channel, Delivery, Team
from campaigns.tests.accounts.notifications.receiver import Receiver, receiving
from campaigns.tests.people import somebody
from campaigns.tests.toy import target, toy

__all__ = ["target", "toy"]


@pytest.fixture(autouse=True)
def base_url(settings):
    settings.BASE_URL = "https://perf.example"


@pytest.fixture
def ada(team) -> User:
    return somebody("ada", "author", email="ada@example.org")


@pytest.fixture
def bob(team) -> User:
    return somebody("bob", "reviewer", email="bob@example.org")


@pytest.fixture
def receiver(settings) -> Iterator[Receiver]:
    with receiving() as found:
        settings.NOTIFICATION_ADDRESSES = f"127.0.0.1:{found.port}"
        yield found


@pytest.fixture
def hook(receiver, bob) -> Channel:
    """Bob's webhook, of everything."""
    return hook_of(bob, receiver)


def hook_of(user: User, receiver: Receiver, name: str = "hook", **changes: object) -> Channel:
    data = {"name": name, "kind": "webhook", "address": receiver.url, "kinds": list(KINDS)}
    return save_channel(data | changes, user)[0]


@pytest.fixture
def campaign(team, ada) -> Campaign:
    return Campaign.objects.create(
        question="Is it quicker?", name="S1", kind="toy", team=team, author=ada
    )


def tell(team: Team, kind: str = "mentioned", **given: object) -> Announcement:
    row = announce(Announcement.Kind(kind), team, **given)  # type: ignore[arg-type]
    read_outbox()
    return row


def deliver_all() -> list[Delivery]:
    """Make every try that is due."""
    while deliver_next():
        pass
    return list(Delivery.objects.order_by("pk"))
