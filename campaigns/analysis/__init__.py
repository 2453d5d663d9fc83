"""Loads runs, calls the statistics, stores findings with the hash of what they rest on.

Runs on the control queue between two runs; pages only read what is stored here.
"""

from campaigns.analysis.findings import analyse

__all__ = ["analyse"]
