"""Lines that somebody tries to break: odd schedules and zones, long versions, two at once, histories of any length."""

from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from django.db import connection
from django.test import Client
from django.urls import reverse
from django.utils import timezone

from campaigns.accounts.access import make_token
from campaigns.models import Line, Point, Reading, Session, Target
from campaigns.tests.people import somebody
from campaigns.tests.rest import ApiClient, own_rates
from campaigns.tests.trends.measuring import another, line_from, measured, telling
from campaigns.trends import asking, launching, occasions, readings

__all__ = ["own_rates", "telling"]


@pytest.fixture
def line(db, telling, target, person):
    return line_from(measured(target, person, days=9), person)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "cron",
    [
        "0 0 30 2 *", "60 * * * *", "* 25 * * *", "a b c d e", "0 0 0 0 0", "*/0 * * * *", "0-59 0 * * *",
        "0 0 1 1 8", "\u0661 2 * * *", "30 2 * * * *", "@reboot", "0 2 * * mon-", "0,1 2 * * *", "5/1 1 * * *",
        "30\t2 * *", "-1 2 * * *", "99999999999999999999 2 * * *", "L 2 * * *", "0 2 L * *#6",
    ],
    ids=range(19),
)  # fmt: skip
def test_odd_schedules_are_refused_with_a_message(line, cron):
    api = ApiClient(make_token(line.owner, "laptop")[1])

    code, problem = api.patch(f"lines/{line.pk}", {"cron": cron})

    assert code == 400, problem
    assert "cron" in str(problem["errors"])


@pytest.mark.django_db
@pytest.mark.parametrize(
    "zone", ["../etc/passwd", "UTC\x00", "Europe/Berlin ", "localtime", "posixrules", "\U0001f600", "a" * 60],
    ids=range(7),
)  # fmt: skip
def test_odd_zones_are_refused_or_read_as_a_zone(line, zone):
    api = ApiClient(make_token(line.owner, "laptop")[1])

    code, told = api.patch(f"lines/{line.pk}", {"zone": zone})

    assert code == 400 or told["zone"] == zone.strip()


@pytest.mark.unit
@pytest.mark.parametrize(
    ("zone", "cron", "day"),
    [
        ("Europe/Berlin", "30 2 * * *", datetime(2026, 3, 29, tzinfo=UTC)),
        ("Europe/Berlin", "30 2 * * *", datetime(2026, 10, 25, tzinfo=UTC)),
        ("America/St_Johns", "1 0 * * *", datetime(2026, 11, 1, tzinfo=UTC)),
        ("Australia/Lord_Howe", "45 1 * * *", datetime(2026, 4, 5, tzinfo=UTC)),
    ],
    ids=["skipped", "repeated", "newfoundland", "half"],
)
def test_each_day_has_one_instant_both_ways(zone, cron, day):
    after = day - timedelta(days=3)
    found = []
    for instant in occasions.instants_after(cron, zone, after):
        if instant > day + timedelta(days=4):
            break
        found.append(instant)

    assert len(found) in (6, 7, 8)
    assert all(timedelta(hours=20) < b - a < timedelta(hours=26) for a, b in pairwise(found))


@pytest.mark.django_db
def test_a_version_of_ten_thousand_letters_is_kept_short_and_shown(line, person):
    another(line, person, days=5, core="9" * 10_000)
    another(line, person, days=4, core="\x1b[31m\u202e3.2\n")

    browser = Client()
    browser.force_login(person)
    page = browser.get(reverse("line", args=[line.pk]))

    assert page.status_code == 200
    assert b"\x1b" not in page.content
    assert "\u202e" not in page.content.decode()
    assert max(len(str(each.version)) for each in line.readings.all()) == 200


@pytest.mark.django_db
@pytest.mark.parametrize("number", [0, 1, 4000])
def test_a_page_of_a_history_of_any_length(line, person, number):
    trend, first = line.trends.order_by("pk")[0], line.readings.get()
    if number == 0:
        line.readings.all().delete()
    sessions = Session.objects.bulk_create(
        Session(campaign=first.session.campaign, number=at + 100, kind="launch") for at in range(number - 1)
    )  # fmt: skip
    rows = Reading.objects.bulk_create(
        Reading(line=line, session=each, version=first.version, facts=first.facts,
                at=first.at + timedelta(minutes=at))
        for at, each in enumerate(sessions)
    )  # fmt: skip
    Point.objects.bulk_create(
        Point(trend=trend, reading=each, y=2.0 + at % 7 / 100, sd=0.1, n=5)
        for at, each in enumerate(rows)
    )
    if number:
        readings.order(line)

    browser = Client()
    browser.force_login(person)
    page = browser.get(reverse("line", args=[line.pk]))

    assert page.status_code == 200
    assert len(page.content) < 700_000


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("method", "path", "body"),
    [
        ("post", "lines", {"campaign": 2**63, "name": "a"}),
        ("post", "lines", {"campaign": -1, "name": "a"}),
        ("post", "lines", {"campaign": "x", "name": "a"}),
        ("post", "lines", {"campaign": None}),
        ("patch", "lines/{line}", {"minutes_a_week": 10**30}),
        ("patch", "lines/{line}", {"sessions_per_version": 0}),
        ("patch", "lines/{line}", {"sessions_per_version": 51}),
        ("patch", "lines/{line}", {"by_version": "perhaps"}),
        ("patch", "lines/{line}", {"name": "a" * 121}),
        ("patch", "lines/{line}", {"name": {"a": 1}}),
        ("patch", "lines/{line}", {"cron": ["30 2 * * *"]}),
        ("patch", "lines/{line}", {"state": "on"}),
    ],
    ids=["huge", "negative", "word", "null", "minutes", "none", "many", "perhaps", "name", "object", "list", "state"],
)  # fmt: skip
def test_strange_values_by_rest_are_400(line, method, path, body):
    api = ApiClient(make_token(line.owner, "laptop")[1])

    code, _ = getattr(api, method)(path.format(line=line.pk), body)

    assert code in (400, 404)


@pytest.mark.django_db
@pytest.mark.parametrize(
    "query", ["", "version=", "version=a%20b", "version=" + "9" * 101, "version=1&key=%00"]
)
def test_strange_questions_about_a_version_are_400(line, query):
    browser = Client()
    browser.force_login(line.owner)

    assert browser.get(f"/api/v1/lines/{line.pk}/standing?{query}").status_code == 400


@pytest.mark.django_db
def test_a_retired_target_and_an_inactive_owner_are_reasons(line, person):
    Target.objects.filter(pk=line.target_id).update(retired_at=timezone.now())
    launching.attend(line.due_at + timedelta(seconds=1))
    first = line.occasions.get()
    assert first.outcome == "refused"
    assert first.reason

    person.is_active = False
    person.save()
    line.refresh_from_db()
    if line.due_at:
        launching.attend(line.due_at + timedelta(seconds=1))
    line.refresh_from_db()
    assert line.state == "paused"


@pytest.mark.django_db(transaction=True)
def test_two_control_workers_at_once_launch_once(telling, target):
    person = somebody("owner2", "admin")
    line = line_from(measured(target, person, days=9), person, by_version=True)
    asking.ask(line, "a", user=person)
    line.refresh_from_db()
    now = line.due_at + timedelta(seconds=1)

    def attend(_):
        try:
            for _ in range(5):
                launching.attend(now)
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        list(threads.map(attend, range(4)))

    assert line.occasions.filter(outcome="launched").count() == 1
    assert line.campaigns.filter(state="running").count() == 1
    assert Line.objects.get().due_at > now
