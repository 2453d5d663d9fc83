"""Load runs, compute the statistics, and store findings with the hash of their data.

Analyses have a queue of their own, between two runs; pages only read the stored findings.
"""

from campaigns.findings.compute.claiming import claimed
from campaigns.findings.compute.findings import analyse

__all__ = ["analyse", "claimed"]
