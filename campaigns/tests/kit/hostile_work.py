"""What a process of its own may be asked to do at worst. Imported by the child."""

import os
import signal


def echoes(file, arguments):
    return repr((file.read(), arguments)).encode()


def takes_memory(file, arguments):
    return b"x" * (arguments * 1024 * 1024)


def goes_on_for_ever(file, arguments):
    while True:
        pass


def is_killed(file, arguments):
    os.kill(os.getpid(), signal.SIGSEGV)
    return b""


def errs(file, arguments):
    return b"%d" % (1 // arguments)


def tells_its_environment(file, arguments):
    return repr(sorted(os.environ)).encode()
