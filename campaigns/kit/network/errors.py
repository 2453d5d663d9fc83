"""What can be wrong with an address. Pure.

NetworkError    what a person can act on
├─ BadRule      the text of the rules cannot be read
├─ BadUrl       the URL cannot be one of a target
└─ Refused      the rules exclude the address
"""


class NetworkError(ValueError):
    """An address that cannot be used; the message says which and what to do."""


class BadRule(NetworkError):
    """A rule cannot be read."""


class BadUrl(NetworkError):
    """The URL cannot be one of a target."""


class Refused(NetworkError):
    """The rules exclude the address."""
