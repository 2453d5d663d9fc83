"""Time charts on the screen of Chromium, and the pages and charts of 10,000 and 20,000 runs on the server."""

import argparse
import os
import platform
import sys
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory

from bench.publishing import add_write, publish

for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(name, "1")  # read when numpy is loaded
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")
os.environ.setdefault("ALLOWED_HOSTS", "127.0.0.1")


def main() -> int:
    """Build the campaigns, open them, and print the page, or write it."""
    options = arguments()
    with TemporaryDirectory() as static:
        os.environ.update(STATIC_COLLECTED="True", STATIC_ROOT=static)  # as a server has them
        page = measured(options, Path(static))
    publish(page, options.write)
    return 0


def measured(options: argparse.Namespace, static: Path) -> str:
    """Return the page."""
    import logging

    import django
    from django.core.management import call_command

    django.setup()
    logging.disable(logging.WARNING)
    from bench.large import charts
    from bench.large.campaigns import build, published
    from bench.large.visits import signed_in
    from perfdash.static_files import collect

    call_command("migrate", verbosity=0)
    collect(static)
    sizes: dict[str, Callable[[], tuple[int, float]]] = {
        "18 runs": published,
        "1,000 runs": lambda: build(200, 5),
    }
    if not options.small:
        sizes["10,000 runs"] = lambda: build(200, 50)
        sizes["20,000 runs"] = lambda: build(200, 100)
        sizes["10,000 runs of 500 cells"] = lambda: build(500, 20)
    campaigns = {}
    for size, make in sizes.items():
        if sys.stderr.isatty():
            print(f"building {size}", file=sys.stderr)
        campaigns[size] = make()[0]
    client = signed_in()
    visits = [] if options.no_server else charts.visits(client, campaigns, options.repeats)
    opened = [] if options.no_browser else charts.opened(client, campaigns, options.repeats)
    return charts.markdown(
        visits, opened, machine=f"{platform.machine()}, {os.cpu_count()} processors"
    )


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench charts", description=__doc__)
    parser.add_argument("--repeats", type=int, default=9, help="times that each page is opened")
    parser.add_argument("--small", action="store_true", help="leave out 10,000 runs and more")
    parser.add_argument("--no-browser", action="store_true", help="leave Chromium out")
    parser.add_argument("--no-server", action="store_true", help="Chromium alone")
    add_write(parser, "charts")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
