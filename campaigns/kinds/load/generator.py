"""Run a load program, in one process or as the parent of several. No Django.

A program of a kind calls only `run(lifeline, sequence)`; `sequences` describes sequences, `job` and
`schedule` the request, `recorder` and `merging` the result.
"""

import asyncio
from collections.abc import Callable
from math import ceil

import uvloop

from campaigns.kinds.load.host import Limits
from campaigns.kinds.load.job import Job
from campaigns.kinds.load.part import Part, Work
from campaigns.kinds.load.sequences import Sequence, Sequences
from campaigns.kinds.load.shards import run_shards
from campaigns.kinds.programs.downloading import libraries
from campaigns.kinds.programs.lifeline import Lifeline
from campaigns.kit import kernel
from campaigns.kit.mappings import Json, ProgramResult

MakeWork = Callable[[Part], Work]

OTHER_DESCRIPTORS = 128
"""The descriptors of a process besides its connections."""


def run(lifeline: Lifeline, sequence: Sequence, prepare: Sequence | None = None) -> ProgramResult:
    """Run `sequence` for every virtual host of the request; return the result.

    `prepare` is called for every host before the start, and passes values to the sequence in
    `host.prepared`. Raise BadSchedule, TooManyHosts, BadUrl, Refused or OSError where nothing can begin.
    """
    request = lifeline.request

    def make(part: Part) -> Work:
        limits = Limits(part, request, part.job.pinned())
        return Sequences(part, limits, sequence, prepare)

    return run_work(lifeline, make)


def run_work(
    lifeline: Lifeline,
    make: MakeWork,
    *,
    one_request_a_host: bool = False,
    connections_a_host: int = 1,
) -> ProgramResult:
    """Do the work that `make` returns, in the number of processes of the request.

    one_request_a_host: there are no more hosts than the owner allows requests at a time, since others
    would never have a turn.
    """
    request = lifeline.request
    job = Job.from_request(request, fewer_hosts=one_request_a_host)
    descriptors = kernel.most_open_files() // connections_a_host
    if problem := lacking(len(job.schedule.numbers), job.most_processes, descriptors):
        raise TooManyHosts(problem)
    if request.get("only_describe"):
        lifeline.report("hello", described(job))
        return {"described": True}
    if job.most_processes > 1:
        lifeline.report("hello", described(job))
        return run_shards(lifeline, job)
    if not request.get("is_shard"):
        lifeline.report("hello", described(job))
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(_work(lifeline, job, make))


def described(job: Job) -> Json:
    """Return the levels in force."""
    return {
        "engine": "load",
        "libraries": libraries("uvloop", "httptools"),
        "event_loop": "uvloop",
        "hosts": len(job.schedule.numbers),
        "processes": job.most_processes,
    }


async def _work(lifeline: Lifeline, job: Job, make: MakeWork) -> ProgramResult:
    part = Part(lifeline, job)
    return await part.run(make(part))


class TooManyHosts(Exception):
    """The machine does not allow connections of so many hosts; the message says what to do."""


def lacking(hosts: int, processes: int, descriptors: int) -> str:
    """Return what is lacking, and what to do; empty where nothing is.

    descriptors: how many a process may open (`kernel.most_open_files`).
    """
    needed = ceil(hosts / processes) + OTHER_DESCRIPTORS
    if needed <= descriptors:
        return ""
    enough = (
        ceil(hosts / (descriptors - OTHER_DESCRIPTORS)) if descriptors > OTHER_DESCRIPTORS else 0
    )
    more = f"use {enough:,} processes or more, " if enough else ""
    noun = "process" if processes == 1 else "processes"
    return (
        f"{hosts:,} hosts in {processes} {noun} need {needed:,} file descriptors each, and a process may "
        f"have {descriptors:,} here: {more}raise the hard limit (ulimit -Hn, LimitNOFILE=, --ulimit "
        "nofile), or take fewer hosts."
    )
