import pytest

from campaigns.findings.values import Drift
from campaigns.findings.wording.drift import block_notes


@pytest.mark.parametrize(
    ("missing", "figures", "notes"),
    [
        (
            "not_in_blocks",
            (None, None, None),
            "There are no effects of blocks: the runs were not made in blocks.",
        ),
        (
            "not_positive",
            (None, None, None),
            "There are no effects of blocks: a value is 0 or less, and has no logarithm.",
        ),
        (
            "too_many",
            (None, None, None),
            "There are no effects of blocks: there are more than the model takes.",
        ),
        (
            "too_few",
            (None, None, None),
            "There are no effects of blocks yet: it takes two blocks that share cells.",
        ),
        (
            "",
            (4.21, 1.38, None),
            "Blocks vary by 4.2 % (standard deviation), runs within a block by 1.4 %.",
        ),
        (
            "",
            (4.21, 1.38, 2.6),
            "Blocks vary by 4.2 % (standard deviation), runs within a block by 1.4 %. "
            "Without blocks it would have taken 2.6 times the runs to see as much.",
        ),
        (
            "",
            (0.0, 0.0, None),
            "Blocks vary by 0.0 % (standard deviation), runs within a block by 0.0 %.",
        ),
    ],
)
def test_the_note_says_what_blocks_brought(missing, figures, notes):
    sd_of_blocks, sd, efficiency = figures
    drift = Drift(missing, [], sd_of_blocks, sd, efficiency, [])

    assert block_notes(drift) == (notes,)
