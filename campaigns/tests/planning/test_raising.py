from dataclasses import replace

import pytest

from campaigns.kinds.registry import driver_of
from campaigns.models import Campaign, Setting, Target
from campaigns.planning.pages import forms
from campaigns.planning.raising import BY_HAND, Raise, raises_of
from campaigns.stats.binding import Resource

pytestmark = pytest.mark.django_db


@pytest.fixture
def target(db):
    made = Target.objects.create(name="server", base_url="http://server.example", family="http")
    Setting.objects.create(
        target=made, name="puma_workers", apply={}, read_back={}, maximum=6, look_value=4
    )
    return made


def campaign_on(target):
    return Campaign(kind="downloader", target=target)


def test_a_setting_of_the_target_that_gives_more_is_offered(target):
    raises = raises_of(campaign_on(target), [Resource.THREADS, Resource.CORE], none_seen=False)

    assert raises == [Raise("puma_workers", "raise puma workers")]


def test_what_perfdash_cannot_set_is_raised_by_hand(target):
    raises = raises_of(campaign_on(target), [Resource.CPU, Resource.DISK], none_seen=False)

    assert raises == [Raise("", BY_HAND[each]) for each in (Resource.CPU, Resource.DISK)]
    assert set(BY_HAND) == set(Resource)


def test_where_nothing_binds_more_is_asked_at_a_time(target):
    assert raises_of(campaign_on(target), [], none_seen=True) == [
        Raise("concurrency", "raise concurrency")
    ]
    assert raises_of(campaign_on(target), [], none_seen=False) == []


def entered(target, **changed):
    made = forms.blank("downloader", frozenset([target.team_id]), target)
    return replace(made, **changed)


def test_a_clone_measures_as_it_was_and_raised(target, subtests):
    cases = {
        "as it is": (entered(target), "puma_workers", ("4", "6")),
        "given": (
            entered(target, parameters={"puma_workers": "2"}),
            "puma_workers",
            ("2", "4"),
        ),
        "varied": (
            entered(target, varied=frozenset(["concurrency"]), levels={"concurrency": ("5", "10")}),
            "concurrency",
            ("10", "20"),
        ),
    }
    for name, (form, setting, levels) in cases.items():
        with subtests.test(name):
            raised = forms.with_raised(form, setting)

            assert raised is not None
            assert raised.levels[setting] == levels
            assert setting in raised.varied
            assert f"from {levels[0]} to {levels[1]} move the limit?" in raised.values["question"]


def test_what_is_unknown_or_the_most_is_not_raised(target):
    assert forms.with_raised(entered(target), "no_such_setting") is None
    assert (
        forms.with_raised(entered(target, parameters={"puma_workers": "6"}), "puma_workers") is None
    )
    assert driver_of("downloader").role("concurrency") == "setting"
