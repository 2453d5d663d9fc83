from campaigns.kit import histogram


def test_the_values_that_percentiles_need_are_as_published(golden):
    for row in golden("g")["percentile_needs"]:
        assert histogram.needs(row["n"], row["p"]) == (row["expected"] or "")
