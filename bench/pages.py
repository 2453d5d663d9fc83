"""Request the pages of large campaigns repeatedly, and report their cost in server and browser."""

import argparse
import logging
import os
import platform
import sys
from pathlib import Path
from time import process_time
from typing import Any

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # read when numpy is loaded
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")
os.environ.setdefault("ALLOWED_HOSTS", "127.0.0.1")

GOAL_SECONDS = 0.15


def main() -> int:
    """Build the campaigns, ask, and print the page, or write it."""
    import django
    from django.core.management import call_command

    options = arguments()
    django.setup()
    logging.disable(logging.WARNING)
    call_command("migrate", verbosity=0)
    from bench.large.report import markdown

    page = markdown(*measure(options), machine=f"{platform.machine()}, {os.cpu_count()} processors")
    if options.write:
        options.write.write_text(page, encoding="utf-8")
        print(f"{options.write} is written.")
    else:
        print(page)
    return 0


def measure(options: argparse.Namespace) -> tuple[Any, ...]:
    """Give visits, drawings, analyses (name, processor seconds) and memory."""
    from bench.large.browser import drawings
    from bench.large.campaigns import build, published
    from bench.large.histograms import ten_million
    from bench.large.visits import pages_of, signed_in, visit

    client = signed_in()
    sizes: dict[str, Any] = {"S1": published, "1,000 runs": lambda: build(200, 5), "10,000 runs": lambda: build(200, 50)}  # fmt: skip
    if options.cells:
        sizes["1,000 cells"] = lambda: build(1000, 3)
    visits, analyses, last = [], [], 0
    for size, make in sizes.items():
        tell(f"building {size}")
        last, seconds = make()
        analyses.append((size, seconds))
        for what, address in pages_of(last, size):
            tell(what)
            goal = GOAL_SECONDS if what.startswith("result page, 10,000 runs") else None
            visits.append(visit(client, what, address, options.repeats, goal))
    for what, address in (("list of campaigns", "/campaigns/"), ("home", "/")):
        visits.append(visit(client, what, address, options.repeats))
    drawn = [] if options.no_browser else drawings(client, last)
    tell("histograms")
    return visits, drawn, analyses, ten_million()


def tell(what: str) -> None:
    if sys.stderr.isatty():
        print(f"{what} ({process_time():.0f} s)", file=sys.stderr)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench pages", description=__doc__)
    parser.add_argument("--repeats", type=int, default=15, help="requests of each page")
    parser.add_argument("--cells", action="store_true", help="1,000 cells, too")
    parser.add_argument("--no-browser", action="store_true", help="leave Chromium out")
    parser.add_argument("--write", type=Path, metavar="FILE", help="write the page there")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
