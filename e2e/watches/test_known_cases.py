"""The rule names what binds in machines whose limit is known, and names nothing where there is none.

They want a machine that does nothing else, so they are no part of script/test --all; `script/bench binding` counts.
"""

import pytest

from campaigns.findings.wording.binding import run_binding_text
from e2e.watches.known_cases import CASES, CannotBeMade, counted

pytestmark = [pytest.mark.e2e, pytest.mark.nightly, pytest.mark.timeout(300)]


@pytest.mark.parametrize("name", CASES)
def test_the_rule_names_it(name):
    try:
        right, _, run = counted(name)
    except CannotBeMade as why:
        pytest.skip(str(why))

    text = run_binding_text(run)
    reasons = [
        f"{each.short}: {each.state.word}: {'; '.join(each.reasons)}" for each in text.resources
    ]
    assert right, "\n".join([f"must say: {CASES[name].must_say}; says: {text.sentence}", *reasons])
