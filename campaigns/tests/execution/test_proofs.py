from campaigns.execution.proofs import proofs_text, unproved_of
from campaigns.kinds.base import EffectiveSetting, Proof


def test_numbers_are_written_in_the_units_that_people_know():
    proofs = [
        Proof("storage used", "any", 18188042240.0, "B", ok=True),
        Proof("artifacts", 0, 0, "count", ok=True),
        Proof("clock", "any", 0.25, "s", ok=True),
    ]

    assert proofs_text(proofs) == "storage used 18.2 GB; artifacts 0; clock 250 ms"


def test_what_does_not_hold_says_what_it_should_have_been():
    proofs = [
        Proof("artifacts", 0, 0, "count", ok=True),
        Proof("workers online", "1 or more", 0, "count", ok=False),
    ]

    assert unproved_of(proofs) == "workers online 0, expected 1 or more"
    assert unproved_of([]) == "nothing proves it"
    assert unproved_of(proofs[:1]) == ""


def test_settings_are_read_back_and_many_are_counted():
    settings = [EffectiveSetting(f"s{n}", n, n, ok=True) for n in range(7)]

    assert proofs_text(settings).endswith("s4 4, read back 4 and 2 more")
