"""A campaign as a zip that stands for itself, and the proof that its numbers follow from its data.

`write_bundle` writes one; `verify` recomputes every number of one, offline, and names those that differ.
"""

from campaigns.reviews.bundles.archive import Damaged
from campaigns.reviews.bundles.manifest import UnknownVersion
from campaigns.reviews.bundles.verifying import Report, verify
from campaigns.reviews.bundles.writing import NotReady, Written, write_bundle

__all__ = ["Damaged", "NotReady", "Report", "UnknownVersion", "Written", "verify", "write_bundle"]
