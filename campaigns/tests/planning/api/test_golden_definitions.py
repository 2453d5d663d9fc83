"""Definitions, valid and wrong, with what is stored of them or their errors by path.

`golden/definitions.yaml` is what users send, and what they are told. A change there is a change for them: of what is
accepted, of a path, or of a sentence.
"""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
import yaml

from campaigns.kinds.registry import all_kinds
from campaigns.kit.errors import Invalid
from campaigns.models import Setting, Target
from campaigns.planning import drafts, storage
from campaigns.planning.checking import check

pytestmark = pytest.mark.django_db

GOLDEN = Path(__file__).parent / "golden" / "definitions.yaml"
CASES: list[dict[str, Any]] = yaml.safe_load(GOLDEN.read_text())
SERVERS = {
    "web": ("http", 9),
    "other web": ("http", 19),
    "katello": ("katello", 29),
    "second katello": ("katello", 39),
}
SETTINGS = {
    "katello": {"puma_workers": 16, "puma_threads": 64},
    "second katello": {"puma_workers": 8},
}
"""The largest value of each setting of a server."""


@pytest.fixture(autouse=True)
def servers(settings):
    """Servers that nobody asks: a definition is checked without them."""
    settings.ALLOWED_ADDRESSES = " ".join(f"127.0.0.1:{port}" for _, port in SERVERS.values())
    for name, (family, port) in SERVERS.items():
        target = Target.objects.create(
            name=name,
            family=family,
            base_url=f"http://127.0.0.1:{port}",
            address=f"127.0.0.1:{port}",
        )
        for setting, most in SETTINGS.get(name, {}).items():
            Setting.objects.create(
                target=target, name=setting, minimum=1, maximum=most, apply={}, read_back={}
            )


def outcome_of(sent: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a definition is stored as, or its errors."""
    try:
        definition = check(sent)
    except Invalid as invalid:
        return {"errors": invalid.errors}
    stored = storage.definition_of(drafts.create(definition, None))
    return {"stored": named(stored)}


def named(stored: Mapping[str, Any]) -> dict[str, Any]:
    """Return a definition with names of targets for their keys, and the parameters that differ from the kind's."""
    names = dict(Target.objects.values_list("pk", "name"))
    several = {"targets": [names[key] for key in stored["targets"]]} if "targets" in stored else {}
    first = stored["target"]
    fields = all_kinds()[stored["kind"]].parameters.base_fields
    parameters = {
        name: value
        for name, value in stored["parameters"].items()
        if name not in fields or value != fields[name].initial
    }
    return {
        **stored,
        "target": names[first] if first else None,
        "parameters": parameters,
        **several,
    }


@pytest.mark.parametrize("case", CASES, ids=[case["name"] for case in CASES])
def test_what_is_stored_of_a_definition_or_what_is_wrong_with_it(case):
    assert outcome_of(case["sent"]) == {
        name: value for name, value in case.items() if name not in ("name", "sent")
    }


@pytest.mark.parametrize(
    "case", [case for case in CASES if "stored" in case], ids=lambda case: case["name"]
)
def test_what_is_stored_can_be_sent_again(case):
    assert outcome_of(case["stored"]) == {"stored": case["stored"]}


@pytest.mark.parametrize(
    "case", [case for case in CASES if "errors" in case], ids=lambda case: case["name"]
)
def test_rest_gives_the_same_errors_at_the_same_paths(api, case):
    status, problem = api.post("campaigns", case["sent"])

    told: dict[str, list[str]] = {}
    for error in problem["errors"]:
        told.setdefault(error["field"], []).append(error["message"])
    assert status == 400
    assert told == case["errors"]
