"""A benchmark of pytest-benchmark, run by `test_programs` as a program."""


def test_sum(benchmark):
    assert benchmark(sum, range(1000)) == 499500
