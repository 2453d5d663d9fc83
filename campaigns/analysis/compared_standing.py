"""Whether sessions confirm what a comparison of campaigns says; one on a side never does."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from campaigns.stats.across import over_sessions
from campaigns.stats.comparisons import WITHOUT_NUMBERS
from campaigns.stats.criteria import Criteria
from campaigns.stats.sessions import DECIDED
from campaigns.stats.verdict import Verdict

Sessions = Sequence[NDArray[np.float64]]


def standing_of(
    verdict: Verdict,
    baseline: Sessions,
    candidate: Sessions,
    *,
    lower_is_better: bool,
    criteria: Criteria,
) -> str:
    """Say it in words; empty where there is nothing to confirm. Sessions hold the values of a cell."""
    if verdict.word in WITHOUT_NUMBERS or not baseline or not candidate:
        return ""
    if len(baseline) == len(candidate) == 1:
        return "one session each"
    counts = f"{len(baseline)} and {len(candidate)} sessions"
    judged = over_sessions(baseline, candidate, lower_is_better=lower_is_better, criteria=criteria)
    if judged is None:
        return f"{counts}: too few to confirm"
    confirmed = judged.word in DECIDED and judged.word == verdict.word
    return f"{'confirmed' if confirmed else 'not confirmed'} over {counts}"
