import json
import stat

import pytest

from perfdash_client.errors import BadUse
from perfdash_client.servers import Login, Stored, checked_url, choose, place, read, write
from tests.conftest import URL

pytestmark = pytest.mark.django_db


@pytest.fixture
def stored(at_home):
    path = at_home / "config/perfdash/servers.json"
    write(path, Stored("a", {"a": Login("http://a", "ta"), "b": Login("http://b", "tb")}))
    return {"XDG_CONFIG_HOME": str(at_home / "config")}


def test_a_login_is_stored_for_its_owner_alone_and_used_from_then_on(call, token, at_home):
    login = call("login", URL, "--token", token)
    path = at_home / "config/perfdash/servers.json"
    who = call("whoami", "--json")

    assert login.code == 0, login.err
    assert "Logged in at http://testserver as owner" in login.words
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    assert token not in login.out + login.err
    assert (who.code, who.data["user"], who.data["token"]) == (0, "owner", "tests")


def test_a_token_that_the_server_does_not_take_is_not_stored(call, db, at_home):
    login = call("login", URL, "--token", "wrong")

    assert login.code == 3
    assert "unknown" in login.words
    assert "page Account" in login.words
    assert not (at_home / "config").exists()


def test_several_servers_are_kept_by_name(call, token, at_home):
    call("login", URL, "--token", token, "--name", "lab")
    call("login", "http://testserver/api/v1/", "--token", token)
    listed = call("servers", "--json")
    forgotten = call("logout", "--name", "default")
    by_name = call("--server", "lab", "whoami")
    unknown = call("--server", "nowhere", "whoami")

    assert [(each["name"], each["current"]) for each in listed.data] == [
        ("lab", False),
        ("default", True),
    ]
    assert listed.data[1]["url"] == URL
    assert (forgotten.code, by_name.code, unknown.code) == (0, 0, 2)
    assert "there are: lab" in unknown.words
    assert token not in listed.out


def test_the_environment_wins_over_what_is_stored_and_an_option_over_both(stored):
    variables = {"PERFDASH_URL": "http://ci/", "PERFDASH_TOKEN": " tc\n"}

    assert choose(stored) == Login("http://a", "ta")
    assert choose(stored | variables) == Login("http://ci", "tc")
    assert choose(stored | variables, "b") == Login("http://b", "tb")


def test_a_stored_token_goes_to_its_own_server_only(stored):
    assert choose(stored | {"PERFDASH_URL": "http://b"}) == Login("http://b", "tb")
    with pytest.raises(BadUse, match="there is no token for it"):
        choose(stored | {"PERFDASH_URL": "http://elsewhere"})


def test_a_token_of_the_environment_goes_to_the_current_server(stored):
    assert choose(stored | {"PERFDASH_TOKEN": "new"}) == Login("http://a", "new")


def test_without_any_login_it_says_how_to_get_one(call):
    ran = call("kinds")

    assert ran.code == 2
    assert "perfdash login" in ran.words
    assert "PERFDASH_TOKEN" in ran.words


def test_without_a_terminal_nothing_is_asked_for(call, monkeypatch):
    ran = call("login", URL)

    assert ran.code == 2
    assert "no terminal to ask on" in ran.words


def test_no_message_holds_a_token(stored):
    assert "ta" not in repr(choose(stored))
    for bad in ("two words", "ümlaut", "  "):
        with pytest.raises(BadUse) as caught:
            choose(stored | {"PERFDASH_TOKEN": bad, "PERFDASH_URL": "http://a"})
        assert not bad.strip() or bad not in str(caught.value)


@pytest.mark.parametrize("content", ["", "{", "[]", '{"servers": {"a": 1}}', "\udcff"])
def test_a_damaged_file_of_logins_is_named(at_home, content):
    path = place({"XDG_CONFIG_HOME": str(at_home)})
    path.parent.mkdir()
    path.write_bytes(content.encode("utf-8", "surrogateescape"))

    with pytest.raises(BadUse, match=r"servers\.json is damaged"):
        read(path)


def test_a_file_that_others_may_read_is_closed_to_them(stored, at_home):
    path = place(stored)
    path.chmod(0o644)

    read(path)

    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert json.loads(path.read_text())["current"] == "a"


@pytest.mark.parametrize(
    ("given", "url"),
    [
        ("https://perf.example.org/", "https://perf.example.org"),
        (" http://[::1]:8000/api/v1 ", "http://[::1]:8000"),
        ("https://example.org/perfdash/", "https://example.org/perfdash"),
    ],
)
def test_an_address_is_brought_to_its_base(given, url):
    assert checked_url(given) == url


@pytest.mark.parametrize(
    "given",
    [
        "perf.example.org",
        "ftp://x",
        "http://",
        "http://u:p@x",
        "http://x:99999",
        "http://x/?a=1",
        "http://[",
        "http://x\n.y",
    ],
)
def test_what_is_no_address_is_refused(given):
    with pytest.raises(BadUse):
        checked_url(given)
