"""Facts about the generator host that a reader needs to judge, or repeat, a run."""

import os
import platform
from collections.abc import Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

import psutil
from django.conf import settings

PACKAGES = ("aiohttp", "uvloop", "requests", "urllib3", "numpy", "scipy")


@cache
def generator_facts() -> Mapping[str, str]:
    """Processor, memory, kernel, interpreter and libraries of this host, by name."""
    facts = {
        "host": settings.GENERATOR_HOST,
        "processor": _processor(),
        "cores": str(len(os.sched_getaffinity(0))),
        "memory": f"{psutil.virtual_memory().total / 2**30:.1f} GiB",
        "kernel": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
    }
    for package in PACKAGES:
        try:
            facts[package] = version(package)
        except PackageNotFoundError:
            continue
    return facts


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.machine()
