"""The pages of watches: forms, trying, host keys, groups and links."""

import pytest
from django.urls import reverse

from campaigns.kit import encryption
from campaigns.kit.ssh.access import HostKeyRefused
from campaigns.models import SshLogin, Target, Watch
from campaigns.targets.watches import trying
from campaigns.targets.watches.base import WatchFailed
from campaigns.tests.browsing import Page
from campaigns.tests.targets.watches.toy_source import toy_sources

__all__ = ["toy_sources"]

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("toy_sources")]

KEY = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl"
FINGERPRINT = "SHA256:+DiY3wvvV6TuJJhbpZisF/zLDA0zPMSvHdkr4UvCOqU"
ENTERED = {
    "address": "DB.example:5432",
    "username": "watcher",
    "password": "seven-times",
    "option_database": "pulp",
    "step_seconds": "1",
    "is_on": "on",
}


@pytest.fixture(autouse=True)
def _allowed(settings, monkeypatch):
    settings.ALLOWED_ADDRESSES = "*.example:*, 127.0.0.1:8099"
    settings.OWNER_CONFIRMS = True
    monkeypatch.setattr(trying, "LEAST_SECONDS", 0.0)


def new(target, source="toy"):
    return reverse("watch-new", args=[target.pk, source])


def of(watch, what):
    return reverse(f"watch-{what}", args=[watch.target_id, watch.pk])


def texts(response):
    return " ".join(response.content.decode().split())


def test_a_watch_is_defined_shown_changed_and_deleted(browser, target):
    assert "Database" in texts(browser.get(new(target)))
    assert browser.post(new(target), ENTERED).status_code == 302
    watch = Watch.objects.get()
    assert (watch.address, watch.options) == (
        "db.example:5432",
        {"database": "pulp", "deep": False},
    )
    assert encryption.decrypt(watch.password) == "seven-times"
    page = texts(browser.get(reverse("target", args=[target.pk])))
    assert "db.example:5432" in page
    assert "not tried yet" in page
    edit = texts(browser.get(of(watch, "edit")))
    assert "seven-times" not in edit
    assert watch.password not in edit
    browser.post(of(watch, "edit"), ENTERED | {"password": "", "option_database": "candlepin"})
    watch.refresh_from_db()
    assert watch.options["database"] == "candlepin"
    assert encryption.decrypt(watch.password) == "seven-times"
    browser.post(of(watch, "delete"))
    assert not Watch.objects.exists()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"address": "nowhere"}, "is no address: write host:port."),
        ({"address": "db.other:5432"}, "no rule allows it"),
        ({"address": "169.254.169.254:80"}, "cloud metadata"),
        ({"address": "127.0.0.1:9187"}, "is a loopback or private address. Confirm"),
        ({"step_seconds": "0.1"}, "0.2"),
        ({"option_database": ""}, "This field is required"),
        ({"username": "a\u202eb"}, "control character"),
    ],
)
def test_what_is_wrong_stands_beside_its_field(browser, target, change, message):
    response = browser.post(new(target), ENTERED | change)
    assert response.status_code == 422
    assert message in texts(response)
    assert not Watch.objects.exists()


def test_the_owner_confirms_a_local_address(browser, target):
    browser.post(new(target), ENTERED | {"address": "127.0.0.1:9187", "confirm_address": "on"})
    assert Watch.objects.get().confirmed_rule == "127.0.0.1:9187"


def test_an_unknown_source_is_not_found_and_a_second_watch_of_it_refused(browser, target):
    assert browser.get(new(target, "gone")).status_code == 404
    browser.post(new(target), ENTERED)
    response = browser.post(new(target), ENTERED)
    assert response.status_code == 422
    assert "is watched already" in texts(response)


def test_a_try_shows_what_was_read_or_why_nothing_was(browser, target, toy_sources):
    browser.post(new(target), ENTERED)
    watch = Watch.objects.get()
    page = texts(browser.post(of(watch, "try")))
    assert "0.5 cores" in page  # of the group
    assert "2 GB" in page
    assert "10 %" in page  # pressure
    assert "memory available" in page
    watch.refresh_from_db()
    assert watch.tried_at
    assert watch.try_failure == ""
    toy_sources["toy"].failure = WatchFailed("Its password seven-times is refused; give another.")
    page = texts(browser.post(of(watch, "try")))
    assert "is refused; give another." in page
    assert "seven-times" not in page
    watch.refresh_from_db()
    assert watch.try_failure.startswith("Its password")
    toy_sources["toy"].failure = KeyError("x")
    assert "It cannot be read: KeyError" in texts(browser.post(of(watch, "try")))


def test_a_host_key_is_accepted_by_whoever_compared_it(browser, target, toy_sources):
    response = browser.post(new(target, "toy_ssh"), ENTERED | {"password": ""})
    assert "Give a private key or a password" in texts(response)
    browser.post(new(target, "toy_ssh"), ENTERED | {"is_on": ""})
    watch = Watch.objects.get()
    assert not watch.is_on
    toy_sources["toy_ssh"].failure = HostKeyRefused("Nobody has accepted its key yet.", KEY)
    assert f"accept {FINGERPRINT}" in texts(browser.post(of(watch, "try")))
    browser.post(of(watch, "accept"), {"fingerprint": "SHA256:other"})
    watch.refresh_from_db()
    assert not watch.host_key
    browser.post(of(watch, "accept"), {"fingerprint": FINGERPRINT})
    watch.refresh_from_db()
    assert watch.host_key == KEY
    browser.post(of(watch, "edit"), ENTERED | {"address": "other.example:22"})
    watch.refresh_from_db()
    assert not watch.host_key


def test_a_second_person_is_told_of_the_first_one(browser, target):
    browser.post(new(target), ENTERED)
    watch = Watch.objects.get()
    seen = browser.get(of(watch, "edit")).context["seen"]
    Watch.objects.update(options={"database": "other", "deep": False}, step_seconds=5)
    response = browser.post(of(watch, "edit"), ENTERED | {"seen": seen})
    assert response.status_code == 409
    assert "other" in texts(response)


def test_a_login_of_the_machine_that_was_given_is_not_asked_for_again(browser, target):
    browser.post(new(target, "toy_ssh"), ENTERED)
    first = Watch.objects.get()
    Watch.objects.update(host_key=KEY)

    commands = Page(browser.get(reverse("ssh", args=[target.pk])))
    assert commands.named("host")[0]["value"] == "db.example"
    assert commands.named("username")[0]["value"] == "watcher"
    assert "Empty: the key or password that was given for watcher@db.example:5432." in commands.text
    place = {"host": "db.example", "port": "5432", "username": "watcher", "key": "", "password": ""}
    browser.post(reverse("ssh", args=[target.pk]), place)
    login = SshLogin.objects.get()
    assert (login.password, login.host_key) == (first.password, KEY)

    first.delete()
    page = Page(browser.get(new(target, "toy_ssh")))
    assert page.named("address")[0]["value"] == "db.example:5432"
    browser.post(new(target, "toy_ssh"), ENTERED | {"password": ""})
    assert Watch.objects.get().password == login.password


@pytest.mark.parametrize(
    "change",
    [{"address": "db.example:22"}, {"address": "web.example:5432"}, {"username": "root"}],
)
def test_a_login_that_was_given_goes_to_no_other_machine_or_user(browser, target, change):
    browser.post(new(target, "toy_ssh"), ENTERED)

    answer = browser.post(new(target, "toy_ssh"), ENTERED | change | {"password": ""})

    assert answer.status_code == 422
    assert "Give a private key or a password" in texts(answer)


def test_the_login_of_commands_is_an_administrators_alone(browser, target, person, settings):
    place = {"host": "db.example", "port": "5432", "username": "watcher", "password": "seven-times"}
    browser.post(reverse("ssh", args=[target.pk]), place)
    settings.OWNER_CONFIRMS = False

    assert "db.example" not in texts(browser.get(new(target, "toy_ssh")))
    answer = browser.post(new(target, "toy_ssh"), ENTERED | {"password": ""})

    assert "Give a private key or a password" in texts(answer)
    assert not Watch.objects.exists()


def test_the_password_of_a_server_goes_to_a_watch_of_that_server_and_user(browser, target):
    Target.objects.filter(pk=target.pk).update(
        base_url="http://db.example:5432", username="watcher", password=encryption.encrypt("mine")
    )

    browser.post(new(target), ENTERED | {"password": ""})
    browser.post(new(target), ENTERED | {"password": "", "address": "db.example:5433"})

    assert [encryption.decrypt(row.password) for row in Watch.objects.all()] == ["mine", ""]


def test_a_refused_form_says_that_a_secret_is_to_be_typed_again(browser, target):
    wrong = ENTERED | {"key": "no key", "address": ""}

    for page in (new(target, "toy_ssh"), reverse("ssh", args=[target.pk])):
        answer = browser.post(page, wrong)
        assert answer.status_code == 422
        assert "Type the password again" in texts(answer)
        assert "Type the private key again" in texts(answer)
        assert "seven-times" not in texts(answer)


def test_the_login_of_a_target_that_is_a_machine_is_that_of_commands(browser, monkeypatch):
    asked: list[Target] = []
    for name in ("request_look", "request_probe"):
        monkeypatch.setattr(f"campaigns.targets.pages.targets.{name}", asked.append)

    browser.post(
        reverse("target-new"),
        {"name": "store", "family": "machine", "base_url": "ssh://store.example:2222",
         "username": "bench", "password": "seven-times"},
    )  # fmt: skip

    login = SshLogin.objects.get()
    assert str(login) == "bench@store.example:2222"
    assert encryption.decrypt(login.password) == "seven-times"
    assert len(asked) == 2
