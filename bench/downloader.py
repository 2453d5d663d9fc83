"""Download the same files with our engines and with aria2c, curl and wget2 in turn, and report the cost."""

import argparse
import shutil
import sys
from time import monotonic

from bench.downloads.contestants import CONTESTANTS, Contestant, Found, once
from bench.downloads.report import Rounds, found_here, markdown
from bench.downloads.server import Files, Served, serving
from bench.publishing import add_write, publish


def main() -> int:
    """Measure, and print the page, or write it."""
    options = arguments()
    nginx = shutil.which("nginx", path="/usr/sbin:/usr/bin:/usr/local/sbin:/usr/local/bin")
    if not nginx:
        print("nginx is needed; on Debian: apt-get install nginx-light aria2 curl", file=sys.stderr)
        return 1
    missing = found_here(CONTESTANTS)
    contestants = [one for one in CONTESTANTS if one.name not in missing]
    with serving(nginx) as served:
        chosen = {"small": served.small, "large": served.large}
        used = {
            name: (files, measured(files, contestants, served, options.rounds))
            for name, files in chosen.items()
            if options.only in (None, name)
        }
        page = markdown(used, missing, served.file_system)
    publish(page, options.write)
    return 0


def measured(files: Files, contestants: list[Contestant], served: Served, rounds: int) -> Rounds:
    """Let everybody run once a round; the first round does not count."""
    used: list[dict[str, Found]] = []
    for number in range(rounds + 1):
        begin = number % len(contestants)
        order = contestants[begin:] + contestants[:begin]
        used.append({one.name: once(one, files, served.place) for one in order})
        tell(f"{files.title}: round {number} of {rounds}")
    return used[1:]


def tell(what: str) -> None:
    print(f"{monotonic() - BEGUN:5.0f} s  {what}", file=sys.stderr, flush=True)


BEGUN = monotonic()


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="script/bench downloader", description=__doc__)
    parser.add_argument("--rounds", type=int, default=9, help="that count; one more warms up")
    parser.add_argument("--only", choices=["small", "large"], help="one of the two sets of files")
    add_write(parser, "downloader")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
