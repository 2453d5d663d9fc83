"""A process that lets hosts fetch, as a worker does: `python -m … BASE_URL REPOSITORY DIRECTORY`. It is there to be killed."""

import sys
import threading
import time
from pathlib import Path

from campaigns.kinds.base import Context, Target
from campaigns.kit.network import parse_rules


def main(base_url: str, repository: str, directory: str) -> None:
    """Fetch until somebody ends the process."""
    import django

    django.setup()
    from campaigns.kinds.content_delivery.driver import driver
    from campaigns.tests.kinds.content_delivery.parameters import parameters_of

    context = Context(
        cancelled=threading.Event(),
        lease_seconds=lambda: 60.0,
        progress=lambda values: None,
        say=lambda line: None,
        clock=time.perf_counter_ns,
        directory=Path(directory),
        rules=parse_rules("127.0.0.1:*"),
        deadline_seconds=60.0,
    )
    target = Target("sandbox", "http", base_url)
    parameters = parameters_of(repository=repository, hosts=20, packages=20)
    driver.reset(target, parameters, context)
    driver.measure(target, parameters, context)


if __name__ == "__main__":
    main(*sys.argv[1:])
