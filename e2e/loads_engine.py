"""The plain load program, which takes as long to prepare itself as it is told. Only for tests."""

import time

from campaigns.engines import lifeline
from campaigns.engines.load.__main__ import main


def slowly(keeper):
    time.sleep(keeper.request.get("prepare_seconds", 0))
    return main(keeper)


if __name__ == "__main__":
    lifeline.run(slowly)
