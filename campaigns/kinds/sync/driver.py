"""Kind `sync`: a Pulp 3 or a Katello syncs repositories, as a client of its REST API asks for it."""

from campaigns.kinds.sync.kind import Sync

__all__ = ["driver"]

driver = Sync()
