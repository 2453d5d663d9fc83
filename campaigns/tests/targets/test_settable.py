"""What keeps a campaign from setting what it asks for, before anybody asks the server."""

import pytest

from campaigns.kit.http.credentials import Login, Tls
from campaigns.kit.network import parse_rules
from campaigns.models import Setting
from campaigns.targets.actions import Endpoint, Server
from campaigns.targets.rights import confirm_rights
from campaigns.targets.settable import unsettable
from campaigns.tests.people import somebody
from campaigns.tests.ports import free_port

pytestmark = pytest.mark.django_db
BY_SQL = {"way": "sql", "parameter": "fsync"}


@pytest.fixture
def postgresql(target):
    """A target whose login is a superuser, with a setting by SQL; nobody listens there."""
    target.rights = ["superuser"]
    target.save()
    Setting.objects.create(
        target=target,
        name="fsync",
        type="choice",
        choices=["on", "off"],
        apply=BY_SQL,
        read_back=BY_SQL,
    )
    return target


def why(target, **levels):
    port = free_port()
    rules = parse_rules(f"127.0.0.1:{port}")
    server = Server(
        Endpoint(f"postgresql://127.0.0.1:{port}/a", rules, Login("a", "b"), Tls()), None
    )
    return list(unsettable(target, server, {}, [levels]))


def test_by_sql_nothing_is_set_with_rights_that_no_admin_confirmed(postgresql):
    assert why(postgresql, other=1) == []
    (text,) = why(postgresql, fsync="off")
    assert (
        "has rights beyond the server: superuser. The setting fsync by SQL of a campaign's author"
        in text
    )
    confirm_rights(postgresql, ["superuser"], somebody("the admin"))
    (text,) = why(postgresql, fsync="off")
    assert text.startswith("The setting fsync cannot be set: PostgreSQL gave no connection")


def test_by_sql_a_login_without_such_rights_needs_nobody(postgresql):
    postgresql.rights = []
    assert why(postgresql, fsync="off")[0].startswith("The setting fsync cannot be set: PostgreSQL")
