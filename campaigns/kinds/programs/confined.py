"""Execute another program whose every connection needs a decision. A program itself.

`python -m campaigns.kinds.programs.confined SOCKET PARENT FILE_BYTES MEMORY_BYTES PROGRAM [its arguments]`
installs a filter of system calls (seccomp(2), with SECCOMP_FILTER_FLAG_NEW_LISTENER) that holds `connect`
and `exit_group` until the listener decides, sends the listener over the socket with the descriptor SOCKET,
and executes PROGRAM. It dies with PARENT; no file of it may grow beyond FILE_BYTES, and its address space
is limited to MEMORY_BYTES.

`connections` is the other side. Standard library and neighbours only.
"""

import ctypes
import os
import platform
import resource
import socket
import struct
import sys
from dataclasses import dataclass
from typing import NoReturn

from campaigns.kit import kernel

PR_SET_NO_NEW_PRIVS = 38
PR_SET_SECCOMP_MODE_FILTER = 1
NEW_LISTENER = 8
NOT_ALLOWED = 1  # EPERM
LOAD, JUMP_IF_EQUAL, JUMP_IF_AT_LEAST, RETURN = 0x20, 0x15, 0x35, 0x06  # linux/bpf_common.h
ALLOW, ERROR, KILL, NOTIFY = 0x7FFF0000, 0x00050000, 0x80000000, 0x7FC00000  # linux/seccomp.h
AT_NUMBER, AT_ARCHITECTURE = 0, 4
IO_URING_SETUP = 425
OTHER_NUMBERS = 0x40000000
"""The first number of another calling convention (x32 on x86-64), which no program of ours uses."""


class NotConfined(OSError):
    """The kernel, or this processor, does not let us watch the connections of a program."""


@dataclass(frozen=True, slots=True)
class Calls:
    """The numbers of system calls on one processor."""

    architecture: int
    seccomp: int
    connect: int
    exit_group: int


CALLS = {"x86_64": Calls(0xC000003E, 317, 42, 231), "aarch64": Calls(0xC00000B7, 277, 203, 94)}


class _Program(ctypes.Structure):
    _fields_ = (("length", ctypes.c_ushort), ("instructions", ctypes.c_void_p))


def calls() -> Calls:
    """Return the numbers of this machine. Raise NotConfined where they are not in CALLS."""
    try:
        return CALLS[platform.machine()]
    except KeyError:
        raise NotConfined(f"connections cannot be watched on {platform.machine()}") from None


def watch_connections() -> int:
    """Hold every connection of this process until it is decided on; return the listener's descriptor.

    Raise NotConfined where the kernel does not support that.
    """
    known = calls()
    instructions = b"".join(
        struct.pack("=HBBI", *instruction)
        for instruction in (
            (LOAD, 0, 0, AT_ARCHITECTURE),
            (JUMP_IF_EQUAL, 1, 0, known.architecture),
            (RETURN, 0, 0, KILL),
            (LOAD, 0, 0, AT_NUMBER),
            (JUMP_IF_EQUAL, 4, 0, known.connect),
            (JUMP_IF_EQUAL, 3, 0, known.exit_group),
            (JUMP_IF_EQUAL, 3, 0, IO_URING_SETUP),
            (JUMP_IF_AT_LEAST, 2, 0, OTHER_NUMBERS),
            (RETURN, 0, 0, ALLOW),
            (RETURN, 0, 0, NOTIFY),
            (RETURN, 0, 0, ERROR | NOT_ALLOWED),
        )
    )
    buffer = ctypes.create_string_buffer(instructions, len(instructions))
    program = _Program(len(instructions) // 8, ctypes.addressof(buffer))
    if kernel.LIBC.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0:
        raise NotConfined(ctypes.get_errno(), "prctl(PR_SET_NO_NEW_PRIVS) failed")
    listener: int = kernel.LIBC.syscall(
        known.seccomp, PR_SET_SECCOMP_MODE_FILTER, NEW_LISTENER, ctypes.byref(program)
    )
    if listener < 0:
        raise NotConfined(ctypes.get_errno(), "seccomp() gives no listener (Linux 5.5 has it)")
    return listener


def main() -> NoReturn:
    """Confine this process, and execute the program."""
    descriptor, parent, file_bytes, memory_bytes, *command = sys.argv[1:]
    kernel.die_with_parent(int(parent))
    _lower(resource.RLIMIT_FSIZE, int(file_bytes))
    _lower(resource.RLIMIT_AS, int(memory_bytes))
    with socket.socket(fileno=int(descriptor)) as channel:
        listener = watch_connections()
        socket.send_fds(channel, [b"listener"], [listener])
        os.close(listener)
    os.execv(command[0], command)  # noqa: S606 - the command of the engine


def _lower(limit: int, wanted: int) -> None:
    """Set a limit, unless there is a lower one already."""
    soft, hard = resource.getrlimit(limit)
    there = [one for one in (soft, hard) if one != resource.RLIM_INFINITY]
    resource.setrlimit(limit, (min([wanted, *there]), hard))


if __name__ == "__main__":
    main()
