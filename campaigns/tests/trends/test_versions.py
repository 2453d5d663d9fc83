"""The order of versions, by the known answers and by what no scheme orders."""

import pytest

from campaigns.kit.versions import GEM, PYPI, RPM, SEMVER, accepts, key_of, positions

SCHEMES = (PYPI, RPM, SEMVER, GEM)


@pytest.mark.parametrize("scheme", [PYPI, RPM])
def test_versions_stand_in_the_order_of_their_scheme(golden, scheme):
    known = golden["versions"][scheme]

    placed = positions(known["given"], scheme)

    assert sorted(placed, key=placed.__getitem__) == known["sorted"]


def test_two_spellings_are_one_version(golden):
    for one, other, scheme in golden["versions"]["same"]:
        placed = positions([one, other, "9999.0"], scheme)
        assert placed[one] == placed[other] < placed["9999.0"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_no_version_has_no_order_of_its_own(golden, scheme):
    assert not [text for text in golden["versions"]["by_first_seen"] if accepts(text, scheme)]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_what_is_no_version_stands_behind_what_was_seen_before_it(scheme):
    placed = positions(["nightly", "3.2.0", "HEAD-3f2a", "3.1.0"], scheme)

    assert sorted(placed, key=placed.__getitem__) == ["nightly", "3.1.0", "3.2.0", "HEAD-3f2a"]


@pytest.mark.parametrize("scheme", SCHEMES)
def test_ten_thousand_letters_are_refused_at_once(scheme):
    assert key_of("1." + "1" * 10_000, scheme) is None


def test_a_candidate_of_a_gem_comes_before_its_release():
    placed = positions(["4.15.0", "4.15.0.rc2", "4.14.1", "4.15.0.rc10"], GEM)

    assert sorted(placed, key=placed.__getitem__) == [
        "4.14.1",
        "4.15.0.rc2",
        "4.15.0.rc10",
        "4.15.0",
    ]


def test_an_unknown_scheme_orders_nothing():
    assert not accepts("1.0", "nobodys")
