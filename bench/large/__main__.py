"""Make one large campaign in the database of the environment, and print its number."""

import argparse
import os

import django


def main() -> None:
    """Build it."""
    parser = argparse.ArgumentParser(prog="bench.large", description=__doc__)
    parser.add_argument("--cells", type=int, default=200)
    parser.add_argument("--repetitions", type=int, default=50)
    parser.add_argument("--plain", action="store_true", help="without facts of the environment")
    options = parser.parse_args()
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "perfdash.settings")
    django.setup()
    from bench.large.campaigns import build

    print(build(options.cells, options.repetitions, facts=not options.plain)[0])


if __name__ == "__main__":
    main()
