import logging

import pytest
from django.test import Client

from campaigns import log_context
from campaigns.definition.access import make_sign_in_link
from campaigns.tests.people import somebody

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
    from campaigns.definition.access import make_token

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
