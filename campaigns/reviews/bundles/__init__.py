"""Write campaigns as self-contained zip files, and verify that their numbers follow from their data.

`write_bundle` writes a bundle; `verify` recomputes every number in it offline, and lists the differences.
"""

from campaigns.reviews.bundles.archive import Damaged
from campaigns.reviews.bundles.manifest import UnknownVersion
from campaigns.reviews.bundles.verifying import Report, verify
from campaigns.reviews.bundles.writing import NotReady, Written, write_bundle

__all__ = ["Damaged", "NotReady", "Report", "UnknownVersion", "Written", "verify", "write_bundle"]
