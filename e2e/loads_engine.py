"""The plain load program, which takes as long to prepare itself as it is told. Only for tests."""

import time

from campaigns.kinds.load.__main__ import main
from campaigns.kinds.programs import lifeline


def slowly(keeper):
    time.sleep(keeper.request.get("prepare_seconds", 0))
    return main(keeper)


if __name__ == "__main__":
    lifeline.run(slowly)
