"""What is kept of an attempt while it goes on."""

from campaigns.execution.steps import Record
from campaigns.kinds.base import EffectiveSetting, ParametersRefused


def test_what_was_read_back_before_a_refusal_is_kept_beside_it():
    record = Record()
    record.settings = [
        EffectiveSetting("policy", "immediate", "immediate", ok=True),
        EffectiveSetting("rate_limit", 5, 5, ok=True),
    ]

    record.refused(ParametersRefused("No.", {"rate_limit": "Too low."}), {"rate_limit": 5})

    assert [(s.name, s.in_force, s.ok) for s in record.settings] == [
        ("policy", "immediate", True),
        ("rate_limit", "refused: Too low.", False),
    ]
