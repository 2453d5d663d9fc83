"""Error pages: in the site's look, without the inside, without a database."""

import logging

import pytest
from django.db import InterfaceError, OperationalError, connection
from django.http import HttpResponse
from django.test import Client
from django.urls import path

from campaigns.overview.pages import campaigns, home
from campaigns.tests.people import somebody
from perfdash.outages import is_database_away

SECRET = "postgresql://perfdash:hunter2@db/perfdash"  # noqa: S105 - made up, to be looked for


def broken(request):
    raise RuntimeError(SECRET)


def away(request):
    raise OperationalError(f"connection to {SECRET} failed\nIs it running?")


def reads(request):
    return HttpResponse(request.POST.get("a", ""))


reads.login_required = away.login_required = broken.login_required = False  # type: ignore[attr-defined]
urlpatterns = [
    path("broken/", broken),
    path("away/", away),
    path("reads/", reads),
    path("api/v1/broken", broken),
    path("api/v1/away", away),
    path("", home.home, name="home"),
    path("campaigns/", campaigns.campaign_list, name="campaign-list"),
    path("targets/", home.home, name="target-list"),
    path("account/", home.home, name="account"),
    path("sign-out/", home.home, name="account_logout"),
    path("sign-in/", reads, name="account_login"),
]
handler400 = "perfdash.errors.bad_request"
handler403 = "perfdash.errors.permission_denied"
handler404 = "perfdash.errors.not_found"
handler500 = "perfdash.errors.server_error"
pytestmark = pytest.mark.urls(__name__)


@pytest.fixture
def client():
    """Errors become answers, as they do in a web server; there is no database."""
    return Client(raise_request_exception=False)


def check_page(answer, status, words):
    text = answer.content.decode()
    assert answer.status_code == status
    assert words in text
    assert "<h1>" in text
    assert "topbar" in text
    for inside in ("hunter2", "Traceback", "RuntimeError", "OperationalError", "postgresql"):
        assert inside not in text
    assert answer["X-Request-ID"] in text


def test_a_mistake_gives_a_page_without_the_inside_and_without_a_database(client):
    check_page(client.get("/broken/"), 500, "Internal error in perfdash")


def test_a_database_that_is_away_gives_a_page_that_says_when_to_come_back(client):
    answer = client.get("/away/")

    check_page(answer, 503, "The database is not responding")
    assert answer["Retry-After"] == "5"


@pytest.mark.parametrize(("path", "status"), [("broken", 500), ("away", 503)])
def test_the_api_tells_of_it_in_its_own_way(client, path, status):
    answer = client.get(f"/api/v1/{path}")

    assert answer.status_code == status == answer.json()["status"]
    assert answer["Content-Type"] == "application/problem+json"
    assert answer.json()["request"] == answer["X-Request-ID"]
    assert "hunter2" not in answer.content.decode()


def test_a_part_of_a_page_gets_one_sentence(client):
    answer = client.get("/away/", headers={"HX-Request": "true"})

    assert answer.status_code == 503
    assert answer["Content-Type"] == "text/plain"
    assert answer.content.decode().startswith("The database is not responding")


def test_an_outage_is_one_line_of_the_log_and_a_mistake_has_its_traceback(client, caplog):
    handler = logging.getLogger().handlers[0]

    client.get("/away/")
    client.get("/broken/")

    records = [record for record in caplog.records if record.name == "django.request"]
    for record in records:
        handler.filter(record)
    outage, mistake = (handler.format(record) for record in records)
    assert "Traceback" not in outage
    assert "does not answer" in outage
    assert "RuntimeError" in mistake
    assert "hunter2" not in outage + mistake


def test_what_is_too_large_is_refused_unread(client, settings):
    body = b"a=" + b"x" * settings.MOST_BYTES

    answer = client.post("/reads/", body, content_type="application/x-www-form-urlencoded")

    check_page(answer, 413, "The request is too large")
    assert client.post("/api/v1/broken", body, content_type="a/b").json()["status"] == 413


@pytest.mark.parametrize("address", ["/reads/", "/api/v1/broken"])
def test_a_body_without_a_length_is_never_taken_for_empty(client, address):
    answer = client.generic("POST", address, b"", HTTP_TRANSFER_ENCODING="chunked")

    assert answer.status_code == 411
    assert "length of the body is missing" in answer.content.decode()


def test_too_many_fields_are_refused(client):
    fields = "&".join(f"a{number}=1" for number in range(1001))

    answer = client.post("/reads/", fields, content_type="application/x-www-form-urlencoded")

    check_page(answer, 400, "could not be read")


@pytest.mark.parametrize("body", [b"--x\r\nnonsense", b"", b"--x\r\n\r\n--x--"])
def test_a_form_that_is_none_gets_an_answer(client, body):
    answer = client.post("/reads/", body, content_type="multipart/form-data; boundary=x")

    assert answer.status_code in (200, 400)


def test_an_unknown_host_gets_a_page_and_one_line_of_the_log(client, caplog):
    check_page(client.get("/", headers={"Host": "evil.example"}), 400, "could not be read")

    handler = logging.getLogger().handlers[0]
    (record,) = [result for result in caplog.records if result.name.startswith("django.security")]
    handler.filter(record)
    assert "\n" not in handler.format(record)


@pytest.mark.django_db
@pytest.mark.urls("perfdash.urls")
def test_an_unknown_address_gets_a_page(client):
    check_page(client.get("/nothing/"), 404, "Page not found")


@pytest.mark.django_db
@pytest.mark.urls("perfdash.urls")
def test_a_wrong_method_gets_a_page_and_is_told_the_right_one(client):
    answer = client.post("/health")

    check_page(answer, 405, "does not accept this kind of request")
    assert "GET" in answer["Allow"]


@pytest.mark.django_db
@pytest.mark.urls("perfdash.urls")
def test_a_form_from_elsewhere_gets_a_page():
    answer = Client(enforce_csrf_checks=True).post("/sign-in/", {"username": "a"})

    check_page(answer, 403, "has expired, or came from another site")


@pytest.mark.django_db
@pytest.mark.urls("perfdash.urls")
@pytest.mark.parametrize("path", ["/", "/campaigns/", "/api/v1/campaigns", "/nothing/"])
def test_with_the_database_away_every_page_says_so_while_static_files_are_served(
    client, path, django_user_model, monkeypatch
):
    client.force_login(somebody("reader"))

    def refuse(*arguments, **named):
        raise OperationalError("connection refused")

    with monkeypatch.context() as patched:
        patched.setattr(connection, "ensure_connection", refuse)
        patched.setattr(connection, "cursor", refuse)
        answer = client.get(path)
        style = client.get("/static/campaigns/style.css")
    style.close()

    assert answer.status_code == 503
    assert answer["Retry-After"] == "5"
    assert style.status_code == 200


def test_only_the_database_is_taken_for_an_outage():
    caused = ValueError("no")
    caused.__cause__ = InterfaceError("connection already closed")

    assert is_database_away(caused)
    assert not is_database_away(ValueError("no"))
    assert not is_database_away(None)
