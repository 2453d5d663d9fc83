"""Whether a process may open as many connections as its hosts need. Pure."""

from math import ceil

DESCRIPTORS_BESIDE = 128
"""What a process has open beside its connections."""


class TooManyHosts(Exception):
    """The machine does not let so many hosts connect; the message says what to do."""


def lacking(hosts: int, processes: int, descriptors: int) -> str:
    """Say what is lacking, and what to do; empty where nothing is.

    descriptors: how many a process may open (`kernel.most_open_files`).
    """
    needed = ceil(hosts / processes) + DESCRIPTORS_BESIDE
    if needed <= descriptors:
        return ""
    enough = (
        ceil(hosts / (descriptors - DESCRIPTORS_BESIDE)) if descriptors > DESCRIPTORS_BESIDE else 0
    )
    more = f"use {enough:,} processes or more, " if enough else ""
    word = "process" if processes == 1 else "processes"
    return (
        f"{hosts:,} hosts in {processes} {word} need {needed:,} file descriptors each, and a process may "
        f"have {descriptors:,} here: {more}raise the hard limit (ulimit -Hn, LimitNOFILE=, --ulimit "
        "nofile), or take fewer hosts."
    )
