"""What aggregated and rounded numbers cannot support is off, and the page says why."""

import pytest

from campaigns import analysis
from campaigns.importers.receiving import create
from campaigns.importers.submitted import Submitted, SubmittedMetric, SubmittedRun
from campaigns.models import Campaign
from campaigns.web.check_lines import check_lines

pytestmark = pytest.mark.django_db


def analysed(fidelity: str, times: list[float], **definition) -> Campaign:
    """Two settings, the second half as fast, with 25 runs each."""
    submitted = Submitted(
        runs=[
            SubmittedRun({"engine": engine}, {"latency": factor * value})
            for engine, factor in (("old", 2.0), ("new", 1.0))
            for value in times
        ],
        metrics=[SubmittedMetric("latency", "Latency", "s", True, fidelity)],
        definition={"question": "Which?", **definition},
    )
    campaign = create(submitted, None).campaign
    analysis.analyse(campaign)
    return campaign


TIMES = [1.0 + 0.01 * place for place in range(25)]


def said(campaign: Campaign) -> dict[str, tuple[str, str]]:
    lines = check_lines(campaign.findings.get(name="checks").result)
    return {line.title: (line.tone, line.text) for line in lines}


def result(campaign: Campaign, name: str):
    return campaign.findings.get(name=name).result


def test_of_raw_values_nothing_is_off():
    campaign = analysed("raw", TIMES)

    assert result(campaign, "levels")["groups"][0]["comparisons"][0]["comparison"]["ranks"]
    assert all(cell["density"] for cell in result(campaign, "density:latency")["cells"])
    assert "What the numbers are" not in said(campaign)


def test_of_aggregated_values_densities_and_modes_are_off():
    campaign = analysed("aggregated", TIMES)

    assert result(campaign, "levels")["groups"][0]["comparisons"][0]["comparison"]["ranks"]
    assert not any(cell["density"] for cell in result(campaign, "density:latency")["cells"])
    tone, text = said(campaign)["What the numbers are"]
    assert tone == "warn"
    assert "Density and modes are off" in text
    assert said(campaign)["Modes"][0] == "thin"


def test_of_rounded_values_rank_tests_are_off_too():
    campaign = analysed("rounded", TIMES)

    step = result(campaign, "levels")["groups"][0]["comparisons"][0]
    assert step["comparison"]["ranks"] is None
    assert step["comparison"]["verdict"]["word"] == "better"
    tone, text = said(campaign)["What the numbers are"]
    assert tone == "warn"
    assert "steps of up to 0.89 % of their mean" in text


def test_values_that_are_too_coarse_for_the_effect_of_interest_fail_the_check():
    campaign = analysed("rounded", [1.0, 2.0, 1.0], smallest_effect_percent=5)

    tone, text = said(campaign)["What the numbers are"]
    assert tone == "fail"
    assert "A difference of 5 %, the smallest of interest, cannot be seen." in text
