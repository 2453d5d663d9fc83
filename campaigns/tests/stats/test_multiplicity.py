import pytest

from campaigns.stats.multiplicity import holm


def test_adjusted_p_values_are_as_published(golden):
    family = golden("h")["multiplicity"]

    assert holm(family["p"]) == pytest.approx(family["holm"], rel=1e-7)


def test_no_adjusted_p_value_is_above_1():
    assert holm([0.9, 0.6, 0.7]) == [1.0, 1.0, 1.0]
    assert holm([]) == []


@pytest.mark.parametrize("letter", ["a", "b"])
def test_a_family_of_a_real_table_is_adjusted(golden, letter):
    document = golden(letter)
    if letter == "a":
        expected = document["adjacent_holm"]
        raw = {step: document["contrasts"][step]["pooled"]["p"] for step in expected}
    else:
        expected = document["holm_p"]
        raw = {name: each["t_log"]["p"] for name, each in document["per_manifest"].items()}

    adjusted = holm([raw[name] for name in expected])

    assert adjusted == pytest.approx(list(expected.values()), rel=1e-8)
