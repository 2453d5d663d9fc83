from typing import Any

import pytest

from campaigns.kit.errors import Invalid
from campaigns.models import Campaign
from campaigns.planning import drafts, storage
from campaigns.planning.checking import check
from campaigns.planning.preview import grid_text, preview
from campaigns.planning.roles import loads_of, may_be_load
from campaigns.tests.toy import definition

pytestmark = pytest.mark.django_db

LOADS = {
    "factors": {"workers": [2, 4], "slow": [1, 2, 4]},
    "order": "interleaved",
    "roles": {"slow": "load"},
}


def checked(target, **changes):
    return check(definition(target=target.pk, **(LOADS | changes)))


def refused(target, **changes):
    with pytest.raises(Invalid) as caught:
        checked(target, **changes)
    ((path, (message,)),) = caught.value.errors.items()
    return path, message


def test_a_draft_keeps_its_roles_and_a_clone_takes_them(target):
    campaign = drafts.create(checked(target), None)

    assert loads_of(campaign) == ("slow",)
    data = storage.definition_of(campaign)
    assert data["roles"] == {"slow": "load"}
    assert loads_of(drafts.create(check(data), None, campaign)) == ("slow",)
    assert storage.with_changes(campaign, {"factors": {"workers": [2]}})["roles"] == {}


@pytest.mark.parametrize("roles", [None, {}, {"workers": "setting"}])
def test_a_definition_names_no_roles_where_none_is_stated(target, roles):
    campaign = drafts.create(checked(target, roles=roles), None)

    assert "roles" not in storage.definition_of(campaign)
    assert storage.revised(campaign)["roles"] == {}


@pytest.mark.parametrize(
    ("roles", "path", "words"),
    [
        ({"workers": "load"}, "roles.workers", "workers is setting in the kind Toy, and cannot be"),
        ({"slow": "much"}, "roles.slow", "slow may be declared load"),
        ({"slow": ["load"]}, "roles.slow", "Give the name of a role"),
        ({"speed": "load"}, "roles.speed", "what varies is workers, slow"),
        ("slow", "roles", "Give the role of each factor"),
    ],
)
def test_other_roles_are_refused(target, roles, path, words):
    where, message = refused(target, roles=roles)

    assert where == path
    assert words in message


def test_a_load_of_nothing_is_refused(target):
    path, message = refused(target, factors={"slow": [0, 1]})

    assert path == "factors.slow"
    assert message.startswith("slow is load, and “0.0” is no number above 0")


def test_pairs_and_contrasts_of_loads_are_refused(target):
    paired = {"order": "paired", "factors": {"slow": [1, 2]}, "paired_factor": "slow"}
    assert "slow is load" in refused(target, **paired)[1]
    path, message = refused(target, primary_contrast={"factor": "slow"})
    assert path == "primary_contrast"
    assert "not judged against each other" in message
    contrast = checked(target, primary_contrast={"candidate": 4}).campaign.primary_contrast
    assert contrast["factor"] == "workers"


def texts(target, **changes):
    return [text for _, text in preview(checked(target, **changes)).remarks]


def test_the_preview_tells_what_load_means(target):
    shown = " ".join(texts(target))

    assert "slow is load: its levels are never ranked" in shown
    assert "workers is compared at each load" in shown
    assert "No criterion is stated" in shown
    assert "It takes 352 samples per cell without a failure" in shown


def test_the_plan_says_before_the_launch_what_its_grid_can_claim():
    far, near = grid_text("hosts", ["25", "50", "100", "200"]), grid_text("hosts", [100, 130, 170])

    assert far == (
        "This grid can say of hosts from 25 to 200: at least L, fewer than 2 L. For a closer answer put loads within a ratio of "
        "1.35 around the expected capacity, or search."
    )
    assert near == (
        "This grid can say of hosts from 100 to 170: at least L, fewer than 1.3 L, and more closely by the line between its loads."
    )
    assert grid_text("hosts", [100]) == grid_text("hosts", ["a", "b"]) == ""


def test_what_the_grid_can_say_is_a_remark_of_the_preview(target):
    assert "This grid can say of slow from" in " ".join(texts(target))


def test_one_level_of_load_is_refused(target):
    path, message = refused(target, factors={"slow": [1]})

    assert path == "factors.slow"
    assert "slow is load and has one level: what is carried takes at least two." in message


def test_two_repetitions_show_no_capacity(target):
    shown = " ".join(texts(target, repetitions=2))

    assert "2 repetitions: below 3 there is no interval" in shown


def test_the_work_of_the_smallest_cell_is_compared_with_what_it_takes(target, monkeypatch, toy):
    monkeypatch.setattr(type(toy), "units", lambda self, parameters: 100 * int(parameters["slow"]))

    shown = " ".join(texts(target))

    assert "2 of 6 cells have fewer, the smallest 300" in shown
    assert "the smallest cell has 600" in " ".join(texts(target, repetitions=6))


def test_a_share_above_the_failure_limit_is_told(target):
    criterion = {"conditions": [{"metric": "duration", "at_most": 5}], "failed_percent": 20}

    assert any("Raise the failure limit" in text for text in texts(target, criterion=criterion))


def test_a_criterion_is_kept_and_taken_out_again(target):
    campaign = drafts.create(checked(target, criterion={"failed_percent": 5}), None)
    assert storage.definition_of(campaign)["criterion"] == {"failed_percent": 5}

    data = storage.with_changes(campaign, {"criterion": None})
    drafts.change(campaign, check(data))

    assert "criterion" not in storage.definition_of(Campaign.objects.get(pk=campaign.pk))


def test_names_that_sound_like_load_are_asked_about():
    factors: dict[str, list[Any]] = {
        "clients": [1, 2],
        "RPS": [10, 20.5],
        "users": ["a", "b"],
        "rate": [5],
        "hosts": [0, 1],
    }

    assert may_be_load(factors, {}) == ("clients", "RPS", "hosts")
    assert may_be_load(factors, {"clients": "setting"}) == ("RPS", "hosts")
