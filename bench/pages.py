"""Request the pages of large and of many campaigns repeatedly, and report their cost in server and browser."""

import argparse
import logging
import os
import platform
import sys
from time import process_time
from typing import Any

from bench.publishing import add_write, publish

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # read when numpy is loaded
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")
os.environ.setdefault("ALLOWED_HOSTS", "127.0.0.1")

GOAL_SECONDS = 0.15
MEDIUM_COPIES = 25
"""So many copies of the campaign of 1,000 runs stand among the newest ones."""
RUNS = 10_000
"""Of the campaign with all values."""


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
    publish(page, options.write)
    return 0


def measure(options: argparse.Namespace) -> tuple[Any, ...]:
    """Give visits, drawings, analyses (name, processor seconds) and memory."""
    from django.db import connection

    from bench.large.browser import drawings
    from bench.large.bulk import copy_campaign, many_values
    from bench.large.campaigns import build, published
    from bench.large.histograms import ten_million
    from bench.large.visits import Goal, lists, pages_of, signed_in, values_of, visit
    from campaigns.models import Campaign

    with connection.cursor() as cursor:  # others on the machine may hold this process up
        cursor.execute("SET idle_in_transaction_session_timeout = 0")
    client = signed_in()
    sizes: dict[str, Any] = {"S1": published, "1,000 runs": lambda: build(200, 5), "10,000 runs": lambda: build(200, 50)}  # fmt: skip
    if options.cells:
        sizes["1,000 cells"] = lambda: build(1000, 3)
    pages, analyses, made = [], [], []
    for size, make in sizes.items():
        tell(f"building {size}")
        campaign, seconds = make()
        made.append(campaign)
        analyses.append((size, seconds))
        for what, address in pages_of(campaign, size):
            tell(what)
            goal = Goal(GOAL_SECONDS) if what == "result page, 10,000 runs" else None
            pages.append(visit(client, what, address, options.repeats, goal))
    drawn = [] if options.no_browser else drawings(client, made[-1])
    visits = {"Pages of one campaign": pages}

    def ask(title: str, addresses: Any) -> None:
        visits[title] = []
        for what, address, goal in addresses:
            tell(what)
            visits[title].append(visit(client, what, address, options.repeats, goal))

    small, medium, *_ = made
    ask(f"{len(made)} campaigns", [row for row in lists((small, medium)) if row[2]])
    if options.campaigns:
        tell("copying campaigns")
        copy_campaign(medium, MEDIUM_COPIES)
        copy_campaign(small, max(1, options.campaigns - MEDIUM_COPIES - len(made)))
        ask(f"{Campaign.objects.count():,} campaigns", lists((small, medium)))
    if options.values:
        tell("storing values")
        large, stored = many_values(RUNS, -(-options.values // RUNS))
        ask(f"{stored:,} values in one campaign", values_of(large))
    tell("histograms")
    return visits, drawn, analyses, ten_million()


def tell(what: str) -> None:
    if sys.stderr.isatty():
        print(f"{what} ({process_time():.0f} s)", file=sys.stderr)


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench pages", description=__doc__)
    parser.add_argument("--repeats", type=int, default=15, help="requests of each page")
    parser.add_argument("--campaigns", type=int, default=10_000, help="in the lists; 0: leave out")
    parser.add_argument("--values", type=int, default=10_000_000, help="stored; 0: leave out")
    parser.add_argument("--cells", action="store_true", help="1,000 cells, too")
    parser.add_argument("--no-browser", action="store_true", help="leave Chromium out")
    add_write(parser, "pages")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
