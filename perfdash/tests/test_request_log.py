import logging

import pytest
from django.test import Client
from django.urls import URLPattern, get_resolver

from campaigns.accounts.access import make_sign_in_link
from campaigns.kit import log_context
from campaigns.tests.people import somebody
from perfdash.logs import Json

pytestmark = pytest.mark.django_db


@pytest.fixture
def lines(caplog):
    """What the middleware wrote, as records."""
    caplog.set_level(logging.DEBUG, logger="perfdash.requests")

    def read():
        return [record for record in caplog.records if record.name == "perfdash.requests"]

    return read


def test_each_request_is_one_line_with_its_figures(lines, django_user_model):
    person = somebody("reader")
    client = Client()
    client.force_login(person)

    answer = client.get("/targets/?q=secret")

    (line,) = lines()
    assert line.levelno == logging.INFO
    assert (line.method, line.path, line.status, line.user) == ("GET", "/targets/", 200, person.pk)
    assert line.milliseconds > 0
    assert "secret" not in line.getMessage()
    assert len(answer["X-Request-ID"]) == 16


def test_the_owner_of_a_token_is_named_too(lines, django_user_model):
    from campaigns.accounts.access import make_token

    person = somebody("reader")
    text = make_token(person, "laptop")[1]

    Client(headers={"Authorization": f"Bearer {text}"}).get("/api/v1/campaigns")

    assert lines()[0].user == person.pk


def test_nobody_is_looked_up_for_the_log(lines, django_assert_num_queries):
    with django_assert_num_queries(0):
        Client().get("/health")

    assert lines()[0].user is None
    assert lines()[0].levelno == logging.DEBUG


@pytest.mark.parametrize(
    ("sent", "taken"),
    [
        ("4bf92f3577b34da6a3ce929d0e0e4736", True),
        ("a-sane.token_1", True),
        ("short", False),
        ("x" * 65, False),
        ("with blank in it", False),
        ("line\tbreak-or-so", False),
        ("<script>alert(1)</script>", False),
    ],
)
def test_an_id_from_outside_is_taken_where_it_is_a_plain_word(sent, taken):
    answer = Client().get("/health", headers={"X-Request-ID": sent})

    assert (answer["X-Request-ID"] == sent) is taken


def test_every_line_of_a_request_has_its_id_and_none_afterwards(caplog):
    handler = logging.getLogger().handlers[0]
    seen = []

    class Watch(logging.Handler):
        def emit(self, record):
            handler.filter(record)
            seen.append((record.name, record.context.get("request")))

    watch = Watch()
    logging.getLogger().addHandler(watch)
    try:
        answer = Client().get("/api/v1/campaigns")
    finally:
        logging.getLogger().removeHandler(watch)

    assert {name for name, _ in seen} == {"perfdash.requests", "django.request"}
    assert {identifier for _, identifier in seen} == {answer["X-Request-ID"]}
    assert log_context.current() == {}


def test_a_sign_in_link_is_in_no_line(caplog, django_user_model):
    caplog.set_level(logging.DEBUG)
    text = make_sign_in_link(somebody("reader"))
    handler = logging.getLogger().handlers[0]
    client = Client()

    client.get(f"/sign-in/link/{text}/")
    Client().get(f"/sign-in/link/{text}/")

    written = [handler.format(record) for record in caplog.records if handler.filter(record)]
    assert any("/sign-in/link/…/ 403" in line for line in written)
    assert text not in "\n".join(written)


def with_a_token(patterns=None, prefix="/"):
    """Every address in which a token stands."""
    for pattern in get_resolver().url_patterns if patterns is None else patterns:
        text = prefix + str(pattern.pattern).removeprefix("^")
        if not isinstance(pattern, URLPattern):
            yield from with_a_token(pattern.url_patterns, text)
        elif "token" in pattern.pattern.converters:
            yield text.replace("<str:token>", "PLANTED")


ADDRESSES = sorted(with_a_token())


def test_the_scan_sees_every_address_with_a_token():
    assert ADDRESSES == [
        "/account/notifications/confirm/PLANTED/",
        "/hooks/PLANTED/",
        "/public/PLANTED/",
        "/sign-in/invitation/PLANTED/",
        "/sign-in/link/PLANTED/",
    ]


@pytest.mark.parametrize("address", ADDRESSES)
def test_a_token_in_an_address_is_in_no_line(caplog, address):
    """Neither where it opens, nor where it is unknown, sent without a page's token, or cut off."""
    caplog.set_level(logging.DEBUG)
    handler = logging.getLogger().handlers[0]
    signed_in = Client(enforce_csrf_checks=True)
    signed_in.force_login(somebody("reader"))

    for client in (Client(enforce_csrf_checks=True), signed_in):
        for method in ("get", "head", "post", "put", "delete"):
            for path in (address, address[:-1], f"{address}more/", f"{address}?a=b"):
                getattr(client, method)(path)

    records = [record for record in caplog.records if handler.filter(record)]
    written = [formatter.format(each) for each in records for formatter in (handler, Json())]
    assert {"django.request", "perfdash.requests"} <= {record.name for record in records}
    assert not [line for line in written if "PLANTED" in line]
