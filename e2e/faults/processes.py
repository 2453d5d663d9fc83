"""Find the processes of a perfdash by what they do, in the tree below its supervisor."""

from contextlib import suppress

import psutil

GONE = (psutil.NoSuchProcess, psutil.ZombieProcess)


def tree(pid):
    """Give a living process and all below it; empty where it is gone."""
    try:
        top = psutil.Process(pid)
        return [process for process in (top, *top.children(recursive=True)) if alive(process)]
    except GONE:
        return []


def alive(process):
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except GONE:
        return False


def words(process):
    try:
        return process.cmdline()
    except GONE:
        return []


def name_of(process):
    """What the kernel calls a process; empty where it is gone."""
    try:
        return process.name()
    except GONE:
        return ""


def parent_of(process):
    """The number of a process's parent; 0 where it is gone."""
    try:
        return process.ppid()
    except GONE:
        return 0


def children_of(process):
    try:
        return [child for child in process.children() if alive(child)]
    except GONE:
        return []


def worker(pid, queue="measure"):
    """The parent of the workers of a queue, which has the name of its service."""
    return [process for process in children_of(psutil.Process(pid)) if name_of(process) == queue]


def worker_child(pid):
    """The process that measures: what the worker has forked and what holds the engine."""
    return [child for parent in worker(pid) for child in children_of(parent)]


LOADED = "campaigns.kinds.programs.loaded"


def engine(pid):
    """Engine programs, started or forked."""
    return [
        process
        for process in tree(pid)
        if any(word.startswith("campaigns.kinds.") for word in words(process))
        and not waits_to_fork(process)
    ]


def programs(pid, module):
    """Engine programs of one module."""
    return [p for p in tree(pid) if module in words(p) and not waits_to_fork(p)]


def loaded(pid):
    """What keeps an engine loaded between runs, and forks it."""
    return [process for process in tree(pid) if waits_to_fork(process)]


def waits_to_fork(process):
    return LOADED in words(process) and name_of(process) not in ("engine", "")


def broker(pid):
    return [p for p in tree(pid) if "valkey-server" in " ".join(words(p)[:1])]


def postmaster(pid):
    return [p for p in tree(pid) if words(p) and words(p)[0].endswith("/postgres")]


def cluster(pid):
    """The database's server with all its processes, the parent first."""
    return [process for parent in postmaster(pid) for process in tree(parent.pid)]


def backends(pid):
    """Processes of PostgreSQL that serve a client."""
    return [p for p in cluster(pid) if "postgres: perfdash perfdash" in " ".join(words(p))]


def beat(pid):
    return [p for p in tree(pid) if {"celery", "beat"} <= set(words(p))]


def web(pid):
    """The web server's parent; what it has started, its supervisor ends with it."""
    return [p for p in tree(pid) if "perfdash.web_server" in words(p) and parent_of(p) == pid]


def web_child(pid):
    return [child for parent in web(pid) for child in children_of(parent)]


def control(pid):
    return worker(pid, "control")


def analysis(pid):
    return worker(pid, "analysis")


def supervisor(pid):
    return [p for p in tree(pid) if p.pid == pid]


def kill(found):
    """End processes at once; one that has just gone is no matter."""
    for process in found:
        with suppress(psutil.NoSuchProcess):
            process.kill()


def marked(mark):
    """Every process of this machine whose search path names `mark`, wherever it hangs."""
    found = []
    for process in psutil.process_iter():
        with suppress(psutil.Error, OSError):
            if mark in process.environ().get("PATH", "").split(":") and alive(process):
                found.append(process)
    return found
