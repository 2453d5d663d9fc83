"""What fits a Pulp, what fits a Katello, and what is said where they are mixed up."""

import pytest

from campaigns.kinds.sync.driver import driver

FEED = "http://127.0.0.1:8099/repo/files=3/PULP_MANIFEST"
KATELLOS = {"repository_ids": "3", "repeat": "unchanged"}


def misfits(family, *, factors=None, **given):
    initial = {name: field.initial for name, field in driver.parameters.base_fields.items()}
    form = driver.parameters(initial | given)
    assert form.is_valid(), form.errors
    fixed = {n: v for n, v in form.cleaned_data.items() if n not in (factors or {})}
    return driver.misfits(family, fixed, factors or {})


@pytest.mark.parametrize(
    "given", [KATELLOS, {"proxy": 2, "repeat": "unchanged"}, KATELLOS | {"optimize": "off"}]
)
def test_what_a_katello_knows_fits_it(given):
    assert misfits("katello", **given) == {}


def test_what_a_pulp_knows_fits_it():
    assert misfits("pulp", feed=FEED, download_concurrency=5, repeat="unchanged") == {}


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("feed", FEED, "leave it empty"),
        ("policy", "on_demand", "leave it at immediate"),
        ("content", "rpm", "leave it at file"),
        ("download_concurrency", 5, "leave it empty"),
        ("repositories", 2, "leave it at 1"),
        ("publish", "on", "leave it at off"),
        ("sync_fields", "{}", "leave it empty"),
    ],
)
def test_what_is_pulps_alone_is_refused_with_a_katello(name, value, words):
    found = misfits("katello", **KATELLOS | {name: value})

    assert list(found) == [name]
    assert found[name].startswith("Only a pulp target has it")
    assert words in found[name]


@pytest.mark.parametrize(("name", "value"), [("repository_ids", "3"), ("proxy", 1)])
def test_what_is_katellos_alone_is_refused_with_a_pulp(name, value):
    found = misfits("pulp", feed=FEED, **{name: value})

    assert found == {
        name: "Only a katello target has it: leave it empty, or choose another target."
    }


def test_what_belongs_to_another_family_does_not_vary_either():
    found = misfits("katello", factors={"policy": ["immediate", "on_demand"]}, **KATELLOS)

    assert "do not vary it" in found["policy"]


def test_a_katello_makes_no_first_sync():
    assert "choose unchanged" in misfits("katello", repository_ids="3")["repeat"]
    varied = {"repeat": ("first", "unchanged")}
    assert "repeat" in misfits("katello", repository_ids="3", factors=varied)


def test_a_katello_needs_repositories_or_a_proxy_at_every_level():
    assert "ids of repositories" in misfits("katello", repeat="unchanged")["repository_ids"]
    some = {"repository_ids": ("3", "")}
    assert "repository_ids" in misfits("katello", repeat="unchanged", factors=some)
    assert misfits("katello", repeat="unchanged", proxy=1, factors=some) == {}


def test_a_pulp_needs_a_feed_at_every_level():
    assert "feed" in misfits("pulp")
    assert "feed" in misfits("pulp", factors={"feed": (FEED, "")})
    assert misfits("pulp", factors={"feed": (FEED,)}) == {}
