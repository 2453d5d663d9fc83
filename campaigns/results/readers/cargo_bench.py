"""Read what libtest prints for `cargo bench`, and what prints as it does (Criterion's --output-format bencher)."""

import re

from campaigns.results.readers.base import (
    Builder,
    Options,
    Read,
    ReadMetric,
    Scalar,
    Source,
    varying,
)
from campaigns.results.readers.base.texts import number_of

NUMBER = r"[\d,]{1,30}(?:\.\d{1,9})?"
RESULT = re.compile(
    rf"test (\S.{{0,500}}?) +\.\.\. bench: +({NUMBER}) ns/iter \(\+/- ({NUMBER})\)(?: = ({NUMBER}) MB/s)?[ \r]*"
)
HEAD = re.compile(rb"^test \S.{0,500}? +\.\.\. bench: +[\d,.]{1,40} ns/iter \(\+/- ", re.MULTILINE)
FAILED = re.compile(r"test (\S.{0,500}?) +\.\.\. FAILED[ \r]*")
BINARY = re.compile(r"[ \t]{0,40}Running (?:unittests )?(\S{1,300}) \(\S.{0,500}\)[ \r]*")
ENDED = re.compile(r"test result: ")
BEGUN = re.compile(r"running \d{1,9} tests?[ \r]*")
KNOWN = re.compile(
    r"test \S.{0,500}? +\.\.\. (?:ignored|ok)|[ \t]{0,40}(?:Compiling|Finished|Running|Doc-tests|warning|error|note|Blocking|`--)"
)
DURATION = ReadMetric("duration", "Time per iteration", "s", True, "rounded")
THROUGHPUT = ReadMetric("throughput", "Throughput", "B/s", False, "rounded")


class CargoBench:
    """The benchmark is a factor where there are several; so is the binary, if cargo's messages are in the file."""

    name = "cargo_bench"
    label = "cargo bench"

    def detects(self, head: bytes, filename: str) -> bool:
        """Return whether there is a line with the result of a benchmark."""
        return bool(HEAD.search(head))

    def read(self, source: Source, options: Options) -> Read:
        """Read every line of every output in the file."""
        builder = Builder(self.name, self.label, work=("binary", "benchmark"))
        builder.declare(DURATION, THROUGHPUT)
        found = _lines(builder, source)
        levels, shared = varying([each for each, _ in found])
        for differing, (_, values) in zip(levels, found, strict=True):
            builder.run(
                differing,
                values,
                reason="" if values else "the benchmark failed",
                units_failed=0 if values else 1,
            )
        for name, value in shared.items():
            builder.note(name, value)
        names = [str(each["benchmark"]) for each, _ in found if "binary" not in each]
        if len(set(names)) < len(names):
            builder.drop(
                "Lines of one name are runs of one benchmark. If several binaries have it, keep cargo's messages "
                "in the file, which tell them apart (cargo bench 2>&1)."
            )
        builder.drop(
            "A line has the median of its samples; what follows +/- is their range, and is left out. When each "
            "benchmark began is not in the file."
        )
        return builder.build(
            name=f"cargo bench: {shared.get('benchmark', 'several')}",
            question="How long does each benchmark take, and what changes it?",
            primary=[DURATION.name],
            tags=("rust",),
        )


def _lines(builder: Builder, source: Source) -> list[tuple[dict[str, Scalar], dict[str, float]]]:
    """Return binary and benchmark of each line, and its values: none if it failed."""
    results: list[tuple[dict[str, Scalar], dict[str, float]]] = []
    about: dict[str, Scalar] = {}
    explained = unfinished = False
    for number, line in enumerate(source.text().split("\n"), 1):
        if binary := BINARY.fullmatch(line):
            about = {"binary": binary[1]}
        elif result := RESULT.fullmatch(line):
            results.append(({**about, "benchmark": result[1]}, _values(result)))
        elif failed := FAILED.fullmatch(line):
            results.append(({**about, "benchmark": failed[1]}, {}))
        elif BEGUN.fullmatch(line):
            explained, unfinished = False, True
        elif ENDED.match(line):
            explained = unfinished = False
        elif line.startswith("failures:"):
            explained = True
        elif line.strip() and not explained and not KNOWN.match(line):
            source.unknown(number)
    if unfinished:
        builder.drop(
            "The output ends without “test result”: it was stopped, or lines were left out."
        )
    return results


def _values(result: re.Match[str]) -> dict[str, float]:
    values = {DURATION.name: _number(result[2]) * 1e-9}
    if result[4]:
        values[THROUGHPUT.name] = _number(result[4]) * 1e6
    return values


def _number(text: str) -> float:
    return number_of(text.replace(",", "")) or 0.0


reader = CargoBench()
