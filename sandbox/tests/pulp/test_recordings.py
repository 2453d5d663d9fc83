"""What a real Pulp answered, said to the simulator again: its answers have the same form."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from sandbox.pulp.process import SimulatedPulp
from sandbox.tests.pulp.client import Document, Pulp

RECORDINGS = Path(__file__).parents[2] / "pulp" / "recordings"
UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}")
INSTANT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d+Z")
# What differs from Pulp to Pulp. Of what it publishes the simulator has no manifest, so no true digest.
OTHERWISE = {
    "sha256", "file", "size", "logging_cid", "traceback", "base_url", "next", "url", "versions",
    "online_workers", "online_api_apps", "online_content_apps", "storage", "content_origin",
}  # fmt: skip
ONLY_PULPS = {"md5", "sha1", "sha224", "sha384", "sha512"}  # of artifacts


def exchanges(case: str) -> list[Document]:
    results: list[Document] = json.loads((RECORDINGS / f"{case}.json").read_text())["exchanges"]
    return results


class Replay:
    """Says the requests of a recording, with our ids in the place of the recorded ones."""

    def __init__(self, pulp: Pulp) -> None:
        self.pulp = pulp
        self.ours: dict[str, str] = {}

    def said(self, value: Any) -> Any:
        text = json.dumps(value).replace("http://feed", self.pulp.feed.base_url)
        return json.loads(UUID.sub(lambda found: self.ours.get(found[0], found[0]), text))

    def answer(self, exchange: Document) -> Any:
        request = self.said(exchange["request"])
        if "states" in exchange:
            return self.pulp.done(request["path"])
        answer = self.pulp.ask(request["method"], request["path"], request.get("body"))
        assert answer.status_code == exchange["response"]["status"], answer.text
        if exchange["response"].get("body") in (None, ""):
            return None
        return answer.json()

    def learn(self, recorded: Any, ours: Any) -> None:
        if isinstance(recorded, dict) and isinstance(ours, dict):
            for name in recorded.keys() & ours.keys():
                self.learn(recorded[name], ours[name])
        elif isinstance(recorded, list) and isinstance(ours, list):
            for each, mine in zip(recorded, ours, strict=False):
                self.learn(each, mine)
        elif isinstance(recorded, str) and isinstance(ours, str):
            self.ours |= zip(UUID.findall(recorded), UUID.findall(ours), strict=False)


def form(value: Any) -> Any:
    """A value without what differs from Pulp to Pulp."""
    if isinstance(value, dict):
        if all("." in name for name in value):
            return "how many rows of which tables were deleted, or nothing"
        return {
            name: name if name in OTHERWISE else form(inner)
            for name, inner in value.items()
            if name not in ONLY_PULPS
        }
    if isinstance(value, list):
        forms = [form(inner) for inner in value]
        reports = all(isinstance(each, dict) and "code" in each for each in forms)
        return sorted(forms, key=lambda each: str(each["code"])) if reports else forms
    if isinstance(value, str):
        return INSTANT.sub("INSTANT", UUID.sub("UUID", value))
    return value


def test_a_first_sync_has_the_form_of_the_recorded_one(
    pulp: Pulp, simulator: SimulatedPulp
) -> None:
    replay = Replay(pulp)

    for exchange in exchanges("first-sync"):
        ours = replay.answer(exchange)

        recorded = exchange["response"].get("body")
        if ours is not None:
            assert form(ours) == form(recorded), exchange["request"]
            replay.learn(recorded, ours)


def test_the_status_has_the_form_of_the_recorded_one(pulp: Pulp) -> None:
    recorded = exchanges("status")[0]["response"]["body"]

    ours = pulp.get("status/")

    assert form(ours) == form(recorded)
    for name in ("versions", "online_workers", "online_api_apps", "online_content_apps"):
        assert ours[name][0].keys() == recorded[name][0].keys()
    assert ours["storage"].keys() == recorded["storage"].keys()


@pytest.mark.parametrize(
    "case",
    [
        "first-sync",
        "unchanged-resync",
        "artifacts-were-there",
        "on-demand",
        "cancel",
        "tasks-purge",
    ],
)
def test_each_recorded_progress_report_is_one_that_the_simulator_makes(case: str) -> None:
    """The codes are those of the source: a new one of Pulp's is noticed here."""
    sources = "".join(path.read_text() for path in (RECORDINGS.parent).glob("*.py"))

    for exchange in exchanges(case):
        body = exchange["response"].get("body") or {}
        for report in body.get("progress_reports", []):
            assert f'"{report["code"]}"' in sources
            assert f'"{report["message"]}"' in sources
