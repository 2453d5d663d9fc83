"""Lets a perfdash analyse slowly what was submitted; only `script/bench burst --analysis-seconds` has it on its path.

It computes for so long where the findings are computed, before they are.
"""

import os
import sys
from time import process_time

SECONDS = float(os.environ["BENCH_ANALYSIS_SECONDS"])


def slow(task=None, **kwargs):
    """Have this process compute for longer, from its first analysis on."""
    if task.name != "campaigns.analyse":
        return
    task_prerun.disconnect(slow)
    from campaigns.findings import compute

    computes = compute.analyse

    def analyse(campaign):
        if campaign.launched_at is not None and campaign.counted_from is None:
            end = process_time() + SECONDS
            while process_time() < end:
                sum(range(1000))
        computes(campaign)

    compute.analyse = analyse


# Workers are forked from the fork server, and inherit this.
if {"celery", "perfdash.local.forkserver"} & set(sys.orig_argv):
    from celery.signals import task_prerun

    task_prerun.connect(slow, weak=False)
