"""Kind `registration`: virtual hosts register at a Katello, or at a Candlepin, all at once or one after the other."""

from campaigns.kinds.registration.kind import Registration

__all__ = ["driver"]

driver = Registration()
