"""The client of Katello: what it sends, keeps and pages through, and whose words it gives."""

import pytest

from campaigns.kinds.servers import katello as module
from campaigns.kinds.servers.katello import Katello, StillGoesOn, error_text
from campaigns.kit.http.connection import Answer, Connection
from campaigns.kit.http.credentials import Login
from campaigns.kit.http.errors import Answered, LoginRefused, NotPermitted, Strange, Unavailable
from campaigns.kit.network import parse_rules
from sandbox.process import running

RULES = parse_rules("127.0.0.1:*")


@pytest.fixture(scope="module")
def process():
    with running(katello={"sync_seconds": 0.2}) as sandbox:
        yield sandbox.katello


@pytest.fixture
def simulator(process):
    process.renew()
    yield process
    process.renew()


@pytest.fixture
def client(simulator):
    """Make clients, whose connections are closed at the end."""
    made = []

    def make(end="", password="password", user="admin"):  # noqa: S107 - the simulator's
        made.append(Connection(simulator.base_url, RULES))
        return Katello(made[-1], simulator.base_url + end, Login(user, password))

    yield make
    for connection in made:
        connection.close()


def answered(body, kind="application/json"):
    return Answer("GET", "http://x/", 422, {"Content-Type": kind}, {}, body, 0.1)


@pytest.mark.parametrize("end", ["", "/", "/api/v2", "/katello/api/v2/", "/katello"])
def test_the_base_url_may_name_an_api(client, end):
    assert client(end).foreman_version() == "3.14.0 simulated"
    assert client(end).katello_version() == "4.16.0 simulated"


def test_one_password_is_sent_and_then_the_session(client, simulator):
    katello = client()

    for _ in range(3):
        katello.ping()

    assert simulator.told()["passwords"] == 1


def test_a_session_that_ended_is_begun_anew_once(client, simulator):
    katello = client()
    katello.ping()
    simulator.expire_sessions()

    katello.ping()

    assert simulator.told()["passwords"] == 2


def test_a_wrong_password_is_not_sent_again_and_again(client, simulator):
    with pytest.raises(LoginRefused, match="Unable to authenticate user admin") as refused:
        client(password="wrong").ping()  # noqa: S106

    assert refused.value.status == 401
    assert simulator.told()["passwords"] == 1


def test_what_a_user_may_not_do_names_the_permission(client, simulator):
    simulator.behave(may_write=False)

    with pytest.raises(NotPermitted, match=r"may not POST .*sync_products"):
        client().sync_repository(3, {}, "mark")


@pytest.mark.parametrize("fault", [{"unavailable": True}, {"broken": True}])
def test_pages_of_errors_are_not_quoted(client, simulator, fault):
    simulator.behave(**fault)

    with pytest.raises(Unavailable) as raised:
        client().ping()

    assert "<" not in str(raised.value)


def test_a_repository_is_read_with_what_it_holds(client):
    repository = client().repository(5)

    assert (repository.name, repository.content_type) == ("more", "yum")
    assert repository.download_policy == "immediate"
    assert repository.counts == {"rpm": 80, "srpm": 0}
    assert repository.units == 80


def test_lists_are_read_page_by_page(client, monkeypatch):
    monkeypatch.setattr(module, "PAGE", 2)

    names = [each["name"] for each in client().results("/api/v2/smart_proxies")]

    assert names == ["katello.example", "capsule.example", "runner.example", "dns.example"]


def test_a_task_is_marked_found_cancelled_and_seen_to_its_end(client, simulator):
    simulator.behave(sync_seconds=30)
    katello = client()
    begun = katello.sync_repository(3, {"skip_metadata_check": True}, "perfdash-attempt-1-beef")
    search = "state != stopped and resource_type = Katello::Repository and resource_id = "

    assert begun.request_id == "perfdash-attempt-1-beef"
    assert [task.id for task in katello.tasks(f"{search}3")] == [begun.id]
    assert katello.tasks(f"{search}5") == []
    with pytest.raises(StillGoesOn, match=begun.id):
        katello.wait_until_stopped(begun.id, 0.0)
    katello.cancel([begun.id])
    ended = katello.wait_until_stopped(begun.id, 10)
    assert (ended.result, ended.errors) == ("cancelled", ("Task canceled",))
    assert katello.details(begun.id)["failed_steps"]


def test_a_search_that_foreman_does_not_know_is_told(client):
    with pytest.raises(Answered, match="Field 'colour' not recognized"):
        client().tasks("colour = red")


@pytest.mark.parametrize(
    ("body", "words"),
    [
        (b'{"displayMessage": "It is locked.", "errors": ["It is locked."]}', "It is locked."),
        (b'{"message": "It is", "errors": ["It is", "locked"]}', "It is locked"),
        (b'{"error": {"message": "Denied", "details": "Missing x"}}', "Denied Missing x"),
        (b'{"error": {"full_messages": ["Name is taken"]}}', "Name is taken"),
        (b'{"error": "A problem in the JSON"}', "A problem in the JSON"),
        (b'{"errors": {"base": ["x"]}}', ""),
        (b"[]", ""),
        (b"plain words", "plain words"),
    ],
)
def test_words_are_found_wherever_they_stand(body, words):
    assert error_text(answered(body)) == words


def test_a_page_says_nothing():
    assert error_text(answered(b"<h1>Oh</h1>", "text/html; charset=utf-8")) == ""


def test_a_thing_that_is_no_list_is_strange(client):
    with pytest.raises(Strange, match="gave no list"):
        list(client().results("/katello/api/v2/ping"))
