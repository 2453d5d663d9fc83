import math
from copy import deepcopy
from datetime import UTC, datetime, timedelta, timezone

import pytest

from campaigns.stats.hashing import canonical_text, data_hash


@pytest.fixture
def document(golden):
    return deepcopy(golden("g")["data_hash"]["document"])


@pytest.fixture
def expected(golden):
    return golden("g")["data_hash"]["expected"]


def test_the_canonical_text_and_its_hash_are_as_published(golden, document, expected):
    assert canonical_text(**document) == golden("g")["data_hash"]["canonical"]
    assert data_hash(**document) == expected


def test_the_order_of_runs_does_not_matter(document, expected):
    document["runs"].reverse()

    assert data_hash(**document) == expected


def test_the_order_of_keys_does_not_matter(document, expected):
    document["runs"] = [dict(reversed(run.items())) for run in document["runs"]]

    assert data_hash(**dict(reversed(document.items()))) == expected


@pytest.mark.parametrize(
    "instant",
    [
        "2024-06-11T11:00:00+02:00",
        datetime(2024, 6, 11, 9, tzinfo=UTC),
        datetime(2024, 6, 11, 11, tzinfo=timezone(timedelta(hours=2))),
    ],
)
def test_an_instant_is_the_same_in_every_zone(document, expected, instant):
    document["runs"][0]["started"] = instant

    assert data_hash(**document) == expected


def test_a_negative_zero_is_zero(document, expected):
    document["runs"][0]["values"]["failed"] = -0.0

    assert data_hash(**document) == expected


def test_a_measured_whole_number_is_a_float(document, expected):
    document["runs"][0]["values"]["failed"] = 0

    assert data_hash(**document) == expected


def test_a_decomposed_accent_is_the_composed_one(document, expected):
    document["exclusions"][0]["reason"] = "cafe\u0301 disk full"

    assert data_hash(**document) == expected


def last_bit(document):
    values = document["runs"][0]["values"]
    values["duration"] = math.nextafter(values["duration"], math.inf)


def exclusion_added(document):
    document["exclusions"].append(
        {"position": 1, "by": "ann", "reason": "", "at": "2024-06-12T08:00:00Z"}
    )


def alpha_changed(document):
    document["parameters"]["alpha"] = 0.01


def void_run_removed(document):
    del document["runs"][2]


@pytest.mark.parametrize("change", [last_bit, exclusion_added, alpha_changed, void_run_removed])
def test_changed_data_have_another_hash(document, expected, change):
    change(document)

    assert data_hash(**document) != expected


def test_words_that_only_look_like_an_instant_are_kept(document):
    document["definition"]["question"] = "2024-13-45T99:00:00Z"

    assert '"2024-13-45T99:00:00Z"' in canonical_text(**document)


def test_an_instant_without_a_zone_is_a_mistake(document):
    document["runs"][0]["started"] = datetime(2024, 6, 11, 9)  # noqa: DTZ001

    with pytest.raises(ValueError, match="no time zone"):
        data_hash(**document)


def test_a_value_that_json_cannot_hold_is_a_mistake(document):
    document["runs"][0]["values"]["duration"] = math.nan

    with pytest.raises(ValueError, match="JSON"):
        data_hash(**document)


def test_an_unknown_type_is_a_mistake(document):
    document["definition"]["levels"] = {5, 10}

    with pytest.raises(TypeError, match="no canonical form"):
        data_hash(**document)
