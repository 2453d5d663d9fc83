"""Write bundles of campaigns, or of a conclusion with its campaigns, to temporary files."""

import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from dataclasses import dataclass
from typing import IO

from campaigns.kit.mappings import JsonObject
from campaigns.models import Campaign, Conclusion, Evidence
from campaigns.reviews.bundles.rows import text_of
from campaigns.reviews.bundles.writing import write_bundle

HEADER = "Perfdash-Seal"
"""The response header with the SHA-256 (hex) of the manifest."""
CONCLUSION = "conclusion.json"


@dataclass(frozen=True, slots=True)
class Ready:
    """A bundle in a temporary file, which is deleted when it is closed."""

    file: IO[bytes]
    seal: str


def bundle_of(campaigns: Sequence[Campaign], more: Mapping[str, str] | None = None) -> Ready:
    """Write a bundle to the disk, not into memory. Raise NotReady."""
    with ExitStack() as until_written:
        file = until_written.enter_context(tempfile.TemporaryFile())
        written = write_bundle(file, campaigns, more)
        file.seek(0)
        until_written.pop_all()
    return Ready(file, written.seal)


def bundle_of_conclusion(conclusion: Conclusion, reports: Mapping[str, str]) -> Ready:
    """Write the campaigns of a conclusion, its text and its reports. Raise NotReady."""
    evidence = list(conclusion.evidence.select_related("campaign"))
    campaigns = list({each.campaign_id: each.campaign for each in evidence}.values())
    value = text_of(_conclusion(conclusion, evidence)) + "\n"
    return bundle_of(campaigns, {CONCLUSION: value, **reports})


def _conclusion(conclusion: Conclusion, evidence: Sequence[Evidence]) -> JsonObject:
    decisions = conclusion.decisions.select_related("user")
    return {
        "claim": conclusion.claim,
        "recommendation": conclusion.recommendation,
        "limits": conclusion.limits,
        "author": conclusion.author.get_username(),
        "state": conclusion.state,
        "revision": conclusion.revision,
        "evidence": [
            {
                "campaign": each.campaign_id,
                "contrast": each.contrast,
                "finding": each.finding,
                "view": each.view,
                "data_hash": each.data_hash,
                "versions": each.snapshot.get("versions", {}),
            }
            for each in evidence
        ],
        "decisions": [
            {
                "by": each.user.get_username(),
                "word": each.word,
                "reason": each.reason,
                "revision": each.revision,
                "data_hash": each.data_hash,
                "at": each.at,
            }
            for each in decisions
        ],
    }
