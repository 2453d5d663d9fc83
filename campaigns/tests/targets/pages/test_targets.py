from datetime import timedelta

import pytest
from cryptography.fernet import Fernet
from django.urls import reverse
from django.utils import timezone
from time_machine import travel

from campaigns.models import Attempt, Target, TargetLease
from campaigns.planning import lifecycle
from campaigns.tests.browsing import Page

pytestmark = pytest.mark.django_db

FORM = {
    "name": "sandbox",
    "family": "http",
    "base_url": "http://127.0.0.1:24817",
    "username": "",
    "password": "",
    "notes": "first line\r\nsecond line",
}


@pytest.fixture
def probes(monkeypatch):
    """Targets that somebody asked to probe."""
    asked: list[Target] = []
    monkeypatch.setattr("campaigns.targets.pages.targets.request_probe", asked.append)
    return asked


@pytest.fixture
def owner_may_confirm(toy, settings):
    settings.OWNER_CONFIRMS = True
    settings.ALLOWED_ADDRESSES = ""


def test_a_private_address_asks_for_its_owner(browser, owner_may_confirm, probes):
    answer = browser.post(reverse("target-new"), FORM)

    page = Page(answer)
    assert answer.status_code == 422
    assert page.named("name")[0]["value"] == "sandbox"
    (box,) = page.named("confirm_address")
    assert box["aria-invalid"] == "true"
    assert box["aria-describedby"] == "f-confirm_address-hint f-confirm_address-error"
    assert not Target.objects.exists()


def test_a_confirmed_target_is_stored_and_probed(browser, owner_may_confirm, probes):
    answer = browser.post(reverse("target-new"), FORM | {"confirm_address": "on"})

    stored = Target.objects.get()
    assert answer["Location"] == reverse("target", args=[stored.pk])
    assert stored.confirmed_rule == "127.0.0.1:24817"
    assert stored.notes == "first line\nsecond line"
    assert probes == [stored]


@pytest.mark.parametrize(
    ("base_url", "asks"),
    [
        ("http://127.0.0.1:24817", True),
        ("https://10.1.2.3/", True),
        ("postgresql://[fd00::1]:5432/db", True),
        ("http://localhost:80/", True),
        ("http://192.0.2.1.example/", False),
        ("http://169.254.169.254/", False),
        ("http://[::1", False),
        ("", False),
        ("x" * 9000, False),
    ],
)
def test_the_question_for_the_owner_comes_as_soon_as_the_address_is_typed(
    browser, owner_may_confirm, base_url, asks
):
    form = browser.get(reverse("target-new"))
    part = Page(browser.get(reverse("target-owner"), {"base_url": base_url}))

    assert not Page(form).named("confirm_address")
    assert bool(part.named("confirm_address")) == asks
    assert "aria-invalid" not in str(part.elements)


def test_an_address_that_was_confirmed_asks_no_more(browser, owner_may_confirm, probes):
    browser.post(reverse("target-new"), FORM | {"confirm_address": "on"})
    known = {"target": Target.objects.get().pk}

    for url, asks in ((FORM["base_url"], False), ("http://127.0.0.1:24818", True)):
        part = browser.get(reverse("target-owner"), {"base_url": url, **known})
        assert bool(Page(part).named("confirm_address")) == asks


def test_a_stored_password_is_never_shown_and_stays_when_left_empty(browser, target, probes):
    stored = target.password

    page = browser.get(reverse("target-edit", args=[target.pk]))
    browser.post(
        reverse("target-edit", args=[target.pk]),
        FORM | {"name": "renamed", "base_url": target.base_url},
    )

    target.refresh_from_db()
    assert "value" not in Page(page).named("password")[0]
    assert Page(page).named("forget_password")
    assert (target.name, target.password) == ("renamed", stored)
    for path in ("target", "target-edit", "target-health"):
        shown = browser.get(reverse(path, args=[target.pk])).content.decode()
        assert "correct horse" not in shown
        assert stored not in shown


def test_a_typed_password_is_not_given_back_with_an_error(browser, owner_may_confirm):
    answer = browser.post(reverse("target-new"), FORM | {"password": "correct horse"})

    assert answer.status_code == 422
    assert "correct horse" not in answer.content.decode()
    page = Page(answer)
    assert "Type the password again: a refused form does not keep it." in page.text
    assert "f-password-error" in (page.named("password")[0]["aria-describedby"] or "")
    assert "Fix 2 errors" in page.text
    without = Page(browser.post(reverse("target-new"), FORM))
    assert "Type the password again" not in without.text


def test_what_is_optional_folds_until_it_is_wrong(browser, owner_may_confirm):
    def is_open(**changes):
        return browser.post(reverse("target-new"), FORM | changes).context["is_open"]

    closed = {"described": True, "limits": False, "certificates": False, "watched": False}
    assert is_open() == closed  # it has notes
    assert is_open(quiet_hours="after lunch", notes="") == closed | {
        "limits": True,
        "described": False,
    }


@pytest.mark.parametrize(
    ("field", "bad"),
    [
        ("name", ""),
        ("name", "x" * 10_000),
        ("name", "a\x00b"),
        ("name", "\u202etest"),
        ("family", "nonsense"),
        ("base_url", "gopher://127.0.0.1"),
        ("base_url", "http://[::1"),
        ("base_url", "http://169.254.169.254/"),
        ("base_url", "http://user:secret@127.0.0.1:80/"),
        ("base_url", "http://127.0.0.1:99999/"),
        ("base_url", "http://\x00/"),
        ("base_url", "http://" + "x" * 10_000),
        ("base_url", "<script>alert(1)</script>"),
        ("username", "a\x07b"),
        ("password", "a\x00b"),
        ("notes", "x" * 5000),
        ("max_concurrency", "0"),
        ("max_concurrency", "many"),
        ("max_requests_per_second", "0"),
        ("max_requests_per_second", "nan"),
        ("quiet_hours", "after lunch"),
        ("quiet_hours", "daily 00:00-24:00"),
        ("quiet_zone", "Middle-earth/Shire"),
    ],
)
def test_each_error_stands_beside_its_field(browser, owner_may_confirm, field, bad):
    answer = browser.post(reverse("target-new"), FORM | {"confirm_address": "on", field: bad})

    (element,) = Page(answer).named(field)
    assert answer.status_code == 422
    assert element["aria-invalid"] == "true"
    assert f"f-{field}-error" in (element["aria-describedby"] or "")
    assert "<script>alert(1)" not in answer.content.decode()
    assert not Target.objects.exists()


def test_limits_of_the_owner_are_stored_and_shown(browser, owner_may_confirm, probes):
    limits = {
        "max_concurrency": "10",
        "max_requests_per_second": "2.5",
        "quiet_hours": "Mon-Fri 08:00-18:00\r\nSat 00:00-24:00",
        "quiet_zone": "Europe/Berlin",
        "is_production": "on",
        "overload_until": "2099-01-02T03:04",
        "overload_hours": "Sun 00:00-06:00",
    }

    browser.post(reverse("target-new"), FORM | limits | {"confirm_address": "on"})

    stored = Target.objects.get()
    assert (stored.max_concurrency, stored.max_requests_per_second) == (10, 2.5)
    assert stored.quiet_hours == "Mon-Fri 08:00-18:00\nSat 00:00-24:00"
    assert (stored.quiet_zone, stored.is_production) == ("Europe/Berlin", True)
    page = Page(browser.get(reverse("target", args=[stored.pk]))).text
    for words in ("at most 10", "at most 2.5", "Mon-Fri 08:00-18:00", "Europe/Berlin"):
        assert words in page
    for words in ("May be overloaded", "2099", "03:04", "Sun 00:00-06:00"):
        assert words in page
    form = Page(browser.get(reverse("target-edit", args=[stored.pk])))
    assert form.by_id("f-max_concurrency")["value"] == "10"
    assert "checked" in form.by_id("f-is_production")


def test_limits_that_are_left_empty_set_none(browser, owner_may_confirm, probes):
    browser.post(reverse("target-new"), FORM | {"confirm_address": "on"})

    stored = Target.objects.get()
    assert stored.max_concurrency is stored.max_requests_per_second is None
    assert (stored.quiet_hours, stored.quiet_zone, stored.is_production) == ("", "UTC", False)
    assert "no limit" in Page(browser.get(reverse("target", args=[stored.pk]))).text


def test_a_production_server_is_marked_in_every_list(browser, target):
    Target.objects.update(is_production=True)

    for path in ("/", "/targets/", reverse("target", args=[target.pk])):
        assert "production" in Page(browser.get(path)).text


@pytest.mark.parametrize(
    ("now", "words"),
    [
        ("2026-11-20T12:00:00Z", "quiet now until 2026-11-20 17:00:00 UTC"),
        ("2026-11-20T17:30:00Z", "The next ones begin at 2026-11-23 07:00:00 UTC"),
    ],
)
def test_quiet_hours_are_told_as_they_are_now(browser, target, now, words):
    Target.objects.update(quiet_hours="Mon-Fri 08:00-18:00", quiet_zone="Europe/Berlin")

    with travel(now, tick=False):
        page = Page(browser.get(reverse("target", args=[target.pk])))

    assert words in page.text


def test_quiet_hours_that_nobody_can_read_any_more_are_said(browser, target):
    Target.objects.update(quiet_hours="daily 01:00-02:00", quiet_zone="Gone/Away")

    assert "no known time zone" in Page(browser.get(reverse("target", args=[target.pk]))).text


def test_a_name_that_is_taken_is_said(browser, target):
    answer = browser.post(
        reverse("target-new"), FORM | {"name": target.name, "confirm_address": "on"}
    )

    assert answer.status_code == 422
    assert "already" in Page(answer).text


def test_the_page_shows_health_proofs_lease_and_campaigns(browser, target, draft, person):
    launched = lifecycle.launch(draft, person)
    run = launched.runs.all()[0]
    attempt = Attempt.objects.create(
        run=run, number=1, state="running", pool="measure", token=1, claimed_at=timezone.now()
    )
    TargetLease.objects.create(
        address=target.address,
        attempt=attempt,
        holder="run 1 of the toy",
        token=1,
        expires_at=timezone.now() + timedelta(minutes=1),
    )
    proof = {"name": "answers", "expected": "200", "measured": "200", "unit": "", "ok": True}
    Target.objects.filter(pk=target.pk).update(
        health="ready", proofs=[proof], probed_at=timezone.now()
    )

    page = Page(browser.get(reverse("target", args=[target.pk])))

    for words in ("ready", "answers", "as expected", "run 1 of the toy", draft.name):
        assert words in page.text


def test_probe_now_asks_the_workers(browser, target, probes):
    answer = browser.post(reverse("target-probe", args=[target.pk]))

    assert answer["Location"] == reverse("target", args=[target.pk])
    assert probes == [target]


def test_the_panel_looks_until_the_probe_has_answered(browser, target, probes):
    asked = browser.post(reverse("target-probe", args=[target.pk]), headers={"HX-Request": "true"})
    look = Page(asked).by_id("health")["hx-get"]
    waiting = browser.get(look)
    Target.objects.filter(pk=target.pk).update(health="ready", probed_at=timezone.now())
    done = browser.get(Page(waiting).by_id("health")["hx-get"])

    assert "being probed" in Page(waiting).text
    assert "being probed" not in Page(done).text
    assert "ready" in Page(done).text


def test_a_probe_that_is_asked_for_too_soon_shows_the_last_one(browser, target):
    Target.objects.update(probed_at=timezone.now(), health="ready")
    path = reverse("target-probe", args=[target.pk])

    panel = Page(browser.post(path, headers={"HX-Request": "true"}))
    page = Page(browser.post(path, follow=True))

    assert "being probed" not in panel.text
    assert "ready" in panel.text
    for shown in (panel, page):
        assert "5 s after a probe comes the next" in shown.text


def test_a_probe_that_nobody_answers_is_said(browser, target):
    path = reverse("target-health", args=[target.pk])

    page = Page(browser.get(path, {"since": "", "look": "20"}))

    assert "No answer to the probe yet" in page.text


@pytest.mark.parametrize("look", ["x", "-1", "9" * 50, "\x00"])
def test_odd_counters_do_no_harm(browser, target, look):
    path = reverse("target-health", args=[target.pk])

    assert browser.get(path, {"since": "\x00", "look": look}).status_code == 200


def test_a_retired_target_leaves_the_list_but_keeps_its_page(browser, target, draft):
    answer = browser.post(reverse("target-retire", args=[target.pk]))

    assert answer["Location"] == reverse("target-list")
    assert reverse("target", args=[target.pk]) not in Page(browser.get("/targets/")).text
    page = Page(browser.get(reverse("target", args=[target.pk])))
    assert "retired" in page.text
    assert browser.get(reverse("target-edit", args=[target.pk])).status_code == 404


def test_a_target_that_is_measured_is_not_retired(browser, target, draft, person):
    lifecycle.launch(draft, person)

    answer = browser.post(reverse("target-retire", args=[target.pk]), follow=True)

    target.refresh_from_db()
    assert target.retired_at is None
    assert "Retire it afterwards" in Page(answer).text


@pytest.mark.parametrize("page", ["target", "target-edit"])
def test_a_password_that_no_key_opens_is_told_and_never_shown(browser, target, settings, page):
    stored = target.password
    address = reverse(page, args=[target.pk])
    assert "PERFDASH_ENCRYPTION_KEYS" not in Page(browser.get(address)).text
    settings.ENCRYPTION_KEYS = [Fernet.generate_key().decode()]

    answer = browser.get(address)

    assert answer.status_code == 200
    assert "cannot be read with any key of PERFDASH_ENCRYPTION_KEYS" in Page(answer).text
    assert stored not in answer.content.decode()
    target.refresh_from_db()
    assert target.password == stored


def test_a_stored_password_stays_out_of_the_form(browser, target):
    answer = browser.get(reverse("target-edit", args=[target.pk]))

    assert "correct horse battery" not in answer.content.decode()
    (field,) = Page(answer).named("password")
    assert not field.get("value")


def test_a_password_that_was_typed_into_the_url_is_not_sent_back(browser, owner_may_confirm):
    answer = browser.post(reverse("target-new"), FORM | {"base_url": "http://me:hunter22@host/a"})

    assert answer.status_code == 422
    assert Page(answer).named("base_url")[0]["value"] == "http://host/a"
    assert "hunter22" not in answer.content.decode()


def test_the_pages_say_that_targets_are_one_server_and_that_a_password_is_short(
    browser, owner_may_confirm, probes
):
    browser.post(reverse("target-new"), FORM | {"confirm_address": "on"})
    second = FORM | {"name": "by IP", "base_url": "http://localhost:24817", "password": "admin"}

    saved = browser.post(reverse("target-new"), second | {"confirm_address": "on"}, follow=True)

    assert "This is the same server as “sandbox”" in Page(saved).text
    assert "shorter than 6 letters" in Page(saved).text
    for page in (saved, browser.get("/targets/")):
        assert "the same server as sandbox" in Page(page).text
