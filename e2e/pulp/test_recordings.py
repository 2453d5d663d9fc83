"""The recordings are whole, and tell nothing of the machine that they were made on."""

import json
import re

import pytest

from e2e.pulp.cases import CASES
from e2e.pulp.record import OUT

COOKIE = re.compile(r"(?:sessionid|csrftoken)=(?!\[secret\])")


def test_each_case_is_recorded_and_nothing_else():
    assert {path.stem for path in OUT.glob("*.json")} == set(CASES)


@pytest.mark.parametrize("name", sorted(CASES))
def test_a_recording_holds_what_was_asked_and_answered_and_no_secret(name):
    text = (OUT / f"{name}.json").read_text()

    exchanges = json.loads(text)["exchanges"]
    assert all(exchange["response"]["status"] >= 200 for exchange in exchanges)
    assert {"method", "path"} <= set.intersection(*(set(each["request"]) for each in exchanges))
    assert "127.0.0.1:" not in text.replace("127.0.0.1:9", "")
    assert not COOKIE.search(text)
    assert not re.search(r"/(tmp|root|home)/", text)
