"""The numbers of `-cpu` at the ends of names that end in numbers themselves."""

from campaigns.results import readers

LINES = """\
goos: linux
pkg: example.com/kv
BenchmarkGet               	 1000000	      1052 ns/op
BenchmarkGet-2             	 2000000	       602.5 ns/op
BenchmarkGet-4             	 4000000	       312.1 ns/op
BenchmarkCopy/size-1024    	 1000000	      1152 ns/op	 888.89 MB/s
BenchmarkCopy/size-1024-2  	 1000000	      1052 ns/op	 973.38 MB/s
BenchmarkCopy/size-1024-4  	 1000000	      1002 ns/op	1021.96 MB/s
PASS
ok  	example.com/kv	12.345s
"""


def test_one_processor_has_no_number_also_where_the_name_ends_in_one():
    found = readers.read(LINES.encode())
    assert found.factors["benchmark"] == ("Get", "Copy")
    assert found.factors["part 1"] == ("none", "size-1024")
    assert found.factors["processors"] == (1, 2, 4)
    assert [(run.levels["benchmark"], run.levels["processors"]) for run in found.runs] == [
        (name, number) for name in ("Get", "Copy") for number in (1, 2, 4)
    ]


def test_numbers_that_only_parts_of_benchmarks_have_are_asked_about():
    lines = "".join(
        f"Benchmark{name}/n-{number} \t 100 \t 1052 ns/op\n"
        for name in ("Parse", "Fill")
        for number in (10, 100)
    )
    found = readers.read(f"{lines}PASS\n".encode())
    assert found.guesses == {
        "processors": "It is the number at the end of the name, and may belong to the name."
    }
