"""Few values, many ties, empty sides: every comparison that an analysis makes has an answer."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from campaigns.stats.best import find_best
from campaigns.stats.comparison_cells import CellRuns
from campaigns.stats.comparisons import compare_cells
from campaigns.stats.mann_whitney import rank_sum, shift
from campaigns.stats.paired import compare_strata
from campaigns.stats.pairs import Pair, Stratum
from campaigns.stats.ranks import hodges_lehmann, signed_rank

VALUE = st.sampled_from([1.0, 1.5, 2.0, 1e-9, 1e9])
SIDE = st.lists(VALUE, min_size=1, max_size=4).map(np.array)
COUNT = st.sampled_from([0, 1])


@st.composite
def cells(draw):
    """Two to four cells over four blocks, any of their runs failed or lost."""
    found = []
    for _ in range(draw(st.integers(2, 4))):
        runs = draw(st.dictionaries(st.integers(1, 4), VALUE, max_size=4))
        blocks = sorted(runs)
        values = [runs[block] for block in blocks]
        found.append(CellRuns(values, blocks, failed=draw(COUNT), lost=draw(COUNT)))
    return found


@given(base=SIDE, cand=SIDE)
def test_ranks_are_compared_whatever_is_tied(base, cand):
    found = rank_sum(base, cand)

    assert 0 < found.min_attainable_p <= 1
    assert found.min_attainable_p - 1e-12 <= found.p <= 1
    assert 0 <= found.cles <= 1
    assert shift(np.log(base), np.log(cand), 0.95) is not None


@given(differences=SIDE.map(lambda side: np.log(side)))
def test_signed_ranks_are_compared_whatever_is_tied(differences):
    assert 0 < signed_rank(differences).p <= 1
    assert hodges_lehmann(differences, 0.95) is not None


@given(cells=cells(), interleaved=st.booleans(), alone=st.booleans(), lower=st.booleans())
def test_cells_are_compared_however_few_runs_are_left(cells, interleaved, alone, lower):
    wanted = [(i, j) for i in range(len(cells)) for j in range(i + 1, len(cells))]

    found = compare_cells(
        cells,
        wanted,
        interleaved=interleaved,
        lower_is_better=lower,
        alone=alone,
        boards=[range(len(cells))],
        means=[wanted[:2]] if wanted else [],
    )

    assert len(found.comparisons) == len(wanted)
    if found.fit is not None:
        find_best(found.fit, lower_is_better=lower)


@given(
    strata=st.lists(
        st.lists(st.builds(Pair, VALUE, VALUE, st.sampled_from([True, False, None])), max_size=4),
        min_size=1,
        max_size=4,
    ),
    pooled=st.booleans(),
)
def test_pairs_are_compared_however_few_are_left(strata, pooled):
    named = [Stratum(str(number), pairs) for number, pairs in enumerate(strata)]

    found = compare_strata(
        named, lower_is_better=True, pool_noise=pooled, together=range(len(named))
    )

    assert len(found.comparisons) == len(named)
