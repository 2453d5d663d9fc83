"""Two tests of pytest-benchmark, one of them with parameters."""

import pytest


@pytest.mark.parametrize("size", [10, 1000])
def test_sum(benchmark, size):
    benchmark(sum, range(size))


def test_rounds(benchmark):
    benchmark.pedantic(sorted, args=([3, 1, 2],), rounds=9, iterations=4)
