"""Populations over REST: no certificate, no key is told."""

import pytest

from campaigns.models import Population, Target

pytestmark = pytest.mark.django_db
ASKED = {"hosts": 4000, "organization": "ACME", "activation_keys": "bench-ak"}


@pytest.fixture
def path(target):
    Target.objects.filter(pk=target.pk).update(
        family="katello", base_url="https://katello.example", username="admin"
    )
    return f"targets/{target.pk}/populations"


def test_a_population_is_made_listed_and_deleted(api, path):
    status, made = api.post(path, ASKED)

    assert status == 202
    assert made | {"url": "", "created_at": "", "number": 0} == {
        "url": "", "number": 0, "state": "making", "hosts": 4000, "registered": 0, "problem": "", "note": "",
        "organization": "ACME", "activation_keys": "bench-ak", "days": 30, "created_at": "",
    }  # fmt: skip
    one = f"{path}/{made['number']}"
    assert api.get(path)[1]["results"] == [made] == [api.get(one)[1]]
    status, deleted = api.delete(one)
    assert (status, deleted["state"]) == (202, "deleting")
    assert api.delete(f"{one}?forget=true")[0] == 409
    Population.objects.update(state="failed")
    assert api.get(one)[1]["note"].endswith("Mend what it names, and go on; or delete it.")
    status, again = api.post(f"{one}/again", {})
    assert (status, again["state"]) == (202, "making")
    assert api.post(f"{one}/again", {})[0] == 409
    Population.objects.update(state="deleting", problem="The server is away.")
    assert api.delete(f"{one}?forget=true")[0] == 200
    assert api.get(one)[0] == 404


@pytest.mark.parametrize(
    ("changes", "field"),
    [
        ({"hosts": 0}, "hosts"),
        ({"hosts": 30_000}, "hosts"),
        ({"activation_keys": ""}, "activation_keys"),
        ({"days": 0}, "days"),
        ({"organization": "A B"}, "organization"),
    ],
)
def test_bad_input_is_told_at_its_field(api, path, changes, field):
    status, body = api.post(path, ASKED | changes)

    assert status == 400
    assert {error["field"] for error in body["errors"]} == {field}


def test_a_server_that_is_no_katello_is_refused(api, target):
    status, body = api.post(f"targets/{target.pk}/populations", ASKED)

    assert status == 400
    assert "Only a Katello has populations" in body["errors"][0]["message"]
