"""Submit results to perfdash, LNT and Conbench in turn, through their web servers, and report the cost.

LNT, and a replica of Conbench's published call (its server is not on PyPI), are installed into environments of their own below
bench/submissions, the first time: it takes a minute. All use the same PostgreSQL, on loopback; all ends with this
program.
"""

import argparse
import os
import platform
import sys
from contextlib import ExitStack
from time import monotonic

from bench.publishing import add_write, publish
from bench.submissions import conbench, lnt
from bench.submissions import perfdash as own
from bench.submissions.measures import Found, Measuring
from bench.submissions.report import markdown
from e2e.conftest import place

PARTS = ("builds", "reads", "singles", "bulk", "growth")
STEPS = (10_000, 100_000, 1_000_000, 10_000_000)


def main() -> int:
    """Measure, and print the page, or write it."""
    options = arguments()
    result = Found()
    with ExitStack() as stack:
        path = stack.enter_context(place())
        perfdash, url = stack.enter_context(own.running(path))
        others = not options.alone
        measuring = Measuring(
            perfdash,
            stack.enter_context(lnt.running(url, path)) if others else None,
            stack.enter_context(conbench.running(url, path)) if others else None,
            result,
            tell,
        )
        for part in options.only:
            match part:
                case "builds":
                    measuring.builds(options.builds)
                    measuring.whole_size()
                    measuring.regressions(options.regressions)
                case "reads":
                    measuring.reads()
                case "singles":
                    measuring.singles(options.seconds, options.rounds)
                case "bulk":
                    measuring.bulk(options.repeats)
    if "growth" in options.only:
        with place() as path, own.running(path) as (perfdash, _):
            growing = Measuring(perfdash, None, None, result, tell)
            growing.grow([step for step in STEPS if step <= options.values])
    page = markdown(result, machine=f"{platform.machine()}, {os.cpu_count()} cores")
    publish(page, options.write)
    return 0


def tell(what: str) -> None:
    print(f"{monotonic() - BEGUN:5.0f} s  {what}", file=sys.stderr, flush=True)


BEGUN = monotonic()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench api", description=__doc__)
    parser.add_argument("--builds", type=int, default=100, help="of 1,000 values, to each server")
    parser.add_argument(
        "--regressions", type=int, default=2, help="builds in which LNT looks for some"
    )
    parser.add_argument("--repeats", type=int, default=5, help="of each request in bulk")
    parser.add_argument("--seconds", type=float, default=5, help="of single runs, each time")
    parser.add_argument("--rounds", type=int, default=2, help="of single runs, each way")
    parser.add_argument(
        "--values", type=int, default=1_000_000, help="stored in the end: up to 10,000,000"
    )
    parser.add_argument("--alone", action="store_true", help="measure perfdash without the others")
    parser.add_argument(
        "--only", nargs="+", choices=PARTS, default=PARTS, help="some parts; reads need builds"
    )
    add_write(parser, "api")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
