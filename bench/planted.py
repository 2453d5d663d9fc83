"""Plant faults in the product, one at a time, and report which quick test finds each, or that none does."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from random import Random

from bench.mistakes.faults import FAULTS, Fault
from bench.mistakes.guards import GUARDS, mutants
from bench.mistakes.trials import Copy, NotThere, TestsBroken, copy_of

WHOLE = "all quick tests"


@dataclass(frozen=True, slots=True)
class Found:
    """What became of a fault. test: that failed; tried: the paths that ran, in order; error: why it was not planted."""

    fault: Fault
    test: str = ""
    tried: tuple[str, ...] = ()
    seconds: float = 0.0
    error: str = ""

    @property
    def text(self) -> str:
        if self.error:
            return f"ERROR: {self.error}"
        if self.test:
            return self.test
        return f"survived: {', '.join(self.tried)}"

    @property
    def is_bad(self) -> bool:
        return bool(self.error) or not self.test


def main() -> int:
    """Plant them, and print the table. Exit code 1: one survived that is not known to, or could not be planted."""
    options = arguments()
    chosen = list(enumerate(FAULTS, 1))
    if options.only:
        chosen = [each for each in chosen if {str(each[0]), each[1].area} & {*options.only}]
    if options.guards:
        made = [fault for area in options.guards for fault in mutants(area)]
        numbers = Random(options.seed).sample(range(len(made)), min(options.most, len(made)))
        chosen = [(number + 1, made[number]) for number in sorted(numbers)]
    results: dict[int, Found] = {}
    with copy_of(options.ref) as copy:
        for number, fault in chosen:
            results[number] = found = find(copy, fault, whole=options.whole)
            write(results, options)  # what is known, should it be interrupted
            print(f"{number:2} {fault.area}: {found.text}", file=sys.stderr, flush=True)
        broken = failing_anyway(copy, results.values())
    for number, found in results.items():
        if found.test in broken:
            results[number] = replace(found, error=f"without the fault, {found.test} fails, too")
    print(write(results, options))
    return int(any(found.is_bad for found in results.values()))


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench planted", description=__doc__)
    parser.add_argument("--ref", default="HEAD", metavar="COMMIT", help="where they are planted")
    parser.add_argument("--only", nargs="+", metavar="FAULT", help="numbers of the table, or areas")
    parser.add_argument(
        "--guards",
        nargs="+",
        choices=GUARDS,
        metavar="AREA",
        help=f"mutants of the guards of an area in place of the faults: {', '.join(GUARDS)}",
    )
    parser.add_argument("--most", type=int, default=30, help="so many mutants, by chance")
    parser.add_argument("--seed", type=int, default=1, help="which ones")
    parser.add_argument(
        "--whole",
        action="store_true",
        help="run all quick tests where those of its room do not find a fault; takes long",
    )
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the table there, too")
    return parser.parse_args()


def write(results: dict[int, Found], options: argparse.Namespace) -> str:
    """Return the table, and write it where that was asked for."""
    table = "\n".join(markdown(results, options.ref))
    if options.write:
        options.write.write_text(f"{table}\n", encoding="utf-8")
    return table


def find(copy: Copy, fault: Fault, *, whole: bool) -> Found:
    """Plant a fault, and run the tests that should find it, until one does."""
    result = Found(fault)
    try:
        with copy.planted(fault):
            stages = [[path] for path in copy.existing(fault.paths)] + [[]] * whole
            for paths in stages:
                failed, seconds = copy.test(paths)
                result = replace(
                    result,
                    test=failed[0] if failed else "",
                    tried=(*result.tried, *(paths or [WHOLE])),
                    seconds=result.seconds + seconds,
                )
                if failed:
                    break
    except (NotThere, TestsBroken) as error:
        return replace(result, error=str(error))
    return result


def failing_anyway(copy: Copy, results: Iterable[Found]) -> set[str]:
    """Return which of the tests that found a fault fail without it, too."""
    tests = sorted({found.test for found in results if found.test})
    return set(copy.test(tests, to_the_end=True).failed) if tests else set()


def markdown(results: dict[int, Found], ref: str) -> Iterator[str]:
    """Yield the lines of the table."""
    caught = sum(bool(found.test) and not found.error for found in results.values())
    yield f"{caught} of {len(results)} faults are found by a quick test at {ref}."
    yield ""
    yield "| | where | what it breaks | found by | seconds |"
    yield "|---|---|---|---|---|"
    for number, found in results.items():
        fault = found.fault
        yield (
            f"| {number} | {fault.area} | {fault.breaks} | {found.text.replace('|', '/')} | {found.seconds:.0f} |"
        )


if __name__ == "__main__":
    sys.exit(main())
