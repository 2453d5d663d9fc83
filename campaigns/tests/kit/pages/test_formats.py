import re
from datetime import UTC, datetime, timedelta

import pytest
from django.template import Context, Template
from django.utils import timezone

from campaigns.kit import formats
from campaigns.kit import marks as kit_marks


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "files", "0 files"),
        (83_337_768_960, "B", "83.3 GB"),
        ("at least 80000", "B", "at least 80 kB"),
        ("at least 80000", "files", "at least 80,000 files"),
        ("below 500", "", "below 500"),
        ("within 5 s", "s", "within 5 s"),
        (True, "", "on"),
        (None, "", "none"),
    ],
)
def test_what_a_proof_found_has_separators_and_its_unit(value, unit, text):
    assert formats.observed(value, unit) == text


def test_a_number_is_not_parted_from_its_unit():
    text = formats.unbroken("5 takes 71.5 % longer: 1.2 s of 3 bars, 2 files.")

    assert text == "5 takes 71.5\u00a0% longer: 1.2\u00a0s of 3 bars, 2\u00a0files."


def test_a_long_name_breaks_after_a_slash_and_stays_text():
    assert formats.breakable("a/<b>=1.5MB") == "a/&lt;b&gt;=1.5MB"
    assert formats.breakable("files=100/total=407.679MB") == "files=100/<wbr>total=407.679MB"


def test_instants_are_written_in_utc():
    there = timezone.get_fixed_timezone(120)
    moment = datetime(2026, 7, 25, 12, 41, 5, tzinfo=there)

    assert ">2026-07-25 10:41:05</time>" in formats.instant(moment)
    assert ">2026-07-25 10:41:05</time>" in formats.instant(moment.isoformat())
    assert formats.instant(None) == formats.instant("yesterday") == "—"


def test_what_was_a_while_ago_keeps_its_instant():
    moment = datetime.now(UTC) - timedelta(minutes=14, seconds=5)

    assert "14\u00a0min ago</time>" in formats.ago(moment)
    assert moment.isoformat() in formats.ago(moment)
    assert "just now" in formats.ago(datetime.now(UTC))


def test_marks_have_a_word_a_tone_and_an_icon():
    template = Template(
        '{% load marks %}{% campaign_badge "paused" %}{% run_state "censored" %}'
        '{% health_state "ready" %}{% run_state "nobody knows" %}'
    )

    drawn = template.render(Context())

    for part in ("Paused", "timed out", "ready", "unknown", 'data-tone="warn"', "#i-pause"):
        assert part in drawn


def test_every_icon_that_is_named_is_in_the_sprite(request):
    templates = request.config.rootpath / "templates"
    sprite = (templates / "components/_icons.html").read_text()
    tables = (kit_marks.CAMPAIGNS, kit_marks.RUNS, kit_marks.HEALTH)
    named = {mark[2] for table in tables for mark in table.values()}
    for template in templates.rglob("*.html"):
        named |= set(re.findall(r'{% icon "([^"]+)" %}', template.read_text()))

    assert not [name for name in sorted(named) if f'id="i-{name}"' not in sprite]


@pytest.mark.parametrize(
    ("place", "text"),
    [(1, "1st"), (2, "2nd"), (3, "3rd"), (4, "4th"), (11, "11th"), (13, "13th"), (22, "22nd")],
)
def test_a_place_is_written_with_its_ending(place, text):
    assert formats.ordinal(place) == text


@pytest.mark.parametrize(
    ("days", "text"),
    [(0.1, "2 h 24\u00a0min ago"), (1.5, "1 day ago"), (59, "59 days ago"), (61, "-")],
)
def test_the_age_of_an_answer_ends_as_its_date(days, text):
    moment = datetime.now(UTC) - timedelta(days=days)

    shown = formats.age(moment)

    assert (f"{moment:>%Y-%m-%d}</time>" if text == "-" else text) in shown
    assert moment.isoformat() in shown
