"""Kind `sync`: a Pulp 3 syncs repositories from a feed, as a client of its REST API asks for it."""

from campaigns.drivers.sync.steps import Sync

__all__ = ["driver"]

driver = Sync()
