import msgspec
import pytest

from campaigns.findings.values import Outlook
from campaigns.findings.wording.outlook import ahead, ended

GOING_ON = Outlook(
    primary=False,
    stop="",
    target_pct=3.0,
    half_width_pct=4.2,
    more=3,
    expected_pct=2.9,
    seconds=1440.0,
    closed=16,
)


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        (
            {},
            "The widest interval is ±4.2 %; it ends at ±3 %. "
            "3 more blocks, about 24 min, expected ±2.9 %.",
        ),
        (
            {"primary": True, "more": 1, "seconds": 480.0},
            "The interval of the primary contrast is ±4.2 %; it ends at ±3 %. "
            "1 more block, about 8 min, expected ±2.9 %.",
        ),
        (
            {"more": 1, "seconds": 0.2},
            "The widest interval is ±4.2 %; it ends at ±3 %. "
            "1 more block, under 1 s, expected ±2.9 %.",
        ),
        (
            {"half_width_pct": None, "expected_pct": None, "more": 5},
            "The widest interval is not known yet; it ends at ±3 %. 5 more blocks, about 24 min.",
        ),
        (
            {"half_width_pct": 61.3, "expected_pct": 38.0, "more": 22, "seconds": None},
            "The widest interval is ±61.3 %; it ends at ±3 %. 22 more blocks, expected ±38.0 %.",
        ),
        (
            {"stop": "precise", "half_width_pct": 2.9, "more": 0},
            "The widest interval is ±2.9 %; it ends at ±3 %.",
        ),
        ({"more": None}, "The widest interval is ±4.2 %; it ends at ±3 %."),
    ],
)
def test_a_campaign_says_how_precise_it_is_and_what_is_to_come(changes, text):
    assert ahead(msgspec.structs.replace(GOING_ON, **changes)) == text


def undecided_outlook(undecided, stop="", more=4):
    return Outlook(
        primary=False,
        stop=stop,
        target_pct=3.0,
        half_width_pct=None,
        more=more,
        expected_pct=None,
        seconds=600.0,
        closed=10,
        blocks=8,
        most=12,
        undecided=undecided,
    )


@pytest.mark.parametrize(
    ("undecided", "text"),
    [
        (1, "1 capacity is not decided; it ends when each is. 4 more blocks, about 10 min."),
        (2, "2 capacities are not decided; it ends when each is. 4 more blocks, about 10 min."),
    ],
)
def test_it_goes_on_until_each_capacity_is_decided(undecided, text):
    assert ahead(undecided_outlook(undecided)) == text


@pytest.mark.parametrize(
    ("undecided", "stop", "why"),
    [
        (0, "precise", "each capacity is decided"),
        (1, "most_blocks", "that is the maximum; 1 capacity is not decided"),
    ],
)
def test_it_tells_why_it_ended(undecided, stop, why):
    text = ended(undecided_outlook(undecided, stop, more=0))
    assert text.startswith(f"Ended after 8 of at most 12 blocks: {why}. ")
