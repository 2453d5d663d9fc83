from collections import Counter
from itertools import pairwise

import pytest

from sandbox.faults import Draw, Fault, jitter_share


@pytest.mark.parametrize("files", [1, 2, 3, 100, 101, 999, 12_345])
def test_shares_are_exact_and_no_file_has_two_faults(files: int) -> None:
    shares = {Fault.ERROR: 0.25, Fault.STALL: 0.1} if files > 2 else {Fault.ERROR: 0.01}

    dealt = Counter(Draw(shares, files, seed=3).fault(index) for index in range(files))

    for fault, share in shares.items():
        assert dealt[fault] == max(1, round(share * files))
    assert dealt.total() == files


def test_all_files_have_a_fault_whose_share_is_one() -> None:
    draw = Draw({Fault.MISSING: 1.0}, 50, seed=0)

    assert {draw.fault(index) for index in range(50)} == {Fault.MISSING}


def test_faults_are_spread_and_depend_on_the_seed() -> None:
    shares = {Fault.ERROR: 0.1}

    struck = [i for i in range(1000) if Draw(shares, 1000, seed=1).fault(i)]
    others = [i for i in range(1000) if Draw(shares, 1000, seed=2).fault(i)]

    gaps = [after - before for before, after in pairwise(struck)]
    assert max(gaps) <= 30
    assert struck != others
    assert struck == [i for i in range(1000) if Draw(shares, 1000, seed=1).fault(i)]


def test_nothing_is_wrong_without_shares() -> None:
    assert Draw({}, 0, 0).fault(0) is None
    assert Draw({Fault.ERROR: 0.0}, 10, 0).fault(3) is None


def test_jitter_is_even_and_differs_by_file_and_attempt() -> None:
    shares = [jitter_share(1, index, 0) for index in range(1000)]

    assert 0 <= min(shares) < 0.05
    assert 0.95 < max(shares) < 1
    assert 0.45 < sum(shares) / 1000 < 0.55
    assert jitter_share(1, 5, 0) == shares[5] != jitter_share(1, 5, 1)
