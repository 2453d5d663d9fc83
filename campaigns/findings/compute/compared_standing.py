"""Whether sessions confirm what a comparison of campaigns says; one on a side never does."""

from campaigns.stats.across import FEWEST_SESSIONS
from campaigns.stats.cells import CellRuns
from campaigns.stats.comparisons import WITHOUT_NUMBERS
from campaigns.stats.sessions import DECIDED
from campaigns.stats.verdict import Verdict


def standing_of(verdict: Verdict, baseline: CellRuns, candidate: CellRuns) -> str:
    """Say it in words; empty where there is nothing to confirm."""
    if verdict.word in WITHOUT_NUMBERS or not baseline.values or not candidate.values:
        return ""
    numbers = [cell.session_count for cell in (baseline, candidate)]
    if numbers == [1, 1]:
        return "one session each"
    counts = f"{numbers[0]} and {numbers[1]} sessions"
    if min(numbers) < FEWEST_SESSIONS:
        return f"{counts}: too few to confirm"
    confirmed = verdict.word in DECIDED
    return f"{'confirmed' if confirmed else 'not confirmed'} over {counts}"
