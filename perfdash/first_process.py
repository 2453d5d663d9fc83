"""Be the first process of a container without an init: `python -m perfdash.first_process COMMAND ARGUMENT ...`.

It starts the command, passes signals on to it, adopts processes that lost their parent, and ends with the command. Standard library
only.
"""

import os
import signal
import sys
from collections.abc import Sequence

PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGQUIT, signal.SIGHUP)


def main(words: Sequence[str]) -> int:
    """Return the exit code of the command, as a shell does."""
    # The kernel drops a signal to the first process that has no handler yet; one that is blocked waits for it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
    command = os.posix_spawnp(words[0], list(words), os.environ, setsigmask=before)
    for each in PASSED_ON:
        signal.signal(each, lambda number, _: os.kill(command, number))
    signal.pthread_sigmask(signal.SIG_SETMASK, before)
    while True:
        process, status = os.wait()
        if process == command:
            code = os.waitstatus_to_exitcode(status)
            return code if code >= 0 else 128 - code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
