"""Simulate campaigns of which the truth is known, and count how often perfdash's statistics are right."""

import argparse
import os
import sys
from time import monotonic

from bench.publishing import add_write, publish, written_by

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # read when numpy is loaded: processor time is that of one

QUICK = 0.05


def main() -> int:
    """Run it and print the page, or write it."""
    from bench.selfcheck.plan import run_all, tasks
    from bench.selfcheck.report import markdown
    from bench.selfcheck.speed import timings

    options = arguments()
    scale = QUICK if options.quick else options.scale
    begun = monotonic()
    times = timings()
    figures = run_all(tasks(scale), options.seed, options.jobs, progress)
    page = markdown(
        figures,
        times,
        seed=options.seed,
        head=written_by("statistics", *(["--quick"] if options.quick else [])),
        seconds=monotonic() - begun,
    )
    publish(page, options.write)
    if options.write:
        print(f"{len(figures)} figures, {off(figures)} off.")
    return 0


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench statistics", description=__doc__)
    parser.add_argument("--quick", action="store_true", help="in a minute, with wide intervals")
    parser.add_argument("--scale", type=float, default=1.0, help="times the published repeats")
    parser.add_argument("--seed", type=int, default=1, help="equal seeds give equal figures")
    parser.add_argument("--jobs", type=int, default=min(2, os.cpu_count() or 1), help="processes")
    add_write(parser, "statistics")
    return parser.parse_args()


def progress(done: int, total: int) -> None:
    if sys.stderr.isatty():
        print(f"\r{done} of {total} parts", end="\n" if done == total else "", file=sys.stderr)


def off(figures: list) -> int:
    return sum(bool(figure.off) for figure in figures)


if __name__ == "__main__":
    sys.exit(main())
