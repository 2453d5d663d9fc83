"""Loads runs, calls the statistics, stores findings with the hash of what they rest on.

Runs on a queue of its own, between two runs; pages only read what is stored here.
"""

from campaigns.findings.compute.claiming import claimed
from campaigns.findings.compute.findings import analyse

__all__ = ["analyse", "claimed"]
